#include "properties/draws/remainders.h"

#include <algorithm>

#include "properties/draws/cost.h"
#include "properties/fitting.h"

namespace assay {

std::vector<Case> remainders_behind_thresholds(const Claim& claim, const Entry& entry,
                                               const Hints& hints) {
  constexpr std::int64_t least = 96, most = 4096, warp = 32;
  constexpr std::size_t most_thresholds = 2;
  constexpr double most_nanoseconds = 2e8;  // for each
  std::vector<Case> cases;
  if (!claim.takes_extreme_sizes) return cases;
  std::vector<std::int64_t> thresholds;  // those that comparisons met come before what is only read
  for (const std::int64_t size : hints.sizes) {
    const bool is_known = std::find(thresholds.begin(), thresholds.end(), size) != thresholds.end();
    const bool is_meant = size >= least && size <= most;
    if (is_meant && !is_known && thresholds.size() < most_thresholds) thresholds.push_back(size);
  }
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
