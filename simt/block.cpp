#include "simt/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/scramble.h"

namespace simt {
namespace {

uint3 unflatten(std::uint64_t i, dim3 size) {
  return {static_cast<unsigned>(i % size.x), static_cast<unsigned>(i / size.x % size.y),
          static_cast<unsigned>(i / size.x / size.y)};
}

}  // namespace

void Block::serve(const Launch& launch, const Settings& settings) {
  remark_.clear();
  grid_ = launch.grid;
  size_ = launch.block;
  seed_ = settings.seed;
  in_order_ = settings.order;
  const std::uint64_t chosen = in_order_ == Order::shuffled ? assay::scramble(seed_) : 0;
  released_ = static_cast<Released>(chosen % 3);
  whole_warps_ = chosen / 3 % 3 == 1;
  thread_count_ = size_.x * size_.y * size_.z;
  threads_.resize(max_threads_per_block);
  for (unsigned i = 0; i < thread_count_; ++i) {
    threads_[i].number = i;
    threads_[i].index = unflatten(i, size_);
  }
  order_.resize(thread_count_);
  std::iota(order_.begin(), order_.end(), 0u);
  if (in_order_ == Order::reverse) std::reverse(order_.begin(), order_.end());
  warp_order_.resize((thread_count_ + 31) / 32);
  std::iota(warp_order_.begin(), warp_order_.end(), 0u);
}

// What came before must not matter: a failure that some order shows is seen again.
void Block::start(std::uint64_t number) {
  index_ = unflatten(number, grid_);
  random_.seed(static_cast<std::uint32_t>(seed_ * 2654435761u + number * 40503u + 1));
  if (in_order_ == Order::shuffled) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::iota(warp_order_.begin(), warp_order_.end(), 0u);
  }
  warps_.fill({});
  for (unsigned i = 0; i < thread_count_; ++i) {
    threads_[i].state = Thread::State::fresh;
    warps_[i / 32].present |= 1u << i % 32;
  }
  done_ = at_barrier_ = 0;
  queue_all();
}

// All threads that have not returned may run, in the order of this barrier interval.
void Block::queue_all() {
  if (in_order_ == Order::shuffled) shuffle();
  queue_head_ = 0;
  const auto may_run = [&](unsigned i) { return threads_[i].state != Thread::State::done; };
  const auto end = std::copy_if(order_.begin(), order_.end(), queue_.begin(), may_run);
  queue_size_ = static_cast<unsigned>(end - queue_.begin());
}

void Block::shuffle() {
  if (!whole_warps_) return std::shuffle(order_.begin(), order_.end(), random_);
  std::shuffle(warp_order_.begin(), warp_order_.end(), random_);
  auto to = order_.begin();
  for (const unsigned warp : warp_order_) {
    const auto end = to + std::min(32u, thread_count_ - 32 * warp);
    std::iota(to, end, 32 * warp);
    to = end;
  }
}

void Block::queue_first(const Thread& thread) {
  queue_head_ = (queue_head_ + max_threads_per_block - 1) % max_threads_per_block;
  queue_[queue_head_] = thread.number;
  ++queue_size_;
}

void Block::queue_last(const Thread& thread) {
  queue_[(queue_head_ + queue_size_) % max_threads_per_block] = thread.number;
  ++queue_size_;
}

// Changes places with any of those that stand in the queue.
void Block::queue_anywhere(const Thread& thread) {
  queue_last(thread);
  const auto place = [&](unsigned i) -> unsigned& {
    return queue_[(queue_head_ + i) % max_threads_per_block];
  };
  std::swap(place(queue_size_ - 1), place(draw(queue_size_) - 1));
}

// Once nobody may run.
void Block::release_some() {
  if (is_done()) return;
  if (at_barrier_ > 0 && at_barrier_ + done_ == thread_count_) {
    release_barrier();
  } else {
    release_warps_of_the_departed();
  }
}

void Block::interrupt(Thread& thread) {
  thread.state = Thread::State::ready;
  queue_anywhere(thread);
}

