#include "properties/judging/no_memory.h"

#include "oracle/machine.h"
#include "properties/claims.h"
#include "properties/draws/cost.h"
#include "properties/fitting.h"

namespace assay {
namespace {

// Which a buffer that was kept from the call before is too small for.
Case larger_problem(Case c, const Entry& entry) {
  c.m *= 2, c.n *= 2;
  return fitted(c, entry.variant.needs);
}

}  // namespace

Verdict judge_without_memory(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int most_cases = 16;  // of a process
  constexpr double most_nanoseconds = 5e7;
  thread_local int judged = 0;
  const Verdict right{.judged = 1};
  const bool is_cheap = cost_of(c, claim_named("within_bound"), entry) <= most_nanoseconds;
  if (judged >= most_cases || !is_cheap) return right;
  if (run_trial(entry, c, {}, resources).status != TrialStatus::right) return right;
  const Machine& machine = machine_of(entry.backend, resources);
  const Plan plan{.no_memory = true};
  Case tried = c;
  Verdict verdict = run_trial(entry, tried, plan, resources);
  if (machine.allocations() == 0) {
    tried = larger_problem(c, entry);
    verdict = run_trial(entry, tried, plan, resources);
    if (machine.allocations() == 0) return right;
  }
  ++judged;
  if (is_failure(verdict)) {
    verdict.reason += ", where the device has no memory left";
    return verdict;
  }
  Verdict after = run_trial(entry, tried, {}, resources);
  if (!is_failure(after) || after.finding.fault == Fault::launch_failed) return right;
  after.finding = {Fault::keeps_state};
  after.diagnosis = "it keeps something of a launch that failed";
  after.reason += ", after a launch for which the device had no memory";
  return after;
}

}  // namespace assay
