#include "simt/block.h"

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
  for (unsigned i = 0; i < thread_count_; ++i) {
    threads_[i].number = i;
    threads_[i].index = unflatten(i, launch.block);
  }
  remark_.clear();
  expired_ = false;
  active_runner = this;
  catch_signals_on_this_thread();
  cpu_seconds_ = settings.cpu_seconds + settings.cpu_seconds_per_thread * thread_count_ *
                                            launch.grid.x * launch.grid.y * launch.grid.z;
  arm_cpu_timer(timer_, cpu_seconds_);
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
  warps_.fill({});
  for (Thread& thread : threads()) {
    thread.state = Thread::State::fresh;
    warps_[thread.number / 32].present |= 1u << thread.number % 32;
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

// All threads that have not returned may run, in the order of this barrier interval.
void BlockRunner::queue_all() {
  if (settings_.order == Order::shuffled) std::shuffle(order_.begin(), order_.end(), random_);
  queue_head_ = 0;
  const auto may_run = [&](unsigned i) { return threads_[i].state != Thread::State::done; };
  const auto end = std::copy_if(order_.begin(), order_.end(), queue_.begin(), may_run);
  queue_size_ = static_cast<std::size_t>(end - queue_.begin());
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
    if (at_barrier_ > 0 && at_barrier_ + done_ == thread_count_) {
      if (done_ > 0 && remark_.empty()) remark_ = describe_departed();
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
  for (const Thread& thread : threads()) {
    if (thread.state == Thread::State::at_warp) release_warp(thread.number / 32, thread.mask);
  }
  if (queue_size_ > 0) return true;
  fault_ = RawFault{.kind = FaultKind::warp_not_reached};
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
    runner.finish(*runner.current_);

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

void BlockRunner::finish(Thread& thread) {
  thread.state = Thread::State::done;
  warps_[thread.number / 32].left |= 1u << thread.number % 32;
  ++done_;
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

std::uint64_t BlockRunner::warp_exchange(unsigned mask, std::uint64_t value, unsigned from,
                                         WarpCall call) {
  leave_kernel();
  Thread& self = *current_;
  if ((mask >> (self.number % 32) & 1) == 0)
    abandon({.kind = FaultKind::warp_not_reached, .line = call.line});
  self.state = Thread::State::at_warp;
  self.line = call.line;
  self.operation = call.operation;
  self.mask = mask;
  self.from = from;
  self.value = value;
  Warp& warp = warps_[self.number / 32];
  require_one_operation(self, warp.waiting);
  warp.waiting |= 1u << self.number % 32;
  release_warp(self.number / 32, mask);
  wait();
  enter_kernel();
  return self.value;
}

// Lanes that name each other must do so in the same place. But a __syncwarp waits for any other, as
// on a GPU. It is enough to compare with one lane: those that wait agree with each other.
void BlockRunner::require_one_operation(const Thread& arriving, unsigned waiting) {
  const unsigned first = arriving.number / 32 * 32;
  for (; waiting != 0; waiting &= waiting - 1) {
    const Thread& lane = threads_[first + static_cast<unsigned>(std::countr_zero(waiting))];
    if (lane.mask != arriving.mask) continue;
    if (lane.operation == arriving.operation &&
        (lane.line == arriving.line || lane.operation == WarpOperation::syncwarp)) {
      return;
    }
    abandon({.kind = FaultKind::warp_not_reached, .line = arriving.line, .other = lane.number});
  }
}

// Lets the lanes go on that `mask` names in a warp, once all of them that still run have come.
// They are the next to run: a warp that gets ahead of the others as far as it can shows what it
// should have waited for.
void BlockRunner::release_warp(unsigned number, unsigned mask) {
  Warp& warp = warps_[number];
  const unsigned group = mask & warp.present & ~warp.left;
  if ((group & ~warp.waiting) != 0) return;
  Thread* const lanes = &threads_[number * 32];
  std::array<std::uint64_t, 32> brought;
  brought.fill(0x7fc000007fc00000u);
  std::uint64_t yes = 0;
  for (unsigned left = group; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (lanes[i].mask != mask) return;
    brought[i] = lanes[i].value;
    yes |= (lanes[i].value == 1 ? std::uint64_t{1} : 0) << i;
  }
  warp.waiting &= ~group;
  const bool backwards = settings_.order == Order::reverse;  // the last to be queued runs first
  for (unsigned left = group; left != 0;) {
    const auto i =
        static_cast<unsigned>(backwards ? std::countr_zero(left) : 31 - std::countl_zero(left));
    left &= ~(1u << i);
    lanes[i].state = Thread::State::ready;
    lanes[i].value = lanes[i].from == votes ? yes : brought[lanes[i].from];
    queue_head_ = (queue_head_ + max_threads_per_block - 1) % max_threads_per_block;
    queue_[queue_head_] = lanes[i].number;
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

}  // namespace simt
