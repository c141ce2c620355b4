#include "properties/trials/crowding.h"

#include <algorithm>

#include "properties/fitting.h"

namespace assay {
namespace {

// With as many more tiles as it takes that the device has no room for all that wait, as far as
// their number goes with it: along one size, or the other where the needs set a limit to that. In
// the order in which a grid is started.
Case crowded_out(const Trials::Crowded& crowded, std::int64_t Case::*along, const Claim& claim,
                 const Entry& entry) {
  const auto& [together, fit] = crowded.crowd;
  const std::int64_t times = std::max<std::int64_t>(2, 1 + fit / together);
  const auto grown = [&](std::int64_t Case::*size) {
    Case c = crowded.c;
    const Tile& tile = entry.variant.tile;
    c.*size = round_up(c.*size, size == &Case::m ? tile.m : tile.n) * times;
    c.seed -= c.seed % 3;
    return nearest_case(c, claim, entry);
  };
  const Case c = grown(along);
  return c.*along > crowded.c.*along ? c : grown(along == &Case::m ? &Case::n : &Case::m);
}

}  // namespace

void crowd_out(Trials& trials, const Claim& claim, const Entry& entry, const Effort& effort) {
  constexpr double most_cost = 4e9;
  constexpr int most_attempts = 6;
  if (!claim.takes_crowds || trials.crowded().empty()) return;
  const auto cost = [&](const Case& c) { return cost_of(c, claim, entry, effort); };
  std::int64_t Case::*along = &Case::m;
  Case next = crowded_out(trials.crowded().front(), along, claim, entry);
  for (const Trials::Crowded& crowded : trials.crowded()) {
    for (const auto size : {&Case::m, &Case::n}) {
      const Case c = crowded_out(crowded, size, claim, entry);
      if (cost(c) < cost(next)) next = c, along = size;
    }
  }
  for (int i = 0; i < most_attempts && trials.may_go_on() && cost(next) < most_cost; ++i) {
    const std::size_t before = trials.crowded().size();
    trials.run(next);
    if (trials.crowded().size() == before) return;
    next = crowded_out(trials.crowded().back(), along, claim, entry);
  }
}

}  // namespace assay