std::optional<RawFault> Block::wait_at_barrier(Thread& thread, int line, bool yes) {
  thread.state = Thread::State::at_barrier;
  thread.line = line;
  if (at_barrier_++ == 0) barrier_line_ = line, said_yes_ = 0;
  said_yes_ += yes;
  if (line == barrier_line_) return std::nullopt;
  return RawFault{.kind = FaultKind::barrier_not_reached, .line = line};
}

void Block::release_barrier() {
  if (done_ > 0 && remark_.empty()) {
    remark_ = fmt::format(
        "{} of {} threads returned before the barrier in line {}, in block ({},{},{}): that is "
        "defined from sm_70 on",
        done_, thread_count_, barrier_line_, index_.x, index_.y, index_.z);
  }
  at_barrier_ = 0;
  tally_ = said_yes_;
  queue_all();
}

std::optional<RawFault> Block::wait_at_warp(Thread& thread, unsigned mask, std::uint64_t value,
                                            unsigned from, WarpCall call) {
  thread.state = Thread::State::at_warp;
  thread.line = call.line;
  thread.operation = call.operation;
  if ((mask >> (thread.number % 32) & 1) == 0)
    return RawFault{.kind = FaultKind::warp_not_reached, .line = call.line};
  thread.mask = mask;
  thread.from = from;
  thread.value = value;
  Warp& warp = warps_[thread.number / 32];
  auto fault = meets_another_operation(thread, warp.waiting);
  warp.waiting |= 1u << thread.number % 32;
  if (!fault) release_warp(thread.number / 32, mask);
  return fault;
}

// Lanes that name each other must do so in the same place. But a __syncwarp waits for any other, as
// on a GPU. It is enough to compare with one lane: those that wait agree with each other.
std::optional<RawFault> Block::meets_another_operation(const Thread& arriving,
                                                       unsigned waiting) const {
  const unsigned first = arriving.number / 32 * 32;
  for (; waiting != 0; waiting &= waiting - 1) {
    const Thread& lane = threads_[first + static_cast<unsigned>(std::countr_zero(waiting))];
    if (lane.mask != arriving.mask) continue;
    if (lane.operation == arriving.operation &&
        (lane.line == arriving.line || lane.operation == WarpOperation::syncwarp)) {
      return std::nullopt;
    }
    return RawFault{
        .kind = FaultKind::warp_not_reached, .line = arriving.line, .other = lane.number};
  }
  return std::nullopt;
}

// Lets the lanes go on that `mask` names in a warp, once all of them that still run have come.
void Block::release_warp(unsigned number, unsigned mask) {
  Warp& warp = warps_[number];
  const unsigned group = mask & warp.present & ~warp.left;
  if ((group & ~warp.waiting) != 0) return;
  Thread* const lanes = &threads_[number * 32];
  std::array<std::uint64_t, 32> brought;
  brought.fill(std::uint64_t{absent_lane_bits} << 32 | absent_lane_bits);
  std::uint64_t yes = 0;
  for (unsigned left = group; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (lanes[i].mask != mask) return;
    brought[i] = lanes[i].value;
    yes |= (lanes[i].value == 1 ? std::uint64_t{1} : 0) << i;
  }
  warp.waiting &= ~group;
  const bool upwards = in_order_ == Order::reverse;  // the last to be queued first runs first
  for (unsigned left = group; left != 0;) {
    const auto i =
        static_cast<unsigned>(upwards ? std::countr_zero(left) : 31 - std::countl_zero(left));
    left &= ~(1u << i);
    lanes[i].state = Thread::State::ready;
    lanes[i].value = lanes[i].from == votes ? yes : brought[lanes[i].from];
    switch (released_) {
      case Released::first: queue_first(lanes[i]); break;
      case Released::last: queue_last(lanes[i]); break;
      case Released::anywhere: queue_anywhere(lanes[i]); break;
    }
  }
}

// Lanes that named a lane which has returned since then wait no longer for it.
void Block::release_warps_of_the_departed() {
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state == Thread::State::at_warp) release_warp(i / 32, threads_[i].mask);
  }
}

}  // namespace simt
