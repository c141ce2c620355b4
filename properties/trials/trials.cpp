#include "properties/trials/trials.h"

#include <algorithm>

#include "properties/confirming.h"
#include "properties/fitting.h"
#include "properties/shrinking.h"
#include "properties/sight/sight_claims.h"

namespace assay {
namespace {

Verdict judge_counted(const Claim& claim, const Entry& entry, const Bench& bench, const Case& c,
                      double watchdog_seconds, const Effort& effort, Allowance& left) {
  Verdict verdict = bench.judge(claim, c, watchdog_seconds);
  const double cost = cost_of(c, claim, entry, effort);
  left.spend(cost);
  if (verdict.status == TrialStatus::hung) left.spend(work_of_hung + slowness_of_hung * cost);
  if (verdict.context_lost) left.spend(work_of_process(entry.backend));
  return verdict;
}

void count(const Verdict& verdict, ClaimResult& result) {
  if (result.remark.empty()) result.remark = verdict.remark;
  if (verdict.judged == 0 && !is_failure(verdict)) {
    ++result.empty;
    return;
  }
  ++result.cases;
  result.looked_at += verdict.looked_at;
  result.elements += verdict.judged;
  if (!verdict.worst || is_failure(verdict)) return;
  const double share = verdict.worst->error_gulps / verdict.allowed_gulps;
  if (result.allowed_gulps == 0 || share > result.worst_gulps / result.allowed_gulps) {
    result.worst_gulps = verdict.worst->error_gulps;
    result.allowed_gulps = verdict.allowed_gulps;
  }
}

bool are_of_one_family(const Claim& a, const Claim& b) {
  return a.family != nullptr && a.family == b.family;
}

// That a failure of a claim is another one's, which names it: its own trial of the same case shows
// it too.
std::optional<Interruption> interruption_by(const Claim& claim, const Entry& entry, const Case& c,
                                            const Verdict& verdict, const Bench& bench,
                                            double watchdog_seconds) {
  const Claim* const names = claim_that_names(entry, verdict);
  if (names == nullptr || names == &claim || exemption(*names, entry)) return std::nullopt;
  if (claim.is_about_huge) return std::nullopt;
  if (are_of_one_family(*names, claim)) return Interruption{names, c, verdict};
  const Case its = nearest_case(c, *names, entry);
  if (!names->excludes_case(its).empty()) return std::nullopt;
  Verdict its_verdict = bench.judge(*names, its, watchdog_seconds);
  if (claim_that_names(entry, its_verdict) != names) return std::nullopt;
  return Interruption{names, its, std::move(its_verdict)};
}

}  // namespace

Bench judging_whole(Bench bench) {
  if (bench.judge_whole) bench.judge = bench.judge_whole;
  return bench;
}

Trials::Trials(Claims claims, const Entry& entry, int wanted, const Budget& budget,
               const Bench& bench, const std::function<void()>& tick, const Effort& effort)
    : bench_(bench), tick_(tick), shrinks_(!budget.first_failure), effort_(effort) {
  for (const Claim* const claim : claims) {
    results_.push_back({.entry = entry,
                        .claim = claim,
                        .wanted = std::min({wanted, claim->most_cases, claim->enough_cases}),
                        .exempt = exemption(*claim, entry),
                        .watchdog_seconds = budget.watchdog_seconds});
  }
}

// A claim that was interrupted may be judged on other cases, where others of its family are anyway.
bool Trials::is_open(const ClaimResult& result) const {
  const bool is_over = result.interruption && (results_.size() == 1 || !shrinks_);
  return !result.failure && !result.exempt && result.harness_error.empty() && !is_over;
}
bool Trials::may_go_on() const {
  return std::any_of(results_.begin(), results_.end(), [&](const auto& r) { return is_open(r); });
}
bool Trials::wants_more(int cases) const {
  const bool all_refused = skips_ >= claim().most_cases;
  const int most = std::min(cases, claim().most_cases);
  return !all_refused && std::any_of(results_.begin(), results_.end(), [&](const ClaimResult& r) {
    return is_open(r) && r.cases < most;
  });
}
int Trials::cases() const {
  int most = 0;
  for (const ClaimResult& result : results_) most = std::max(most, result.cases);
  return most;
}

void Trials::run(const Case& c) {
  if (std::string reason = claim().excludes_case(c); !reason.empty())
    return skip({Skip::By::claim, std::move(reason)});
  const Verdict verdict = bench_.judge(claim(), c, results_.front().watchdog_seconds);
  if (verdict.status == TrialStatus::refused) return skip({Skip::By::variant, verdict.reason});
  for (ClaimResult& result : results_) {
    if (is_open(result)) enter(result, c, verdict);
  }
  if (verdict.status == TrialStatus::harness_error) return;
  judged_.push_back(c);
  if (verdict.crowd && !is_failure(verdict)) crowded_.push_back({c, *verdict.crowd});
  tick_();
}

void Trials::run_whole(const std::vector<Case>& cases) {
  bench_ = judging_whole(bench_);
  runs_whole_ = true;
  for (const Case& c : cases)
    if (may_go_on()) run(c);
}

void Trials::skip(const Skip& skip) {
  ++skips_;
  for (ClaimResult& result : results_) {
    if (!result.skipped) result.skipped = skip;
  }
}

void Trials::enter(ClaimResult& result, const Case& c, const Verdict& verdict) {
  if (verdict.status == TrialStatus::harness_error) {
    result.harness_error = verdict.reason;
    return;
  }
  if (!is_failure(verdict)) return count(verdict, result);
  auto interruption =
      interruption_by(*result.claim, entry(), c, verdict, bench_, result.watchdog_seconds);
  if (interruption) {
    interruption->is_of_whole = runs_whole_;
    if (!result.interruption) result.interruption = std::move(interruption);
    return;
  }
  count(verdict, result);
  result.failure =
      shrinks_
          ? examined(*result.claim, entry(), c, verdict, bench_, result.watchdog_seconds, judged_,
                     effort_)
          : Failure{.original = c, .shrunk = c, .original_verdict = verdict, .verdict = verdict};
}

std::vector<ClaimResult> Trials::finish() && {
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start_;
  for (ClaimResult& result : results_) {
    result.seconds = all.count() / static_cast<double>(results_.size());
    const bool has_enough = results_.size() > 1 && result.cases >= result.wanted;
    if (has_enough) result.interruption.reset();
  }
  return std::move(results_);
}

Failure examined(const Claim& claim, const Entry& entry, const Case& c, const Verdict& verdict,
                 const Bench& bench, double watchdog_seconds,
                 const std::vector<Case>& judged_before, const Effort& effort) {
  const auto smaller = [&](const Case& larger) { return smaller_cases(larger, claim, entry); };
  const auto judge = [&](const Case& x, double seconds, Allowance& left) {
    return judge_counted(claim, entry, bench, x, seconds, effort, left);
  };
  Allowance shrinking(work_of_shrinking), confirming(work_of_confirming);
  const auto judge_shrinking = [&](const Case& x, double seconds) {
    return judge(x, seconds, shrinking);
  };
  Failure failure{.original = c,
                  .shrunk = c,
                  .original_verdict = verdict,
                  .verdict = verdict,
                  .shrunk_fully = false};
  // One of many seconds stays as it is: it was aimed, with no more in it than it takes.
  if (!claim.is_about_huge && cost_of(c, claim, entry, effort) <= work_of_shrinking) {
    failure = shrink(c, verdict, watchdog_seconds, smaller, judge_shrinking, shrinking);
    failure = with_a_name(std::move(failure), watchdog_seconds,
                          richer_cases(failure.shrunk, claim, entry), judge_shrinking);
  }
  if (!bench.start_afresh) return failure;
  const auto judge_afresh = [&](const std::vector<Case>& cases, double seconds) -> Verdict {
    bench.start_afresh();
    confirming.spend(work_of_process(entry.backend));
    for (const Case& before : cases) {
      if (&before == &cases.back()) break;
      if (is_failure(judge(before, seconds, confirming))) return {};
    }
    return judge(cases.back(), seconds, confirming);
  };
  return confirmed(failure, judged_before, watchdog_seconds, smaller, judge_afresh, confirming);
}

void hand_over_interruptions(std::span<ClaimResult> results, const Bench& bench, bool shrinks) {
  for (ClaimResult& interrupted : results) {
    if (!interrupted.interruption || interrupted.status() != ClaimStatus::interrupted) continue;
    const auto& [names, c, verdict, is_of_whole] = *interrupted.interruption;
    const auto has_told = [names = names](const ClaimResult& r) {
      return r.failure && &r.broken() == names;
    };
    if (std::any_of(results.begin(), results.end(), has_told)) continue;
    const auto its = std::find_if(results.begin(), results.end(), [names = names](const auto& r) {
      return r.claim == names && !r.exempt && r.harness_error.empty();
    });
    ClaimResult& teller = its == results.end() ? interrupted : *its;
    const Bench own = is_of_whole ? judging_whole(bench) : bench;
    teller.failure =
        shrinks
            ? examined(*names, interrupted.entry, c, verdict, own, interrupted.watchdog_seconds)
            : Failure{.original = c, .shrunk = c, .original_verdict = verdict, .verdict = verdict};
    if (its == results.end()) teller.failure->names = names;
  }
}

}  // namespace assay
