#include "properties/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "base/errors.h"
#include "oracle/gpus.h"
#include "properties/calibration.h"
#include "properties/confirming.h"
#include "properties/fitting.h"
#include "properties/generators.h"
#include "properties/lanes.h"
#include "properties/naming.h"
#include "properties/shrinking.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

// Where cases of one entry are judged: here or in a worker.
struct Bench {
  std::function<Verdict(const Claim&, const Case&, double watchdog_seconds)> judge;
  std::function<void()>
      start_afresh;  // a process for the next case; empty where there is only this
};

// The trials of one claim about one entry: counts what they show, and stops at the first failure.
class Trials {
 public:
  Trials(const Claim& claim, const Entry& entry, int wanted, const Budget& budget,
         const Bench& bench, const std::function<void()>& tick, const Effort& effort = {})
      : claim_(claim),
        bench_(bench),
        tick_(tick),
        shrinks_(!budget.first_failure),
        effort_(effort) {
    result_.entry = entry;
    result_.claim = &claim;
    result_.wanted = std::min(wanted, claim.most_cases);
    result_.watchdog_seconds = budget.watchdog_seconds;
    result_.exempt = exemption(claim, entry);
  }

  // While fewer than `cases` are judged, and it is not in vain to go on.
  bool wants_more(int cases) const {
    const bool all_refused = skips_ >= claim_.most_cases;
    return may_go_on() && !all_refused && result_.cases < std::min(cases, claim_.most_cases);
  }
  bool may_go_on() const {
    return !result_.failure && !result_.exempt && result_.harness_error.empty();
  }
  int cases() const { return result_.cases; }

  void run(const Case& c) {
    if (std::string reason = claim_.excludes_case(c); !reason.empty())
      return skip({Skip::By::claim, std::move(reason)});
    const Verdict verdict = judge(c, result_.watchdog_seconds);
    if (verdict.status == TrialStatus::refused) return skip({Skip::By::variant, verdict.reason});
    if (verdict.status == TrialStatus::harness_error) {
      result_.harness_error = verdict.reason;
      return;
    }
    count(verdict);
    if (is_failure(verdict)) result_.failure = examine(c, verdict);
    judged_.push_back(c);
    tick_();
  }

  ClaimResult finish() && {
    result_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return std::move(result_);
  }

 private:
  Verdict judge(const Case& c, double watchdog_seconds) const {
    return bench_.judge(claim_, c, watchdog_seconds);
  }

  void skip(Skip skip) {
    ++skips_;
    if (!result_.skipped) result_.skipped = std::move(skip);
  }

  void count(const Verdict& verdict) {
    if (result_.remark.empty()) result_.remark = verdict.remark;
    if (verdict.judged == 0 && !is_failure(verdict)) {
      ++result_.empty;
      return;
    }
    ++result_.cases;
    result_.looked_at += verdict.looked_at;
    result_.elements += verdict.judged;
    if (!verdict.worst || is_failure(verdict)) return;
    const double share = verdict.worst->error_gulps / verdict.allowed_gulps;
    if (result_.allowed_gulps == 0 || share > result_.worst_gulps / result_.allowed_gulps) {
      result_.worst_gulps = verdict.worst->error_gulps;
      result_.allowed_gulps = verdict.allowed_gulps;
    }
  }

  Verdict judge_counted(const Case& c, double watchdog_seconds, Allowance& left) const {
    Verdict verdict = judge(c, watchdog_seconds);
    const double cost = cost_of(c, claim_, result_.entry, effort_);
    left.spend(cost);
    if (verdict.status == TrialStatus::hung) left.spend(work_of_hung + slowness_of_hung * cost);
    if (verdict.context_lost) left.spend(work_of_process(result_.entry.backend));
    return verdict;
  }
  Verdict judge_afresh(const std::vector<Case>& cases, double watchdog_seconds,
                       Allowance& left) const {
    bench_.start_afresh();
    left.spend(work_of_process(result_.entry.backend));
    for (const Case& c : cases) {
      if (&c == &cases.back()) break;
      if (is_failure(judge_counted(c, watchdog_seconds, left))) return {};
    }
    return judge_counted(cases.back(), watchdog_seconds, left);
  }

