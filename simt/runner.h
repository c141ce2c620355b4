// Runs the threads of a launch on this operating system thread, a few of its blocks at a time, and
// turns their errors into faults. A thread gets a stack of its own when it first waits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "simt/access.h"
#include "simt/block.h"
#include "simt/block_order.h"
#include "simt/fiber.h"

namespace simt {

// Blocks of a launch, by the order in which they come.
struct Stretch {
  std::uint64_t first, end;
};

class Runner {
 public:
  Runner();
  ~Runner();

  // The runner of this operating system thread.
  static Runner& mine();

  // Runs some blocks, or stops at the first fault. A remark is about the launch.
  Observation run(const Launch& launch, const Settings& settings, const Stretch& blocks);

  // Called by simulated threads.
  int barrier(int line, bool yes);
  std::uint64_t warp_exchange(unsigned mask, std::uint64_t value, unsigned from, WarpCall);
  void* dynamic_shared() const { return dynamic_shared_.data(); }
  unsigned lane() const { return current_->number % 32; }
  // Where others may see what the thread has done so far, it may have to wait for its next turn.
  void pass() {
    if (--until_interrupt_ == 0) interrupt();
  }
  // The same at an access to memory, in watched code.
  void access() {
    if (settings_.interrupt_accesses) pass();
  }
  // What this access may not do ends the launch.
  void look(const Access& access) {
    if (settings_.access_judge != nullptr) submit(access);
  }
  // Ends the launch, from inside one of its threads. Safe in a signal handler that interrupts a
  // kernel.
  [[noreturn]] void abandon(const RawFault& fault);
  // Enclose host functions that must not be interrupted in the middle.
  void leave_kernel() { in_kernel_ = false; }
  void enter_kernel();
  void expire();  // called by a signal handler when the time limit has passed
  bool in_kernel() const { return in_kernel_; }
  FaultKind classify_address(const void* address) const;

 private:
  static constexpr int most_blocks = 3;  // at a time
  static void carry(StackPool::Transfer);

  void begin(const Launch&, const Settings&, const Stretch&);
  Thread* pick();
  void resume(Thread& next, Context* self);
  void wait();
  void enter(Thread&);
  void interrupt();
  void submit(const Access&);
  void start_next_block();
  void fill_shared(std::span<std::byte>, std::uint64_t seed) const;
  bool replace_block();
  void change_block();
  void save_shared();
  void change_to(Block&);
  void draw_next_change();
  void draw_next_interrupt();
  Fault describe(const RawFault&) const;
  std::string words(const RawFault&) const;
  std::string describe_stuck() const;

  StackPool stacks_;
  std::array<Block, most_blocks> blocks_;
  std::vector<Block*> present_;  // those that have started and not ended
  std::size_t at_once_ = 0;
  Block* block_ = nullptr;  // the one whose shared memory is in place
  Thread* current_ = nullptr;
  Context scheduler_ = nullptr;
  std::optional<RawFault> fault_;
  volatile bool in_kernel_ = false, expired_ = false;

  Launch launch_{};
  Settings settings_;
  BlockOrder order_;
  std::uint64_t started_ = 0, end_ = 0, stops_ = 0;
  double cpu_seconds_ = 0;
  std::minstd_rand random_;
  // Events until the next change of block, and until the next interrupt; 0 for never.
  std::uint64_t until_change_ = 0, until_interrupt_ = 0;
  std::span<std::byte> static_shared_, dynamic_shared_;
  std::byte* dynamic_arena_;
  void* timer_;
};

// The runner that is launching on this operating system thread, if any.
extern constinit thread_local Runner* active_runner;

// This thread's copy of the static shared memory of the kernels in the shared library that holds
// `code`; none for null. Throws std::runtime_error if the kernels are not in a shared library of
// their own.
std::span<std::byte> static_shared_of(const void* code);

}  // namespace simt
