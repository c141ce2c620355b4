#include "simt/block.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "simt/signals.h"

constinit thread_local uint3 threadIdx{}, blockIdx{};
constinit thread_local dim3 blockDim, gridDim;

namespace simt {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t dynamic_arena_bytes = (max_shared + page - 1) / page * page;

uint3 unflatten(std::uint64_t i, dim3 size) {
  return {static_cast<unsigned>(i % size.x), static_cast<unsigned>(i / size.x % size.y),
          static_cast<unsigned>(i / size.x / size.y)};
}

std::string at(uint3 i) { return fmt::format("({},{},{})", i.x, i.y, i.z); }

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view name_of(WarpOperation operation) {
  constexpr std::array names = {"__syncwarp",       "__shfl_sync",     "__shfl_up_sync",
                                "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync",
                                "__any_sync",       "__all_sync"};
  return names[static_cast<std::size_t>(operation)];
}

// To the last byte: the smallest variable must not carry a value from block to block either. Floats
// lie on multiples of 4, wherever the memory itself begins.
void fill_with_nan(std::span<std::byte> memory) {
  const auto phase = reinterpret_cast<std::uintptr_t>(memory.data()) % sizeof(std::uint32_t);
  const std::uint32_t word = std::rotr(unwritten_shared_bits, static_cast<int>(8 * phase));
  const std::size_t words = memory.size() / sizeof word;
  std::byte* const tail = memory.data() + words * sizeof word;
  for (std::byte* at = memory.data(); at != tail; at += sizeof word)
    std::memcpy(at, &word, sizeof word);
  std::memcpy(tail, &word, memory.size() % sizeof word);
}

}  // namespace

constinit thread_local BlockRunner* active_runner = nullptr;

BlockRunner& BlockRunner::mine() {
  thread_local BlockRunner runner;
  return runner;
}

BlockRunner::BlockRunner()
    : stacks_(max_threads_per_block, &BlockRunner::carry), timer_(make_cpu_timer()) {
  threads_.resize(max_threads_per_block);
  gathered_.resize(max_threads_per_block);
  queue_.resize(max_threads_per_block);
  // One page more than a block can have, unreadable: dynamic shared memory ends right before it.
  void* arena = mmap(nullptr, dynamic_arena_bytes + page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) throw std::bad_alloc();
  dynamic_arena_ = static_cast<std::byte*>(arena);
  mprotect(dynamic_arena_ + dynamic_arena_bytes, page, PROT_NONE);
}

BlockRunner::~BlockRunner() {
  drop_cpu_timer(timer_);
  munmap(dynamic_arena_, dynamic_arena_bytes + page);
}

void BlockRunner::begin(const Launch& launch, const Settings& settings) {
  launch_ = launch;
  settings_ = settings;
  thread_count_ = launch.block.x * launch.block.y * launch.block.z;
  static_shared_ = static_shared_of(launch.kernel.code);
  const std::size_t dynamic = (launch.dynamic_shared + 15) / 16 * 16;
  dynamic_shared_ = {dynamic_arena_ + dynamic_arena_bytes - dynamic, dynamic};
  gridDim = launch.grid;
  blockDim = launch.block;
  put_in_order();
  expired_ = false;
  active_runner = this;
  catch_signals_on_this_thread();
  arm_cpu_timer(timer_, settings.cpu_seconds);
}

void BlockRunner::end() {
  arm_cpu_timer(timer_, 0);
  active_runner = nullptr;
}

std::optional<Fault> BlockRunner::run(std::uint64_t block_index) {
  blockIdx = unflatten(block_index, launch_.grid);
  random_.seed(static_cast<std::uint32_t>(settings_.seed * 2654435761u + block_index * 40503u + 1));
  if (settings_.order == Order::shuffled) put_in_order();  // not what the last block made of it
  poison_shared();
  for (unsigned i = 0; i < thread_count_; ++i) {
    threads_[i].state = Thread::State::fresh;
    threads_[i].number = i;
    threads_[i].index = unflatten(i, launch_.block);
  }
  done_ = at_barrier_ = 0;
  queue_size_ = 0;
  queue_all();
  fault_.reset();

  if (Thread* first = pick()) resume(*first, &scheduler_);
  in_kernel_ = false;

  if (!fault_) return std::nullopt;
  stacks_.forget_all();
  return describe(*fault_);
}

void BlockRunner::poison_shared() {
  fill_with_nan(static_shared_);
  fill_with_nan(dynamic_shared_);
}

void BlockRunner::put_in_order() {
  order_.resize(thread_count_);
  std::iota(order_.begin(), order_.end(), 0u);
  if (settings_.order == Order::reverse) std::reverse(order_.begin(), order_.end());
}

// All threads may run, in the order of this barrier interval.
void BlockRunner::queue_all() {
  if (settings_.order == Order::shuffled) std::shuffle(order_.begin(), order_.end(), random_);
  queue_head_ = 0;
  queue_size_ = thread_count_;
  std::copy(order_.begin(), order_.end(), queue_.begin());
}

