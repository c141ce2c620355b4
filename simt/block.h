// One block of a launch: which of its threads may run, in which order, and which wait for others.
// It runs none of them itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "simt/fiber.h"
#include "simt/simt.h"

namespace simt {

struct Launch {
  Kernel kernel;
  dim3 grid, block;
  std::size_t dynamic_shared;
  std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
};

struct Thread {
  enum class State : std::uint8_t { fresh, ready, at_barrier, at_warp, done };
  Context context;
  State state;
  WarpOperation operation;
  int line;  // where it waits
  unsigned number;
  uint3 index;
  unsigned mask, from;
  std::uint64_t value;  // that it brings to a warp operation, and then gets there
};

// What a fault handler notes while a kernel is stopped in the middle, where it must not allocate
// memory.
struct RawFault {
  FaultKind kind;
  const void* address = nullptr;
  bool is_write = false;
  const char* assertion = nullptr;
  const char* array = nullptr;  // the type of one that was overrun, and where
  std::int64_t array_index = 0;
  const char* file = nullptr;  // the place in the source, if known
  int line = 0;
  std::optional<unsigned> other;  // the number of the thread that waits elsewhere
};

class Block {
 public:
  // Of this launch from now on, until another is given.
  void serve(const Launch&, const Settings&);
  // Becomes the block of that number, with fresh threads.
  void start(std::uint64_t number);

  // The next thread to run, which is no longer in the queue; null if all are done, or if those that
  // are left wait for each other in vain.
  Thread* next() {
    if (queue_size_ == 0) release_some();
    if (queue_size_ == 0) return nullptr;
    Thread* const next = &threads_[queue_[queue_head_]];
    queue_head_ = (queue_head_ + 1) % max_threads_per_block;
    if (--queue_size_ > 0) fetch_stack(threads_[queue_[queue_head_]]);
    return next;
  }
  bool is_done() const { return done_ == thread_count_; }

  // A running thread waits, is interrupted, or returns.
  std::optional<RawFault> wait_at_barrier(Thread&, int line, bool yes);
  std::optional<RawFault> wait_at_warp(Thread&, unsigned mask, std::uint64_t value, unsigned from,
                                       WarpCall);
  void interrupt(Thread&);
  void finish(Thread& thread) {
    thread.state = Thread::State::done;
    warps_[thread.number / 32].left |= 1u << thread.number % 32;
    ++done_;
  }

  // How many threads passed true at the last barrier.
  int tally() const { return tally_; }
  // A random number from 1 to `most`.
  unsigned draw(unsigned most) { return 1 + static_cast<unsigned>(random_() % most); }

  uint3 index() const { return index_; }
  std::span<const Thread> threads() const { return {threads_.data(), thread_count_}; }
  int barrier_line() const { return barrier_line_; }
  // What was remarkable in this launch; empty if nothing.
  const std::string& remark() const { return remark_; }

  std::vector<std::byte> shared;  // what it holds there, while another block runs

 private:
  // Lanes, as bits.
  struct Warp {
    unsigned present = 0, waiting = 0, left = 0;
  };
  // Where lanes come to stand in the queue when a warp operation lets them go on. A warp that gets
  // ahead of the others as far as it can shows what it should have waited for; one that falls back
  // shows who should have waited for it.
  enum class Released { first, last, anywhere };

  // While the thread before it runs: a switch mostly waits for the lines of another stack.
  static void fetch_stack(const Thread& thread) {
    constexpr int lines = 6, bytes_of_line = 64;
    const auto* const stack = static_cast<const std::byte*>(thread.context);
    for (int i = 0; i < lines; ++i) __builtin_prefetch(stack + bytes_of_line * i);
  }
  void release_some();
  void queue_all();
  void shuffle();
  void queue_first(const Thread&);
  void queue_last(const Thread&);
  void queue_anywhere(const Thread&);
  void release_barrier();
  void release_warp(unsigned number, unsigned mask);
  void release_warps_of_the_departed();
  std::optional<RawFault> meets_another_operation(const Thread&, unsigned waiting) const;

  dim3 grid_, size_;
  std::uint64_t seed_ = 0;
  Order in_order_ = Order::forward;
  Released released_ = Released::first;
  bool whole_warps_ = false;  // shuffled as such, their lanes in order
  std::vector<Thread> threads_;
  std::array<Warp, max_threads_per_block / 32> warps_;
  std::vector<unsigned> order_, warp_order_;
  // A ring of the numbers of threads that may run; each is in it at most once.
  std::array<unsigned, max_threads_per_block> queue_;
  unsigned queue_head_ = 0, queue_size_ = 0;
  unsigned thread_count_ = 0, done_ = 0, at_barrier_ = 0;
  // At the barrier that threads wait at; at the last one.
  int barrier_line_ = 0, said_yes_ = 0, tally_ = 0;
  uint3 index_{};
  std::minstd_rand random_;
  std::string remark_;
};

}  // namespace simt
