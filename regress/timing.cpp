#include "regress/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace assay {
namespace {

// Those that stayed within 3 % between processes of one H200. The time of an empty launch did not
// (8 %): it is recorded only.
constexpr const char* steady_canaries[] = {"arithmetic_flops_per_cycle", "cache_gb_s",
                                           "memory_gb_s"};

}  // namespace

void sort_by_problem(std::vector<CellJob>& jobs) {
  std::ranges::stable_sort(jobs, {},
                           [](const CellJob& job) { return to_string(job.cell.problem); });
}

int launches_for(double launch_us) {
  constexpr double least_sample_us = 250;  // below 200 it shows that the GPU's clock has steps
  return std::clamp(static_cast<int>(std::ceil(least_sample_us / launch_us)), 1, most_launches);
}

void require_fit(const ProcessTiming& timing) {
  if (!timing.unfit.empty()) throw UnfitEnvironment(timing.unfit);
}

std::string why_unusable(const ProcessTiming& timing, const std::map<std::string, double>& known) {
  if (!timing.unfit.empty()) return timing.unfit;
  for (const char* name : steady_canaries) {
    const auto then = known.find(name), now = timing.canaries.find(name);
    if (then == known.end() || now == timing.canaries.end()) continue;
    const double apart = now->second / then->second - 1;
    if (!(std::abs(apart) <= canaries_apart)) {
      return fmt::format("the canary {} is {:+.1f} % off: {:.4g}, and {:.4g} at acceptance", name,
                         100 * apart, now->second, then->second);
    }
  }
  return "";
}

Replicate replicate_of(const CellTiming& timing, bool anchor_is_baseline, bool may_be_warm) {
  if (!timing.fault.empty()) return {.fault = timing.fault};
  if (!may_be_warm && !timing.cell.host && !(timing.cold >= least_coldness)) {
    return {.fault = fmt::format("its operands were still in the cache: they took {:.2g} times as "
                                 "long to reach as those that are",
                                 timing.cold)};
  }
  Replicate replicate = reduce(timing.rounds);
  if (anchor_is_baseline && !replicate.to_anchor) replicate.to_anchor = replicate.to_baseline;
  return replicate;
}

}  // namespace assay
