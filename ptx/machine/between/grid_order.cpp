#include "ptx/machine/between/grid_order.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/scramble.h"
#include "ptx/decode/code.h"

namespace ptx {

using std::uint64_t;

namespace {

// A thread of long code computes many elements: few of these are as much work as many others.
bool is_large(const Launch& launch, const Settings& settings) {
  constexpr uint64_t usual_operations = 512;
  const uint64_t threads = launch.grid.count() * launch.block.count();
  const uint64_t usual_threads = threads / usual_operations * launch.kernel->code.size();
  return std::max(threads, usual_threads) > settings.threads_run_whole;
}

}  // namespace

GridOrder::GridOrder(const Launch& launch, const Settings& settings)
    : grid_(launch.grid.count()), seed_(settings.seed), order_(settings.order) {
  const bool may_leave_out = settings.most_blocks != 0 && settings.most_blocks < grid_;
  if (may_leave_out && !launch.cooperative && is_large(launch, settings))
    leave_out(settings.most_blocks, launch.block.count());
  if (order_ != Order::shuffled || grid_ < 2) return;
  step_ = assay::scramble(seed_ + 1) % grid_ | 1;
  while (std::gcd(step_, grid_) != 1) ++step_;
  step_ %= grid_;
}

void GridOrder::leave_out(uint64_t most, uint64_t threads_of_a_block) {
  const uint64_t last = grid_ - 1;
  std::set<uint64_t> chosen;
  for (uint64_t i = 0; i < most / 4; ++i) chosen.insert({i, last - i});
  for (const int bits : {16, 24, 31, 32})
    for (const uint64_t counted : {uint64_t{1}, threads_of_a_block})
      if (const uint64_t period = (uint64_t{1} << bits) / counted; period < grid_)
        chosen.insert({last - period, last % period});
  for (uint64_t random = seed_; chosen.size() < most;)
    chosen.insert((random = assay::scramble(random + 1)) % grid_);
  chosen_.assign(chosen.begin(), chosen.end());
  if (order_ == Order::reverse) std::reverse(chosen_.begin(), chosen_.end());
}

bool GridOrder::go_on() {
  if (chosen_.empty() || chosen_.size() == grid_) return false;
  const std::set<uint64_t> started(chosen_.begin(), chosen_.end());
  for (uint64_t i = 0; i < grid_; ++i)
    if (!started.contains(i)) chosen_.push_back(i);
  return true;
}

uint64_t GridOrder::number(uint64_t started) const {
  if (!chosen_.empty()) return chosen_[started];
  if (order_ == Order::reverse) return grid_ - 1 - started;
  if (order_ == Order::forward) return started;
  const auto dealt = static_cast<unsigned __int128>(started) * step_ % grid_;
  return (assay::scramble(seed_) + static_cast<uint64_t>(dealt)) % grid_;
}

}  // namespace ptx
