#include "properties/judging/launches_in_flight.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/machine.h"
#include "properties/claims.h"
#include "properties/draws/cost.h"
#include "properties/judging/variables.h"

namespace assay {
namespace {

// The first of two launches is judged by its values, which do not tell that the other one is what
// disturbed it; nor does what both touched tell whether one launch is at fault by itself.
Verdict judge_pair(const Entry& entry, const Case& c, const Plan& plan,
                   const Resources& resources) {
  Verdict verdict = run_trial(entry, c, plan, resources);
  const Fault fault = verdict.finding.fault;
  const bool may_be_of_both = verdict.status == TrialStatus::wrong || fault == Fault::other_stream;
  if (!may_be_of_both || fault == Fault::launches_disturb) return verdict;
  if (run_trial(entry, c, {}, resources).status != TrialStatus::right) return verdict;
  const Verdict disturbed = *launches_disturb();
  verdict.finding = disturbed.finding;
  verdict.diagnosis = disturbed.diagnosis;
  return verdict;
}

// How many launches of a case this process has the time for.
int affordable_launches(const Entry& entry, const Case& c) {
  constexpr int most = 2200, least = 9;  // a ring has 4 to 2048 slots
  constexpr double most_nanoseconds = 1.2e9;
  const double of_process = entry.backend == Backend::ptx ? 2.4e9 : 2e8;
  thread_local double spent = 0;
  const double each = cost_of(c, claim_named("within_bound"), entry);
  const int times =
      static_cast<int>(std::min<double>(most, std::min(most_nanoseconds, of_process) / each));
  if (times < least || spent + times * each > of_process) return 0;
  spent += times * each;
  return times;
}

}  // namespace

Verdict judge_two_streams(const Entry& entry, const Case& c, const Resources& resources) {
  const bool on_cpu = entry.backend == Backend::simt || entry.backend == Backend::ptx;
  const auto hash = [&] { return on_cpu ? hash_of_kept(entry, resources) : 0; };
  const std::uint64_t before = hash();
  Plan plan{.setting = Setting::two_streams};
  Verdict verdict = judge_pair(entry, c, plan, resources);
  // Else it keeps nothing, or does not use that for this problem.
  const bool leaves_something = hash() != before;
  if (verdict.status != TrialStatus::right || !leaves_something) return verdict;
  if (entry.backend == Backend::ptx)
    for (const Shared shared : {Shared::nothing, Shared::a, Shared::b}) {
      plan.shared_operand = shared;
      Verdict sharing = judge_pair(entry, c, plan, resources);
      if (is_failure(sharing)) return sharing;
    }
  plan.shared_operand = std::nullopt;
  plan.in_flight = affordable_launches(entry, c);
  if (plan.in_flight == 0) return verdict;
  Verdict many = judge_pair(entry, c, plan, resources);
  if (!is_failure(many)) return verdict;
  many.reason += fmt::format(", with {} launches under way", plan.in_flight + 1);
  return many;
}

}  // namespace assay
