#include "regress/timing_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oracle/case.h"
#include "regress/decide/statistics.h"

namespace assay {
namespace {

// Those that stayed within 3 % between processes of one H200. The time of an empty launch did not
// (8 %): it is recorded only.
constexpr const char* steady_canaries[] = {"arithmetic_flops_per_cycle", "cache_gb_s",
                                           "memory_gb_s"};

}  // namespace

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
  if (!may_be_warm && !(timing.cold >= least_coldness)) {
    return {.fault = fmt::format("its operands were still in the cache: they took {:.2g} times as "
                                 "long to reach as those that are",
                                 timing.cold)};
  }
  Replicate replicate = reduce(timing.rounds);
  if (anchor_is_baseline && !replicate.to_anchor) replicate.to_anchor = replicate.to_baseline;
  return replicate;
}

Ratio ratio_of(const std::vector<double>& logs) {
  if (logs.empty()) return {};
  const Summary s = summarize(logs);
  if (s.count == 1) return {std::exp(s.mean), std::exp(s.mean), std::exp(s.mean), 1};
  return {std::exp(s.mean), std::exp(lower_bound(s, 0.975)), std::exp(upper_bound(s, 0.975)),
          static_cast<int>(logs.size())};
}

const CellRecord* record_of(const std::map<std::string, VariantBaseline>& baselines,
                            const CellJob& job) {
  const auto found = baselines.find(job.variant);
  if (found == baselines.end()) return nullptr;
  for (const CellRecord& record : found->second.cells) {
    if (record.problem == job.problem) return &record;
  }
  return nullptr;
}

int launches_for(double launch_us) {
  constexpr double least_sample_us = 250;  // below 200 it shows that the GPU's clock has steps
  return std::clamp(static_cast<int>(std::ceil(least_sample_us / launch_us)), 1, most_launches);
}

double tflops(const std::string& problem, double time_us) {
  return 2 * parse_case(problem).multiply_adds() / time_us * 1e-6;
}

}  // namespace assay
