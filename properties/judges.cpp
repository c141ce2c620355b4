#include "properties/judges.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace assay {
namespace {

bool has_output(const Verdict& verdict, const Output& output) {
  return verdict.status == TrialStatus::right ||
         (verdict.status == TrialStatus::wrong && !output.empty());
}

Verdict compare_outputs(const Case& c, const Output& first, const char* name_of_first,
                        const Output& second, const char* name_of_second, Fault if_they_differ) {
  const auto judged = static_cast<std::int64_t>(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const float x = first[i], y = second[i];
    const bool both_nan = std::isnan(x) && std::isnan(y);  // nobody promises which NaN
    if (both_nan || std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y)) continue;
    const auto at = static_cast<std::int64_t>(i);
    return {.status = TrialStatus::wrong,
            .finding = {if_they_differ},
            .reason = fmt::format("row {}, column {} is {:.9g} {} and {:.9g} {}", at / c.n,
                                  at % c.n, x, name_of_first, y, name_of_second),
            .judged = judged};
  }
  return {.judged = judged};
}

}  // namespace

std::function<Verdict(const Entry&, const Case&, const Resources&)> by_trial(const Plan& plan) {
  return [plan](const Entry& entry, const Case& c, const Resources& resources) {
    return run_trial(entry, c, plan, resources);
  };
}

Verdict compare_runs(const Case& c, const std::vector<Run>& runs, Fault if_they_differ,
                     const Resources& resources) {
  Output first;
  Verdict verdict;
  for (std::size_t i = 0; i < runs.size() && verdict.status == TrialStatus::right; ++i) {
    Output output;
    Verdict of_run = run_trial(runs[i].entry, c, runs[i].plan, resources, &output);
    if (!has_output(of_run, output)) return of_run;
    if (i == 0) {
      first = std::move(output);
    } else {
      verdict = compare_outputs(c, first, runs[0].name, output, runs[i].name, if_they_differ);
    }
    verdict.remark = std::move(of_run.remark);
  }
  return verdict;
}

Verdict judge_runs(const Case& c, const std::vector<Run>& runs, const Resources& resources) {
  Verdict verdict;
  for (const Run& run : runs) {
    verdict = run_trial(run.entry, c, run.plan, resources);
    if (verdict.status == TrialStatus::right) continue;
    verdict.reason += fmt::format(" ({})", run.name);
    break;
  }
  return verdict;
}

}  // namespace assay
