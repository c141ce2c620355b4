#include "properties/draws/remainders.h"

#include <algorithm>

#include "properties/draws/cost.h"
#include "properties/draws/dice.h"
#include "properties/fitting.h"

namespace assay {

std::vector<Case> remainders_behind_thresholds(const Claim& claim, const Entry& entry,
                                               std::uint64_t seed, const Hints& hints) {
  constexpr std::int64_t least = 96, most = 4096, warp = 32;
  constexpr std::size_t most_thresholds = 3;
  constexpr double most_nanoseconds = 2e8;  // for each
  std::vector<Case> cases;
  if (!claim.takes_extreme_sizes) return cases;
  std::vector<std::int64_t> thresholds;
  std::copy_if(hints.sizes.begin(), hints.sizes.end(), std::back_inserter(thresholds),
               [](std::int64_t size) { return size >= least && size <= most; });
  Dice dice(seed + 31);
  dice.shuffle(thresholds);
  thresholds.resize(std::min(thresholds.size(), most_thresholds));
  for (const std::int64_t threshold : thresholds) {
    const auto with = [&](std::int64_t remainder) {
      const Case c{.m = 1 + remainder % 2, .n = 1 + remainder / 2 % 2, .k = threshold + remainder};
      return nearest_case(c, claim, entry);
    };
    const double each = cost_of(with(warp), claim, entry, hints.effort);
    for (std::int64_t r = 1; r <= 2 * warp && static_cast<double>(r) * each < most_nanoseconds; ++r)
      cases.push_back(with(r));
  }
  return cases;
}

}  // namespace assay
