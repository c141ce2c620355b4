#include "properties/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "base/errors.h"
#include "oracle/gpus.h"
#include "properties/calibration.h"
#include "properties/draws/changes.h"
#include "properties/draws/remainders.h"
#include "properties/draws/structures.h"
#include "properties/fitting.h"
#include "properties/generators.h"
#include "properties/judging/parts.h"
#include "properties/lanes.h"
#include "properties/naming.h"
#include "properties/trials/crowding.h"
#include "properties/trials/trials.h"

namespace assay {
namespace {

// What the runs of each variant's watched build showed, on whatever backend it is judged. They show
// the same each time: one of these serves every check of a process.
class Explorations {
 public:
  using Explore = std::function<Exploration(const Entry&)>;
  std::shared_ptr<const Exploration> of(const Entry& judged, const Explore& explore) {
    const Entry entry = explored(judged);
    const std::shared_ptr<Slot> slot = slot_of(entry);
    std::call_once(slot->once, [&] { slot->exploration = explore(entry); });
    return {slot, &slot->exploration};
  }

 private:
  struct Slot {
    std::once_flag once;
    Exploration exploration;
  };
  // A variant that the executor cannot run is watched as nvcc compiled it, for a GPU too.
  static Entry explored(const Entry& entry) {
    if (entry.watched_launch != nullptr || entry.backend != Backend::cuda) return entry;
    try {
      return entry_named(entry.variant.name, Backend::ptx);
    } catch (const std::out_of_range&) {
      return entry;
    }
  }
  std::shared_ptr<Slot> slot_of(const Entry& entry) {
    const std::lock_guard lock(mutex_);
    auto& slot =
        slots_[{entry.variant.name, entry.watched_launch.address(), entry.backend == Backend::ptx}];
    if (slot == nullptr) slot = std::make_shared<Slot>();
    return slot;
  }
  std::mutex mutex_;
  std::map<std::tuple<std::string, const void*, bool>, std::shared_ptr<Slot>> slots_;
};

void run_past_failures(Trials& trials, Claims claims, const Entry& entry,
                       const std::vector<CorpusLine>& corpus) {
  for (const CorpusLine& line : corpus) {
    const bool is_of_these = std::find(claims.begin(), claims.end(), line.claim) != claims.end();
    if (!is_of_these || !trials.may_go_on()) continue;
    try {
      trials.run(nearest_case(line.c, *line.claim, entry));
    } catch (const Unavailable&) {
      throw;
    } catch (const BadInput& error) {
      throw BadInput(fmt::format(
          "the corpus' '{}: {}' cannot be judged here: {}; delete the line, or use --no-corpus",
          line.claim->name, to_string(line.c), error.what()));
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

int cases_of(const Claim& claim, const Entry& entry, int asked) {
  return std::max(1, static_cast<int>(share_of_cases(claim, entry) * asked));
}

void run_all(Trials& trials, const std::vector<Case>& cases) {
  for (const Case& c : cases)
    if (trials.may_go_on()) trials.run(c);
}

// What is judged before anything is drawn: a claim's own cases, and those that are aimed.
void run_aimed(Trials& trials, const Claim& claim, const Entry& entry, int cases,
               const Budget& budget, const Exploration& exploration) {
  if (claim.own_cases != nullptr) {
    constexpr int most_in_vain = 8;  // the others would hardly say more
    for (const Case& c : claim.own_cases(entry, budget.seed))
      if (trials.may_go_on() && trials.skips() < most_in_vain) trials.run(c);
  }
  run_all(trials, aimed_cases(exploration, claim, entry));
  for (const auto& sequence : aimed_sequences(exploration, claim, entry)) run_all(trials, sequence);
  run_all(trials, one_thing_changed(claim, entry, cases, budget.seed));
  run_all(trials, structured_cases(claim, entry, cases, budget.seed, exploration.hints.effort));
}

// Some tiles of most variants, and few slices.
Case made_small(Case c, const Claim& claim, const Entry& entry) {
  constexpr std::int64_t most_side = 150, most_k = 64;
  c.m = std::min(c.m, most_side), c.n = std::min(c.n, most_side), c.k = std::min(c.k, most_k);
  return nearest_case(c, claim, entry);
}

// Of the budget's cases all but those that are large, which come afterwards.
void run_drawn(Trials& trials, const Claim& claim, const Entry& entry, int cases, std::size_t large,
               const Budget& budget, const Hints& hints) {
  const int enough = trials.cases() + std::max(1, cases - static_cast<int>(large));
  const std::string name =
      fmt::format("{} {}", entry.variant.name, claim.family ? claim.family : claim.name);
  const auto draw =
      case_generator(claim, entry, budget.seed * 1000003 + std::hash<std::string>{}(name), hints);
  // Some have an empty C, with nothing to judge.
  const int most_draws = claim.own_cases != nullptr ? 0 : 3 * cases + 20;
  for (int i = 0; i < most_draws && trials.wants_more(enough); ++i) {
    const Case c = draw();
    trials.run(budget.small_alone ? made_small(c, claim, entry) : c);
  }
}

std::vector<ClaimResult> check_claims(Claims claims, const Entry& entry, const Budget& budget,
                                      const Bench& bench, const std::vector<CorpusLine>& corpus,
                                      const Exploration& exploration,
                                      const std::function<void()>& tick) {
  const Claim& claim = *claims.front();  // what it says of cases, all of its family say
  const int cases = cases_of(claim, entry, budget.cases);
  const Hints& hints = exploration.hints;
  Trials trials(claims, entry, cases, budget, bench, tick, hints.effort);
  if (!trials.may_go_on()) return std::move(trials).finish();  // none says anything about it
  if (budget.small_alone) {
    run_drawn(trials, claim, entry, cases, 0, budget, hints);
    return std::move(trials).finish();
  }
  if (const auto opening = opening_case(claim, entry, hints)) trials.run(*opening);
  run_past_failures(trials, claims, entry, corpus);
  run_aimed(trials, claim, entry, cases, budget, exploration);
  auto large = large_cases(claim, entry, cases, budget.seed, hints);
  for (const Case& c : extreme_cases(claim, entry, cases, budget.seed, hints)) large.push_back(c);
  const int past = trials.cases();  // beyond the budget
  run_drawn(trials, claim, entry, cases, large.size(), budget, hints);
  for (const Case& c : large) {  // last: a small case that fails is found, and shrunk, sooner
    if (trials.wants_more(past + cases)) trials.run(c);
  }
  run_all(trials, remainders_behind_thresholds(claim, entry, hints));
  run_all(trials, dear_aimed_cases(exploration, claim, entry));
  crowd_out(trials, claim, entry, hints.effort);
  run_all(trials, cases_in_parts(claim, entry, budget.seed, hints));
  trials.run_whole(refused_cases(exploration, claim, entry));
  trials.run_whole(cases_on_large_paths(exploration, claim, entry));
  std::vector<ClaimResult> results = std::move(trials).finish();
  for (ClaimResult& result : results) settle_skips(result);
  return results;
}

std::vector<ClaimResult> check_claims_on(const std::vector<Case>& cases, Claims claims,
                                         const Entry& entry, const Budget& budget,
                                         const Bench& bench) {
  const std::function<void()> no_tick = [] {};
  const int count = static_cast<int>(cases.size());
  Trials trials(claims, entry, count, budget, bench, no_tick);
  for (const Case& c : cases) {
    if (trials.wants_more(count)) trials.run(c);
  }
  std::vector<ClaimResult> results = std::move(trials).finish();
  for (ClaimResult& result : results) {
    if (result.empty > 0) result.skipped = Skip{Skip::By::empty_c, "C is empty: nothing to judge"};
  }
  return results;
}

ClaimResult result_after_a_failure(const Claim& claim, const Entry& entry) {
  return {.entry = entry,
          .claim = &claim,
          .exempt = Skip{Skip::By::claim, "something had failed before"}};
}

std::size_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

using Explore = std::function<void(const Entry&, const Explorations::Explore&)>;
// Some claims about an entry, each of which is judged with the others or alone.
using CheckClaims = std::function<std::vector<ClaimResult>(const Entry&, Claims, const Bench&,
                                                           const Explorations::Explore&)>;

// The claims of one family that stand beside each other together, all others alone.
std::vector<Claims> families_in(const std::vector<const Claim*>& claims) {
  std::vector<Claims> families;
  for (std::size_t first = 0, end; first < claims.size(); first = end) {
    const char* const family = claims[first]->family;
    end = first + 1;
    while (family != nullptr && end < claims.size() && claims[end]->family == family) ++end;
    families.push_back(Claims(claims).subspan(first, end - first));
  }
  return families;
}

// What is done for each entry: families of claims, judged by themselves, and what all of them wait
// for, which comes so early that it is mostly done by then.
struct Work {
  static constexpr std::size_t exploring = 0;  // the first part; then the families
  std::size_t parts;
  std::size_t item(std::size_t entry, std::size_t part) const { return entry * parts + part; }

  void put_into(Lane& lane, const std::vector<std::size_t>& entries) const {
    for (std::size_t i = 0; i < entries.size() + lane.threads; ++i) {
      for (std::size_t part = 1; i >= lane.threads && part < parts; ++part)
        lane.items.push_back(item(entries[i - lane.threads], part));
      if (i < entries.size()) lane.items.push_back(item(entries[i], exploring));
    }
  }
};

// The work on a GPU, each GPU serving a few threads only, and all other.
std::vector<Lane> lanes_of(const std::vector<Entry>& entries, Work work, std::size_t jobs) {
  Lane gpu{.threads = jobs}, cpu{.threads = jobs};
  std::vector<std::size_t> on_gpu, on_cpu;
  for (std::size_t i = 0; i < entries.size(); ++i)
    (entries[i].backend == Backend::cuda ? on_gpu : on_cpu).push_back(i);
  if (!on_gpu.empty() && jobs > processes_on_a_gpu)
    gpu.threads = std::min<std::size_t>(jobs, processes_on_a_gpu * std::max(1, gpu_count()));
  work.put_into(gpu, on_gpu);
  work.put_into(cpu, on_cpu);
  return {gpu, cpu};
}

// Judges in workers, one for each thread, spread over the GPUs; without them here, on the first.
class Benches {
 public:
  Benches(const Budget& budget, std::size_t jobs)
      : in_workers_(!budget.worker.arguments.empty()),
        cases_are_given_(budget.cases_are_given),
        workers_(in_workers_ ? jobs : 0) {
    for (std::size_t t = 0; t < workers_.size(); ++t)
      workers_[t] = std::make_unique<Worker>(budget.worker, t);
  }

  Bench of(const Entry& entry, std::size_t t) const {
    Bench bench;
    const auto judge_with = [this, &entry, t](bool whole) -> Bench::Judge {
      return [=, this, &entry](const Claim& claim, const Case& c, double watchdog) {
        Resources granted = resources_of(entry, t);
        granted.watchdog_seconds = watchdog;
        granted.case_is_given |= whole;
        return verdict_of([&] {
          return in_workers_ ? workers_[t]->judge(entry, claim, c, granted)
                             : assay::judge(claim, entry, c, granted);
        });
      };
    };
    bench.judge = judge_with(false);
    bench.judge_whole = judge_with(true);
    if (in_workers_) bench.start_afresh = [this, t] { workers_[t]->start_afresh(); };
    return bench;
  }
  Exploration explore(const Entry& entry, std::size_t t) const {
    return in_workers_ ? workers_[t]->explore(entry) : assay::explore(entry);
  }
  std::optional<Branch> branch_behind(const Entry& entry, const Verdicts& verdicts) const {
    return in_workers_ ? workers_[0]->branch_behind(entry, verdicts)
                       : assay::branch_behind(entry, verdicts);
  }
  Resources resources_of(const Entry& entry, std::size_t t) const {
    Resources resources;
    if (in_workers_ && entry.backend == Backend::cuda)
      resources.gpu = static_cast<int>(t) % std::max(1, gpu_count());
    resources.case_is_given = cases_are_given_;
    return resources;
  }

 private:
  bool in_workers_, cases_are_given_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

// Every claim about every entry, those of a family together, some time after it was explored.
std::vector<ClaimResult> for_each_family(const std::vector<Entry>& entries,
                                         const std::vector<const Claim*>& claims,
                                         const Budget& budget, const Explore& explore,
                                         const CheckClaims& check_claims) {
  const std::size_t jobs = budget.first_failure ? 1
                           : budget.jobs > 0    ? static_cast<std::size_t>(budget.jobs)
                                                : cores();
  const std::vector<Claims> families = families_in(claims);
  const Benches benches(budget, jobs);
  std::vector<ClaimResult> results(entries.size() * claims.size());
  bool stopped = false;
  const Work work{.parts = families.size() + 1};
  in_lanes(lanes_of(entries, work, jobs), [&](std::size_t i, std::size_t t) {
    const Entry& entry = entries[i / work.parts];
    const std::size_t part = i % work.parts;
    const Bench bench = benches.of(entry, t);
    const auto by_worker = [&](const Entry& e) { return benches.explore(e, t); };
    // So that nothing that an earlier pair left decides; on a GPU a process takes long to start.
    const auto start_afresh = [&] {
      if (bench.start_afresh && entry.backend != Backend::cuda) bench.start_afresh();
    };
    if (part == Work::exploring) {
      if (stopped || explore == nullptr) return;
      start_afresh();
      return explore(entry, by_worker);
    }
    const Claims family = families[part - 1];
    auto result = results.begin() + static_cast<std::ptrdiff_t>(i / work.parts * claims.size()) +
                  (family.data() - claims.data());
    if (stopped) {
      for (const Claim* claim : family) *result++ = result_after_a_failure(*claim, entry);
      return;
    }
    Calibration::of(entry.backend, benches.resources_of(entry, t).gpu).require([&](const Case& c) {
      return bench.judge(calibration(), c, budget.watchdog_seconds);
    });
    start_afresh();
    for (ClaimResult& judged : check_claims(entry, family, bench, by_worker)) {
      if (budget.first_failure) stopped |= judged.failure || judged.interruption;
      *result++ = std::move(judged);
    }
  });
  return results;
}

// What only all results of an entry together tell: whose fault interrupted others, and behind which
// branch the fault lies that leads.
void settle(std::vector<ClaimResult>& results, std::size_t claims, const Budget& budget) {
  const Benches benches(budget, 1);
  for (std::size_t at = 0; at < results.size(); at += claims) {
    const auto of_entry = std::span(results).subspan(at, claims);
    const Entry& entry = of_entry.front().entry;
    const Bench bench = benches.of(entry, 0);
    hand_over_interruptions(of_entry, bench, !budget.first_failure);
    const ClaimResult* const lead = lead_of(of_entry);
    if (lead == nullptr || entry.watched_launch == nullptr || budget.first_failure) continue;
    if (!lead->failure->before.empty() || !lead->failure->reproduced) continue;
    const Verdicts verdicts = verdicts_beside(*lead, [&](const Case& c, double watchdog_seconds) {
      return bench.judge(lead->broken(), c, watchdog_seconds);
    });
    of_entry[static_cast<std::size_t>(lead - of_entry.data())].failure->branch =
        benches.branch_behind(entry, verdicts);
  }
}

}  // namespace

std::vector<ClaimResult> check(const std::vector<Entry>& given,
                               const std::vector<const Claim*>& claims, const Budget& budget,
                               const std::vector<CorpusLine>& corpus, const Progress& progress) {
  const std::vector<Entry> entries = beside_each_other(given);
  std::mutex mutex;
  int done = 0;
  const int expected = static_cast<int>(entries.size() * claims.size()) * budget.cases;
  const std::function<void()> tick = [&] {
    if (!progress) return;
    const std::lock_guard lock(mutex);
    progress(++done, expected);
  };
  static Explorations explorations;
  std::vector<ClaimResult> results = for_each_family(
      entries, claims, budget,
      [&](const Entry& entry, const auto& explore) { explorations.of(entry, explore); },
      [&](const Entry& entry, Claims family, const Bench& bench, const auto& explore) {
        const auto exploration = explorations.of(entry, explore);
        auto judged = check_claims(family, entry, budget, bench, corpus, *exploration, tick);
        for (ClaimResult& result : judged) result.exploration = exploration;
        return judged;
      });
  settle(results, claims.size(), budget);
  return results;
}

std::vector<ClaimResult> check_case(const std::vector<Entry>& entries,
                                    const std::vector<const Claim*>& claims,
                                    const std::vector<Case>& cases, const Budget& budget) {
  Budget given = budget;
  given.cases_are_given = true;
  std::vector<ClaimResult> results =
      for_each_family(entries, claims, given, nullptr,
                      [&](const Entry& entry, Claims family, const Bench& bench, const auto&) {
                        return check_claims_on(cases, family, entry, given, bench);
                      });
  settle(results, claims.size(), given);
  return results;
}

}  // namespace assay
