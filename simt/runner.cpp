#include "simt/runner.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/scramble.h"
#include "simt/signals.h"

constinit thread_local uint3 threadIdx{}, blockIdx{};
constinit thread_local dim3 blockDim, gridDim;

namespace simt {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t dynamic_arena_bytes = (max_shared + page - 1) / page * page;

// To the last byte: the smallest variable must not carry a value from block to block either. Words
// lie on multiples of 4, wherever the memory itself begins.
template <class NextWord>
void fill(std::span<std::byte> memory, NextWord next_word) {
  constexpr std::size_t size = sizeof(std::uint32_t);
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(memory.data()) % size;
  const std::size_t head = std::min((size - misaligned) % size, memory.size());
  const std::size_t tail = (memory.size() - head) % size;
  const auto copy = [&](std::byte* to, std::size_t from, std::size_t bytes) {
    const std::uint32_t word = next_word();
    std::memcpy(to, reinterpret_cast<const std::byte*>(&word) + from, bytes);
  };
  if (head > 0) copy(memory.data(), size - head, head);
  std::byte* at = memory.data() + head;
  for (std::byte* const end = memory.data() + memory.size() - tail; at != end; at += size)
    copy(at, 0, size);
  if (tail > 0) copy(at, 0, tail);
}

// A float of either sign, from 2^-7 to 2^9.
std::uint32_t ordinary_number(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  const auto random = static_cast<std::uint32_t>(state >> 32);
  const std::uint32_t exponent = 120 + random % 16;
  return (random & 0x80000000u) | exponent << 23 | (random >> 4 & 0x7fffffu);
}

}  // namespace

constinit thread_local Runner* active_runner = nullptr;

Runner& Runner::mine() {
  thread_local Runner runner;
  return runner;
}

Runner::Runner()
    : stacks_(most_blocks * max_threads_per_block, &Runner::carry), timer_(make_cpu_timer()) {
  // One page more than a block can have, unreadable: dynamic shared memory ends right before it.
  void* arena = mmap(nullptr, dynamic_arena_bytes + page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) throw std::bad_alloc();
  dynamic_arena_ = static_cast<std::byte*>(arena);
  mprotect(dynamic_arena_ + dynamic_arena_bytes, page, PROT_NONE);
}

Runner::~Runner() {
  drop_cpu_timer(timer_);
  munmap(dynamic_arena_, dynamic_arena_bytes + page);
}

Observation Runner::run(const Launch& launch, const Settings& settings, const Stretch& blocks) {
  begin(launch, settings, blocks);
  if (Thread* first = pick()) resume(*first, &scheduler_);
  in_kernel_ = false;
  arm_cpu_timer(timer_, 0);
  active_runner = nullptr;

  Observation seen{.threads = (started_ - blocks.first) * blocks_[0].threads().size(),
                   .stops = stops_};
  seen.is_part = order_.count() < launch.blocks();
  for (std::size_t i = 0; i < at_once_ && seen.remark.empty(); ++i)
    seen.remark = blocks_[i].remark();
  if (fault_) {
    stacks_.forget_all();
    seen.fault = describe(*fault_);
  }
  return seen;
}

void Runner::begin(const Launch& launch, const Settings& settings, const Stretch& blocks) {
  launch_ = launch;
  settings_ = settings;
  const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  order_ = BlockOrder(settings, launch.blocks(), threads);
  started_ = blocks.first, end_ = std::min(blocks.end, order_.count()), stops_ = 0;
  const std::uint64_t count = end_ - started_;
  static_shared_ = static_shared_of(launch.kernel.code);
  const std::size_t dynamic = (launch.dynamic_shared + 15) / 16 * 16;
  dynamic_shared_ = {dynamic_arena_ + dynamic_arena_bytes - dynamic, dynamic};
  gridDim = launch.grid;
  blockDim = launch.block;
  fault_.reset();
  expired_ = false;
  active_runner = this;
  catch_signals_on_this_thread();
  cpu_seconds_ = settings.cpu_seconds + settings.cpu_seconds_per_thread *
                                            static_cast<double>(count) * launch.block.x *
                                            launch.block.y * launch.block.z;
  arm_cpu_timer(timer_, cpu_seconds_);

  // In shuffled order, several blocks are at work at a time in two of three launches.
  random_.seed(static_cast<std::uint32_t>(assay::scramble(settings.seed)));
  const std::uint64_t most =
      settings.order == Order::shuffled ? 1 + assay::scramble(settings.seed + 1) % most_blocks : 1;
  at_once_ = static_cast<std::size_t>(std::min(most, count));
  present_.clear();
  for (std::size_t i = 0; i < at_once_; ++i) {
    if (!present_.empty()) save_shared();
    block_ = &blocks_[i];
    block_->serve(launch, settings);
    present_.push_back(block_);
    start_next_block();
  }
  draw_next_change();
  draw_next_interrupt();
}

// In the place of block_.
void Runner::start_next_block() {
  const std::uint64_t number = order_[started_++];
  block_->start(number);
  blockIdx = block_->index();
  fill_shared(static_shared_, 2 * number);
  fill_shared(dynamic_shared_, 2 * number + 1);
}

void Runner::fill_shared(std::span<std::byte> memory, std::uint64_t seed) const {
  if (!settings_.ordinary_shared) return fill(memory, [] { return unwritten_shared_bits; });
  std::uint64_t state = assay::scramble(settings_.seed ^ assay::scramble(seed));
  fill(memory, [&] { return ordinary_number(state); });
}