// The next thread to run; none once all are done, or once those left wait for each other in vain (a
// fault).
BlockRunner::Thread* BlockRunner::pick() {
  if (expired_) {
    fault_ = RawFault{.kind = FaultKind::never_ends};
    return nullptr;
  }
  if (queue_size_ == 0) {
    if (done_ == thread_count_) return nullptr;
    if (at_barrier_ == thread_count_) {
      at_barrier_ = 0;
      tally_ = said_yes_;
      queue_all();
    } else if (!release_warps_of_the_departed()) {
      return nullptr;
    }
  }
  Thread* next = &threads_[queue_[queue_head_]];
  queue_head_ = (queue_head_ + 1) % max_threads_per_block;
  --queue_size_;
  return next;
}

// Lanes that named a lane which has returned since then wait no longer for it. False, with a fault,
// if that frees nobody.
bool BlockRunner::release_warps_of_the_departed() {
  bool any_at_warp = false;
  for (Thread& thread : threads()) {
    if (thread.state != Thread::State::at_warp) continue;
    any_at_warp = true;
    release_warp(thread);
  }
  if (queue_size_ > 0) return true;
  fault_ =
      RawFault{.kind = any_at_warp ? FaultKind::warp_not_reached : FaultKind::barrier_not_reached};
  return false;
}

void BlockRunner::enter(Thread& thread) {
  current_ = &thread;
  threadIdx = thread.index;
}

// Continues `next` where it stands; execution comes back here through *self.
void BlockRunner::resume(Thread& next, Context* self) {
  enter(next);
  const bool fresh = next.state == Thread::State::fresh;
  switch_to(fresh ? stacks_.take() : next.context, self);
}

// The body of every stack: runs fresh threads to their end, one after the other, without ever
// switching unless a thread waits in the middle.
void BlockRunner::carry(StackPool::Transfer from) {
  StackPool::arrived(from);
  BlockRunner& runner = *active_runner;
  for (;;) {
    runner.enter_kernel();
    runner.launch_.kernel.call(runner.launch_.kernel.code, runner.launch_.kernel.arguments);
    runner.leave_kernel();
    runner.current_->state = Thread::State::done;
    ++runner.done_;

    Thread* next = runner.pick();
    if (next != nullptr && next->state == Thread::State::fresh) {
      runner.enter(*next);
      continue;
    }
    Context self;
    runner.stacks_.give_back(&self);
    if (next != nullptr) {
      runner.resume(*next, &self);
    } else {
      switch_to(runner.scheduler_, &self);
    }
  }
}

// The current thread stops here until somebody picks it again.
void BlockRunner::wait() {
  Thread& self = *current_;
  Thread* next = pick();
  if (next == nullptr) {
    switch_to(scheduler_, &self.context);
  } else if (next != &self) {
    resume(*next, &self.context);
  }
  self.state = Thread::State::ready;
}

int BlockRunner::barrier(int line, bool yes) {
  leave_kernel();
  current_->state = Thread::State::at_barrier;
  current_->line = line;
  if (at_barrier_++ == 0) barrier_line_ = line, said_yes_ = 0;
  said_yes_ += yes;
  if (line != barrier_line_) abandon({.kind = FaultKind::barrier_not_reached, .line = line});
  wait();
  const int tally = tally_;
  enter_kernel();
  return tally;
}

const std::array<std::uint64_t, 32>& BlockRunner::warp_exchange(unsigned mask, std::uint64_t value,
                                                                WarpCall call) {
  leave_kernel();
  Thread& self = *current_;
  if ((mask >> (self.number % 32) & 1) == 0)
    abandon({.kind = FaultKind::warp_not_reached, .line = call.line});
  self.state = Thread::State::at_warp;
  self.line = call.line;
  self.operation = call.operation;
  self.mask = mask;
  self.brought = value;
  require_one_operation(self);
  release_warp(self);
  wait();
  enter_kernel();
  return gathered_[self.number];
}

std::span<BlockRunner::Thread> BlockRunner::warp_of(const Thread& thread) {
  const unsigned first = thread.number / 32 * 32;
  return threads().subspan(first, std::min(32u, thread_count_ - first));
}

// Lanes that name each other must do so in the same place. But a __syncwarp waits for any other, as
// on a GPU.
void BlockRunner::require_one_operation(const Thread& arriving) {
  for (const Thread& lane : warp_of(arriving)) {
    if (lane.state != Thread::State::at_warp || lane.mask != arriving.mask) continue;
    if (lane.operation == arriving.operation &&
        (lane.line == arriving.line || lane.operation == WarpOperation::syncwarp)) {
      continue;
    }
    abandon({.kind = FaultKind::warp_not_reached, .line = arriving.line, .other = lane.number});
  }
}