  Failure examine(const Case& c, const Verdict& verdict) const {
    if (!shrinks_)
      return {.original = c, .shrunk = c, .original_verdict = verdict, .verdict = verdict};
    const auto smaller = [&](const Case& larger) {
      return smaller_cases(larger, claim_, result_.entry);
    };
    Allowance shrinking(work_of_shrinking), confirming(work_of_confirming);
    const auto judge_shrinking = [&](const Case& x, double seconds) {
      return judge_counted(x, seconds, shrinking);
    };
    Failure failure =
        shrink(c, verdict, result_.watchdog_seconds, smaller, judge_shrinking, shrinking);
    failure = with_a_name(std::move(failure), result_.watchdog_seconds,
                          richer_cases(failure.shrunk, claim_, result_.entry), judge_shrinking);
    if (!bench_.start_afresh) return failure;
    return confirmed(
        failure, judged_, result_.watchdog_seconds, smaller,
        [&](const std::vector<Case>& cases, double seconds) {
          return judge_afresh(cases, seconds, confirming);
        },
        confirming);
  }

  const Claim& claim_;
  const Bench& bench_;
  const std::function<void()>& tick_;
  bool shrinks_;
  const Effort effort_;
  int skips_ = 0;
  std::vector<Case> judged_;  // before this one, in this order
  ClaimResult result_;
  Clock::time_point start_ = Clock::now();
};

// What the runs of each variant's watched build showed, on whatever backend it is judged. They show
// the same each time: one of these serves every check of a process.
class Explorations {
 public:
  using Explore = std::function<Exploration(const Entry&)>;
  std::shared_ptr<const Exploration> of(const Entry& entry, const Explore& explore) {
    const std::shared_ptr<Slot> slot = slot_of(entry);
    std::call_once(slot->once, [&] { slot->exploration = explore(entry); });
    return {slot, &slot->exploration};
  }

 private:
  struct Slot {
    std::once_flag once;
    Exploration exploration;
  };
  std::shared_ptr<Slot> slot_of(const Entry& entry) {
    const std::lock_guard lock(mutex_);
    auto& slot = slots_[{entry.variant.name, entry.watched_launch}];
    if (slot == nullptr) slot = std::make_shared<Slot>();
    return slot;
  }
  std::mutex mutex_;
  std::map<std::pair<std::string, decltype(Entry::watched_launch)>, std::shared_ptr<Slot>> slots_;
};

void run_past_failures(Trials& trials, const Claim& claim, const Entry& entry,
                       const std::vector<CorpusLine>& corpus) {
  for (const CorpusLine& line : corpus) {
    if (line.claim != &claim || !trials.may_go_on()) continue;
    try {
      trials.run(nearest_case(line.c, claim, entry));
    } catch (const Unavailable&) {
      throw;
    } catch (const BadInput& error) {
      throw BadInput(fmt::format(
          "the corpus' '{}: {}' cannot be judged here: {}; delete the line, or use --no-corpus",
          claim.name, to_string(line.c), error.what()));
    }
  }
}

// A drawn case that was skipped says nothing about the variant. Where a claim takes only a few
// large cases and this machine can hold none, it does not apply here.
void settle_skips(ClaimResult& result) {
  const bool takes_few = result.claim->most_cases < Claim::as_many_as_asked_for;
  if (takes_few && result.cases == 0 && result.skipped && result.harness_error.empty())
    result.exempt = Skip{Skip::By::machine, result.skipped->reason};
  result.skipped.reset();
}

