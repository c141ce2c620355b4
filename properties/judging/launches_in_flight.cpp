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

// Whether kernels have variables alone to keep something in, which host code copies or waits for
// nothing of.
bool keeps_variables_alone(const Entry& entry, const Machine& machine, bool leaves_something) {
  return entry.backend == Backend::ptx && machine.kept_bytes() == 0 &&
         machine.kept_handles() == 0 && leaves_something;
}

// How many launches of a case this process has the time for: a third of it where that leaves
// nothing behind, as a launch does that does not use what is kept, or leaves what was there. With
// variables alone a launch costs what it computes, and more of them come.
int affordable_launches(const Entry& entry, const Case& c, bool leaves_something,
                        bool are_variables) {
  constexpr int least = 9;  // a ring has 4 to 2048 slots
  constexpr double usual = 3e8, most_for_few = 7e8, of_process = 1e9, on_executor = 2e8;
  const int most = are_variables ? 2200 : 1100;
  const double budget = entry.backend != Backend::ptx ? on_executor
                        : are_variables               ? 2.4 * of_process
                        : leaves_something            ? of_process
                                                      : of_process / 3;
  thread_local double spent = 0;
  const double each = cost_of(c, claim_named("within_bound"), entry);
  int times = static_cast<int>(std::min<double>(most, (are_variables ? 4 : 1) * usual / each));
  if (times < least && leaves_something && least * each < most_for_few) times = least;
  if (times < least || spent + times * each > budget) return 0;
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
  if (verdict.status != TrialStatus::right || !on_cpu) return verdict;
  const Machine& machine = machine_of(entry.backend, resources);
  const bool leaves_something = hash() != before;
  if (!leaves_something && machine.hash_of_kept_memory() == 0) return verdict;
  thread_local int cases_left = 12;  // of a process, for A and B that both read
  if (entry.backend == Backend::ptx && cases_left-- > 0)
    for (const Shared shared : {Shared::a, Shared::b}) {
      plan.shared_operand = shared;
      Verdict sharing = judge_pair(entry, c, plan, resources);
      if (is_failure(sharing)) return sharing;
    }
  plan.shared_operand = std::nullopt;
  const bool are_variables = keeps_variables_alone(entry, machine, leaves_something);
  plan.in_flight = affordable_launches(entry, c, leaves_something, are_variables);
  plan.may_be_fewer_in_flight = !are_variables;
  if (plan.in_flight == 0) return verdict;
  Verdict many = judge_pair(entry, c, plan, resources);
  if (!is_failure(many)) return verdict;
  many.reason += fmt::format(", with up to {} launches under way", plan.in_flight + 1);
  return many;
}

}  // namespace assay