void Runner::save_shared() {
  block_->shared.resize(static_shared_.size() + dynamic_shared_.size());
  const auto middle =
      std::copy(static_shared_.begin(), static_shared_.end(), block_->shared.begin());
  std::copy(dynamic_shared_.begin(), dynamic_shared_.end(), middle);
}

// The shared memory of the last one is saved, or lost.
void Runner::change_to(Block& block) {
  const auto middle = block.shared.begin() + static_cast<std::ptrdiff_t>(static_shared_.size());
  std::copy(block.shared.begin(), middle, static_shared_.begin());
  std::copy(middle, block.shared.end(), dynamic_shared_.begin());
  block_ = &block;
  blockIdx = block.index();
}

// Copying shared memory takes its time, so the more there is the longer the gaps.
void Runner::draw_next_change() {
  const std::size_t bytes = static_shared_.size() + dynamic_shared_.size();
  until_change_ = present_.size() < 2 ? 0 : 1 + random_() % (8 + bytes / 128);
}

void Runner::change_block() {
  std::swap(*std::find(present_.begin(), present_.end(), block_), present_.back());
  save_shared();
  change_to(*present_[random_() % (present_.size() - 1)]);
  draw_next_change();
}

// By the next of the grid, or by one that has waited; false if there is none.
bool Runner::replace_block() {
  if (started_ < end_) {
    start_next_block();
    return true;
  }
  std::erase(present_, block_);
  if (present_.empty()) return false;
  change_to(*present_[random_() % present_.size()]);
  draw_next_change();
  return true;
}

// The next thread to run; none once all are done, or once those left wait for each other in vain (a
// fault).
Thread* Runner::pick() {
  if (expired_) {
    fault_ = RawFault{.kind = FaultKind::never_ends};
    return nullptr;
  }
  if (--until_change_ == 0) change_block();
  do {
    if (Thread* next = block_->next()) return next;
    if (!block_->is_done()) {
      fault_ = RawFault{.kind = FaultKind::warp_not_reached};
      return nullptr;
    }
  } while (replace_block());
  return nullptr;
}

void Runner::enter(Thread& thread) {
  current_ = &thread;
  threadIdx = thread.index;
}

// Continues `next` where it stands; execution comes back here through *self.
void Runner::resume(Thread& next, Context* self) {
  enter(next);
  const bool fresh = next.state == Thread::State::fresh;
  switch_to(fresh ? stacks_.take() : next.context, self);
}

// The body of every stack: runs fresh threads to their end, one after the other, without ever
// switching unless a thread waits in the middle.
void Runner::carry(StackPool::Transfer from) {
  StackPool::arrived(from);
  Runner& runner = *active_runner;
  for (;;) {
    runner.enter_kernel();
    runner.launch_.kernel.call(runner.launch_.kernel.code, runner.launch_.kernel.arguments);
    runner.leave_kernel();
    runner.block_->finish(*runner.current_);

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
void Runner::wait() {
  ++stops_;
  Thread& self = *current_;
  Thread* next = pick();
  if (next == nullptr) {
    switch_to(scheduler_, &self.context);
  } else if (next != &self) {
    resume(*next, &self.context);
  }
  self.state = Thread::State::ready;
}

int Runner::barrier(int line, bool yes) {
  leave_kernel();
  if (const auto fault = block_->wait_at_barrier(*current_, line, yes)) abandon(*fault);
  wait();
  const int tally = block_->tally();
  enter_kernel();
  return tally;
}

std::uint64_t Runner::warp_exchange(unsigned mask, std::uint64_t value, unsigned from,
                                    WarpCall call) {
  leave_kernel();
  Thread& self = *current_;
  if (const auto fault = block_->wait_at_warp(self, mask, value, from, call)) abandon(*fault);
  wait();
  enter_kernel();
  return self.value;
}

void Runner::interrupt() {
  leave_kernel();
  draw_next_interrupt();
  block_->interrupt(*current_);
  wait();
  enter_kernel();
}

void Runner::submit(const Access& access) {
  if (in_kernel_ && !settings_.access_judge->allows(access)) {
    abandon({.kind = FaultKind::not_allowed, .address = access.address, .is_write = access.writes});
  }
}

void Runner::draw_next_interrupt() {
  until_interrupt_ = 0;
  if (settings_.order == Order::shuffled) until_interrupt_ = block_->draw(8);
  if (settings_.interrupt_accesses) until_interrupt_ = block_->draw(1u << block_->draw(7));
}

void Runner::abandon(const RawFault& fault) {
  in_kernel_ = false;
  fault_ = fault;
  Context never_resumed;
  switch_to(scheduler_, &never_resumed);
  __builtin_unreachable();
}

// The time limit may have passed meanwhile, and a thread that never waits again would not notice.
void Runner::enter_kernel() {
  in_kernel_ = true;
  if (expired_) abandon({.kind = FaultKind::never_ends});
}

void Runner::expire() {
  if (in_kernel_) abandon({.kind = FaultKind::never_ends});
  expired_ = true;
}

FaultKind Runner::classify_address(const void* address) const {
  return stacks_.in_guard_page(address) ? FaultKind::stack_overflow : FaultKind::bad_address;
}

}  // namespace simt