ClaimResult check_pair(const Claim& claim, const Entry& entry, const Budget& budget,
                       const Bench& bench, const std::vector<CorpusLine>& corpus,
                       const Exploration& exploration, const std::function<void()>& tick) {
  Trials trials(claim, entry, budget.cases, budget, bench, tick, exploration.hints.effort);
  run_past_failures(trials, claim, entry, corpus);
  for (const Case& c : aimed_cases(exploration, claim, entry)) {
    if (trials.may_go_on()) trials.run(c);
  }
  const int past = trials.cases();  // beyond the budget
  auto large = large_cases(claim, entry, budget.cases, budget.seed, exploration.hints);
  const auto extreme = extreme_cases(claim, entry, budget.cases, budget.seed, exploration.hints);
  large.insert(large.end(), extreme.begin(), extreme.end());
  const int drawn = past + std::max(1, budget.cases - static_cast<int>(large.size()));
  const auto dear = dear_aimed_cases(exploration, claim, entry);
  const auto draw = case_generator(
      claim, entry,
      budget.seed * 1000003 +
          std::hash<std::string>{}(fmt::format("{} {}", entry.variant.name, claim.name)),
      exploration.hints);
  const int most_draws = 3 * budget.cases + 20;  // some have an empty C, with nothing to judge
  for (int i = 0; i < most_draws && trials.wants_more(drawn); ++i) trials.run(draw());
  for (const Case& c : large) {  // last: a small case that fails is found, and shrunk, sooner
    if (trials.wants_more(past + budget.cases)) trials.run(c);
  }
  for (const Case& c : dear) {
    if (trials.may_go_on()) trials.run(c);
  }
  ClaimResult result = std::move(trials).finish();
  settle_skips(result);
  return result;
}

ClaimResult check_pair_on(const std::vector<Case>& cases, const Claim& claim, const Entry& entry,
                          const Budget& budget, const Bench& bench) {
  const std::function<void()> no_tick = [] {};
  const int count = static_cast<int>(cases.size());
  Trials trials(claim, entry, count, budget, bench, no_tick);
  for (const Case& c : cases) {
    if (trials.wants_more(count)) trials.run(c);
  }
  ClaimResult result = std::move(trials).finish();
  if (result.empty > 0) result.skipped = Skip{Skip::By::empty_c, "C is empty: nothing to judge"};
  return result;
}

ClaimResult result_after_a_failure(const Claim& claim, const Entry& entry) {
  return {.entry = entry,
          .claim = &claim,
          .exempt = Skip{Skip::By::claim, "something had failed before"}};
}

std::size_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

using CheckPair = std::function<ClaimResult(const Entry&, const Claim&, const Bench&,
                                            const Explorations::Explore&)>;

// The pairs on a GPU, each GPU serving a few threads only, and all others.
std::vector<Lane> lanes_of(const std::vector<Entry>& entries, std::size_t claims,
                           std::size_t jobs) {
  Lane gpu{.threads = jobs}, cpu{.threads = jobs};
  for (std::size_t i = 0; i < entries.size() * claims; ++i)
    (entries[i / claims].backend == Backend::cuda ? gpu : cpu).items.push_back(i);
  if (!gpu.items.empty() && jobs > processes_on_a_gpu)
    gpu.threads = std::min<std::size_t>(jobs, processes_on_a_gpu * std::max(1, gpu_count()));
  return {gpu, cpu};
}

