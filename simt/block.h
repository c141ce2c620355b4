// One worker's half of the executor: runs the threads of one block at a time, and turns their
// errors into faults. A thread gets a stack of its own at its first barrier.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <cuda_runtime.h>

#include "simt/fiber.h"
#include "simt/simt.h"

namespace simt {

struct Launch {
  Kernel kernel;
  dim3 grid, block;
  std::size_t dynamic_shared;
};

// What a fault handler notes while a kernel is stopped in the middle, where it must not allocate
// memory.
struct RawFault {
  FaultKind kind;
  const void* address = nullptr;
  bool is_write = false;
  const char* assertion = nullptr;
  const char* file = nullptr;  // the place in the source, if known
  int line = 0;
  std::optional<unsigned> other;  // the number of the thread that waits elsewhere
};

class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();

  // The runner of this operating system thread.
  static BlockRunner& mine();

  // Enclose the blocks of a launch, which share its CPU time limit.
  void begin(const Launch& launch, const Settings& settings);
  void end();
  std::optional<Fault> run(std::uint64_t block_index);
  // About a block since `begin`; empty if there is none.
  const std::string& remark() const { return remark_; }

  // Called by simulated threads.
  int barrier(int line, bool yes);
  std::uint64_t warp_exchange(unsigned mask, std::uint64_t value, unsigned from, WarpCall);
  void* dynamic_shared() const { return dynamic_shared_.data(); }
  unsigned lane() const { return current_->number % 32; }
  // Ends the block, from inside one of its threads. Safe in a signal handler that interrupts a
  // kernel.
  [[noreturn]] void abandon(const RawFault& fault);
  // Enclose host functions that must not be interrupted in the middle.
  void leave_kernel() { in_kernel_ = false; }
  void enter_kernel();
  void expire();  // called by a signal handler when the time limit has passed
  bool in_kernel() const { return in_kernel_; }
  FaultKind classify_address(const void* address) const;

 private:
  struct Thread {
    enum class State : std::uint8_t { fresh, ready, at_barrier, at_warp, done };
    Context context;
    State state;
    int line;  // where it waits
    WarpOperation operation;
    unsigned number;
    uint3 index;
    unsigned mask, from;
    std::uint64_t value;  // that it brings to a warp operation, and then gets there
  };
  // Lanes, as bits.
  struct Warp {
    unsigned present = 0, waiting = 0, left = 0;
  };
  static void carry(StackPool::Transfer);

  void poison_shared();
  void put_in_order();
  void queue_all();
  Thread* pick();
  void resume(Thread& next, Context* self);
  void wait();
  void require_one_operation(const Thread& arriving, unsigned waiting);
  void release_warp(unsigned number, unsigned mask);
  bool release_warps_of_the_departed();
  void enter(Thread&);
  void finish(Thread&);
  std::span<Thread> threads() { return {threads_.data(), thread_count_}; }
  Fault describe(const RawFault&) const;
  std::string words(const RawFault&) const;
  std::string describe_stuck(const std::string& block) const;
  std::string describe_departed() const;

  StackPool stacks_;
  std::vector<Thread> threads_;
  std::array<Warp, max_threads_per_block / 32> warps_;
  std::vector<unsigned>
      queue_;  // a ring of thread numbers that may run; each is in it at most once
  std::size_t queue_head_ = 0, queue_size_ = 0;
  unsigned thread_count_ = 0, done_ = 0, at_barrier_ = 0;
  int barrier_line_ = 0, said_yes_ = 0,
      tally_ = 0;  // at the barrier that threads wait at; at the last one
  Thread* current_ = nullptr;
  Context scheduler_ = nullptr;
  std::optional<RawFault> fault_;
  std::string remark_;
  double cpu_seconds_ = 0;
  volatile bool in_kernel_ = false, expired_ = false;
  std::vector<unsigned> order_;
  std::minstd_rand random_;

  Launch launch_{};
  Settings settings_;
  std::span<std::byte> static_shared_, dynamic_shared_;
  std::byte* dynamic_arena_;
  void* timer_;
};

// The runner that is launching on this operating system thread, if any.
extern constinit thread_local BlockRunner* active_runner;

// This thread's copy of the static shared memory of the kernels in the shared library that holds
// `code`; none for null. Throws std::runtime_error if the kernels are not in a shared library of
// their own.
std::span<std::byte> static_shared_of(const void* code);

}  // namespace simt