// Lets the lanes go on that the mask of `waiting` names, once all of them that still run have come.
// They are the next to run: a warp that gets ahead of the others as far as it can shows what it
// should have waited for.
void BlockRunner::release_warp(const Thread& waiting) {
  const unsigned mask = waiting.mask;
  const unsigned first = waiting.number / 32 * 32, lanes = std::min(32u, thread_count_ - first);
  std::array<std::uint64_t, 32> gathered;
  gathered.fill(0x7fc000007fc00000u);
  for (unsigned i = 0; i < lanes; ++i) {
    const Thread& lane = threads_[first + i];
    if ((mask >> i & 1) == 0 || lane.state == Thread::State::done) continue;
    if (lane.state != Thread::State::at_warp || lane.mask != mask) return;
    gathered[i] = lane.brought;
  }
  for (unsigned i = 0; i < lanes; ++i) {
    Thread& lane = threads_[first + (settings_.order == Order::reverse ? i : lanes - 1 - i)];
    if ((mask >> (lane.number % 32) & 1) == 0 || lane.state == Thread::State::done) continue;
    lane.state = Thread::State::ready;
    gathered_[lane.number] = gathered;
    queue_head_ = (queue_head_ + max_threads_per_block - 1) % max_threads_per_block;
    queue_[queue_head_] = lane.number;
    ++queue_size_;
  }
}

void BlockRunner::abandon(const RawFault& fault) {
  in_kernel_ = false;
  fault_ = fault;
  Context never_resumed;
  switch_to(scheduler_, &never_resumed);
  __builtin_unreachable();
}

// The time limit may have passed meanwhile, and a thread that never waits again would not notice.
void BlockRunner::enter_kernel() {
  in_kernel_ = true;
  if (expired_) abandon({.kind = FaultKind::never_ends});
}

void BlockRunner::expire() {
  if (in_kernel_) abandon({.kind = FaultKind::never_ends});
  expired_ = true;
}

FaultKind BlockRunner::classify_address(const void* address) const {
  return stacks_.in_guard_page(address) ? FaultKind::stack_overflow : FaultKind::bad_address;
}

Fault BlockRunner::describe(const RawFault& raw) const {
  return {raw.kind, words(raw), raw.address, raw.is_write};
}

std::string BlockRunner::words(const RawFault& raw) const {
  const std::string block = "block " + at(blockIdx);
  const std::string thread = launch_.kernel.code == nullptr
                                 ? "a memset or memcpy"
                                 : fmt::format("thread {} of {}", at(current_->index), block);
  switch (raw.kind) {
    case FaultKind::barrier_not_reached:
      if (raw.line == 0) return describe_stuck(raw.kind, block);
      return fmt::format(
          "{} came to the barrier in line {} while others of its block wait at the one in line {}",
          thread, raw.line, barrier_line_);
    case FaultKind::warp_not_reached:
      if (raw.line == 0) return describe_stuck(raw.kind, block);
      if (raw.other) {
        const Thread& other = threads_[*raw.other];
        return fmt::format(
            "{} came to {} in line {} while thread {}, which it names, waits at {} in line {}",
            thread, name_of(current_->operation), raw.line, at(other.index),
            name_of(other.operation), other.line);
      }
      return fmt::format("{} is not in the mask of its own warp operation in line {}", thread,
                         raw.line);
    case FaultKind::never_ends:
      return fmt::format("{} was still running after {:.3g} s of CPU time", thread,
                         settings_.cpu_seconds);
    case FaultKind::misaligned_access:
      return fmt::format(
          "{} accessed a vector at an address that is not a multiple of its size ({}:{})", thread,
          file_name(raw.file), raw.line);
    case FaultKind::bad_address:
      if (raw.address == nullptr) return thread + " followed a null or wild pointer";
      return fmt::format("{} {} memory that is not its own", thread,
                         raw.is_write ? "wrote to" : "read from");
    case FaultKind::stack_overflow: return thread + " needs more than 60 KiB of local memory";
    case FaultKind::bad_instruction:
      if (raw.assertion != nullptr) {
        return fmt::format("{} found that '{}' is not true ({}:{})", thread, raw.assertion,
                           file_name(raw.file), raw.line);
      }
      return thread + " executed a trap or divided by zero";
    case FaultKind::launch_refused: break;
  }
  return thread;
}

std::string BlockRunner::describe_stuck(FaultKind kind, const std::string& block) const {
  const bool warp = kind == FaultKind::warp_not_reached;
  const auto waits_at = warp ? Thread::State::at_warp : Thread::State::at_barrier;
  unsigned waiting = 0;
  int line = 0;
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state == waits_at) ++waiting, line = threads_[i].line;
  }
  return fmt::format("{} of {} threads wait at the {} in line {} and {}, in {}", waiting,
                     thread_count_, warp ? "warp operation" : "barrier", line,
                     done_ == 0 ? "never meet the others there"
                                : fmt::format("{} have returned without it", done_),
                     block);
}

}  // namespace simt