// Every pair of entry and claim, each thread with a worker of its own. Workers spread over the
// GPUs; without workers all happens on the first.
std::vector<ClaimResult> for_each_pair(const std::vector<Entry>& entries,
                                       const std::vector<const Claim*>& claims,
                                       const Budget& budget, const CheckPair& check_pair) {
  const std::size_t jobs = budget.first_failure ? 1
                           : budget.jobs > 0    ? static_cast<std::size_t>(budget.jobs)
                                                : cores();
  const bool in_workers = !budget.worker.arguments.empty();
  std::vector<ClaimResult> results(entries.size() * claims.size());
  std::vector<std::unique_ptr<Worker>> workers(in_workers ? jobs : 0);
  for (std::size_t t = 0; t < workers.size(); ++t)
    workers[t] = std::make_unique<Worker>(budget.worker, t);

  bool stopped = false;
  in_lanes(lanes_of(entries, claims.size(), jobs), [&](std::size_t i, std::size_t t) {
    const Entry& entry = entries[i / claims.size()];
    if (stopped) {
      results[i] = result_after_a_failure(*claims[i % claims.size()], entry);
      return;
    }
    Resources resources;
    if (in_workers && entry.backend == Backend::cuda)
      resources.gpu = static_cast<int>(t) % std::max(1, gpu_count());
    Bench bench;
    bench.judge = [&](const Claim& claim, const Case& c, double watchdog) {
      Resources granted = resources;
      granted.watchdog_seconds = watchdog;
      return verdict_of([&] {
        return in_workers ? workers[t]->judge(entry, claim, c, granted)
                          : claim.judge(entry, c, granted);
      });
    };
    Calibration::of(entry.backend, resources.gpu).require([&](const Case& c) {
      return bench.judge(calibration(), c, budget.watchdog_seconds);
    });
    const auto explore_here = [&](const Entry& e) {
      return in_workers ? workers[t]->explore(e) : explore(e);
    };
    if (in_workers) bench.start_afresh = [&] { workers[t]->start_afresh(); };
    // So that nothing that an earlier pair left decides; on a GPU a process takes too long to
    // start.
    if (in_workers && entry.backend != Backend::cuda) bench.start_afresh();
    results[i] = check_pair(entry, *claims[i % claims.size()], bench, explore_here);
    if (budget.first_failure) stopped = results[i].failure.has_value();
  });
  return results;
}

// Of each entry the failure that leads says behind which branch its fault lies.
void name_branches(std::vector<ClaimResult>& results, std::size_t claims, const Budget& budget) {
  const bool in_workers = !budget.worker.arguments.empty();
  Worker worker(budget.worker, 0);
  for (std::size_t at = 0; at < results.size() && !budget.first_failure; at += claims) {
    const auto of_entry = std::span(results).subspan(at, claims);
    const ClaimResult* const lead = lead_of(of_entry);
    if (lead == nullptr || lead->entry.watched_launch == nullptr) continue;
    if (!lead->failure->before.empty() || !lead->failure->reproduced) continue;
    const Entry& entry = lead->entry;
    const Verdicts verdicts = verdicts_beside(*lead, [&](const Case& c, double watchdog_seconds) {
      const Resources resources{.watchdog_seconds = watchdog_seconds};
      return verdict_of([&] {
        return in_workers ? worker.judge(entry, *lead->claim, c, resources)
                          : lead->claim->judge(entry, c, resources);
      });
    });
    of_entry[static_cast<std::size_t>(lead - of_entry.data())].failure->branch =
        in_workers ? worker.branch_behind(entry, verdicts) : branch_behind(entry, verdicts);
  }
}

}  // namespace

std::vector<ClaimResult> check(const std::vector<Entry>& entries,
                               const std::vector<const Claim*>& claims, const Budget& budget,
                               const std::vector<CorpusLine>& corpus, const Progress& progress) {
  std::mutex mutex;
  int done = 0;
  const int expected = static_cast<int>(entries.size() * claims.size()) * budget.cases;
  const std::function<void()> tick = [&] {
    if (!progress) return;
    const std::lock_guard lock(mutex);
    progress(++done, expected);
  };
  static Explorations explorations;
  std::vector<ClaimResult> results = for_each_pair(
      entries, claims, budget,
      [&](const Entry& entry, const Claim& claim, const Bench& bench, const auto& explore) {
        const auto exploration = explorations.of(entry, explore);
        ClaimResult result = check_pair(claim, entry, budget, bench, corpus, *exploration, tick);
        result.exploration = exploration;
        return result;
      });
  name_branches(results, claims.size(), budget);
  return results;
}

std::vector<ClaimResult> check_case(const std::vector<Entry>& entries,
                                    const std::vector<const Claim*>& claims,
                                    const std::vector<Case>& cases, const Budget& budget) {
  std::vector<ClaimResult> results =
      for_each_pair(entries, claims, budget,
                    [&](const Entry& entry, const Claim& claim, const Bench& bench, const auto&) {
                      return check_pair_on(cases, claim, entry, budget, bench);
                    });
  name_branches(results, claims.size(), budget);
  return results;
}

}  // namespace assay
