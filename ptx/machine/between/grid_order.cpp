#include "ptx/machine/between/grid_order.h"

#include <numeric>
#include <set>

#include "base/scramble.h"

namespace ptx {

using std::uint64_t;

GridOrder::GridOrder(uint64_t grid, const Settings& settings, bool may_leave_out)
    : grid_(grid), seed_(settings.seed), order_(settings.order) {
  if (may_leave_out && settings.most_blocks != 0 && settings.most_blocks < grid) {
    std::set<uint64_t> chosen;
    for (uint64_t i = 0; i < settings.most_blocks / 4; ++i) chosen.insert({i, grid - 1 - i});
    for (uint64_t random = seed_; chosen.size() < settings.most_blocks;)
      chosen.insert((random = assay::scramble(random + 1)) % grid);
    chosen_.assign(chosen.begin(), chosen.end());
  }
  if (order_ != Order::shuffled || grid < 2) return;
  step_ = assay::scramble(seed_ + 1) % grid | 1;
  while (std::gcd(step_, grid) != 1) ++step_;
  step_ %= grid;
}

uint64_t GridOrder::number(uint64_t started) const {
  const uint64_t last = count() - 1;
  const uint64_t place = order_ == Order::reverse ? last - started : started;
  if (!chosen_.empty()) return chosen_[place];
  if (order_ != Order::shuffled) return place;
  const auto dealt = static_cast<unsigned __int128>(started) * step_ % grid_;
  return (assay::scramble(seed_) + static_cast<uint64_t>(dealt)) % grid_;
}

}  // namespace ptx
