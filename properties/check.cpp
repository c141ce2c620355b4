#include "properties/check.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/errors.h"
#include "oracle/cuda/gpu_info.h"
#include "properties/calibration.h"
#include "properties/generators.h"
#include "properties/lanes.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double shrink_seconds = 30, shrink_seconds_of_hung = 10;
constexpr double shrink_watchdog_seconds = 1;         // what hung once need not be waited for again
constexpr double large_multiply_adds_per_case = 5e6;  // of the budget, which large shapes may take

bool is_failure(const Verdict& verdict) {
  return verdict.status == Status::wrong || verdict.status == Status::crashed ||
         verdict.status == Status::hung;
}

// Judges one case, here or in a worker.
using Judge =
    std::function<Verdict(const Entry&, const Claim&, const Case&, double watchdog_seconds)>;

// One claim about one entry: runs cases, notes what they show, and stops at the first failure.
class Examination {
 public:
  Examination(const Claim& claim, const Entry& entry, double watchdog_seconds, const Judge& judge,
              const std::function<void()>& tick)
      : claim_(claim),
        entry_(entry),
        watchdog_seconds_(watchdog_seconds),
        judge_(judge),
        tick_(tick) {
    result_.entry = entry;
    result_.claim = &claim;
    result_.watchdog_seconds = watchdog_seconds;
    result_.exempt = exemption(claim, entry);
  }

  bool may_go_on() const {
    return !result_.failure && result_.exempt.empty() && result_.harness_error.empty();
  }
  bool wants_more(int cases) const {
    return may_go_on() && result_.cases < std::min(cases, claim_.most_cases);
  }

  int cases() const { return result_.cases; }

  // Whether it is in vain to go on: a claim of few cases has refused as many.
  bool has_given_up() const {
    return static_cast<int>(result_.refused.size()) >= claim_.most_cases;
  }

  void run(const rc::Shrinkable<Case>& shrinkable) {
    const Case c = shrinkable.value();
    if (std::string reason = claim_.leaves_out(c); !reason.empty()) {
      result_.refused.push_back(fmt::format("{}: {}", claim_.name, reason));
      return;
    }
    const Verdict verdict = judge(c, watchdog_seconds_);
    if (verdict.status == Status::refused) {
      result_.refused.push_back(verdict.reason);
      return;
    }
    if (verdict.status == Status::harness_error) {
      result_.harness_error = verdict.reason;
      return;
    }
    note(verdict);
    if (is_failure(verdict)) result_.failure = shrink(shrinkable, verdict);
    tick_();
  }

  ClaimResult finish() && {
    result_.seconds = seconds_since(start_);
    return std::move(result_);
  }

 private:
  Verdict judge(const Case& c, double watchdog_seconds) const {
    return judge_(entry_, claim_, c, watchdog_seconds);
  }

  void note(const Verdict& verdict) {
    if (verdict.judged == 0 && !is_failure(verdict)) {
      ++result_.empty;
      return;
    }
    ++result_.cases;
    result_.elements += verdict.judged;
    if (!verdict.worst || is_failure(verdict)) return;
    const double share = verdict.worst->error_gulps / verdict.allowed_gulps;
    if (result_.allowed_gulps == 0 || share > result_.worst_gulps / result_.allowed_gulps) {
      result_.worst_gulps = verdict.worst->error_gulps;
      result_.allowed_gulps = verdict.allowed_gulps;
    }
  }

  // What seems to hang may only be slower than the second that a simpler case is given: the last is
  // given all its time, and is dropped if it ends.
  Failure shrink(const rc::Shrinkable<Case>& original, const Verdict& verdict) const {
    const Failure unshrunk{.original = original.value(),
                           .shrunk = original.value(),
                           .original_verdict = verdict,
                           .verdict = verdict,
                           .shrunk_fully = false};
    Failure failure = go_simpler(original, unshrunk);
    if (verdict.status != Status::hung || failure.shrink_steps == 0) return failure;
    failure.verdict = judge(failure.shrunk, watchdog_seconds_);
    return failure.verdict.status == Status::hung ? failure : unshrunk;
  }

  // Goes on to simpler cases as long as they end in the same status.
  Failure go_simpler(const rc::Shrinkable<Case>& original, Failure failure) const {
    const Status status = failure.verdict.status;
    const auto start = Clock::now();
    const double most = status == Status::hung ? shrink_seconds_of_hung : shrink_seconds;
    const double patience = std::min(watchdog_seconds_, shrink_watchdog_seconds);
    rc::Shrinkable<Case> smallest = original;
    for (bool found = true; found;) {
      found = false;
      auto simpler = smallest.shrinks();
      for (auto candidate = simpler.next(); candidate; candidate = simpler.next()) {
        if (seconds_since(start) > most) return failure;
        const Verdict simpler_verdict = judge(candidate->value(), patience);
        if (simpler_verdict.status != status) continue;
        smallest = *candidate;
        failure.shrunk = smallest.value();
        failure.verdict = simpler_verdict;
        ++failure.shrink_steps;
        found = true;
        break;
      }
    }
    failure.shrunk_fully = true;
    return failure;
  }

  const Claim& claim_;
  const Entry& entry_;
  double watchdog_seconds_;
  const Judge& judge_;
  const std::function<void()>& tick_;
  ClaimResult result_;
  Clock::time_point start_ = Clock::now();
};

// The same shape with other scalars, gaps and offsets for each number.
Case varied(Case c, std::size_t number) {
  constexpr std::array alphas = {1.5f, 1.0f, -0.5f};
  constexpr std::array betas = {-0.5f, 0.0f, 1.0f, 0.0f};
  constexpr std::array<std::int64_t, 5> gaps = {0, 0, 4, 1, 3};
  c.alpha = alphas[number % alphas.size()];
  c.beta = betas[number % betas.size()];
  c.lda.floats = gaps[number % gaps.size()];
  c.ldb.floats = gaps[number / 5 % gaps.size()];
  c.ldc.floats = gaps[number / 7 % gaps.size()];
  c.offset.floats = {static_cast<int>(number / 2 % 4), static_cast<int>(number / 8 % 4),
                     static_cast<int>(number / 32 % 4)};
  return c;
}

// Large shapes, as many as the budget has room for; another choice for each variant and seed.
std::vector<Case> large_cases(const Claim& claim, const Entry& entry, const Budget& budget) {
  std::vector<Case> chosen;
  if (!claim.takes_large_shapes) return chosen;
  const auto shapes = curated_shapes();
  const std::size_t first =
      std::hash<std::string>{}(fmt::format("{}{}{}", entry.variant.name, claim.name, budget.seed));
  double room = budget.cases * large_multiply_adds_per_case;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Case c = shapes[(first + i) % shapes.size()];
    if (c.multiply_adds() > room) continue;
    room -= c.multiply_adds();
    c.seed = budget.seed;
    chosen.push_back(aimed(varied(c, first + i), claim, entry));
  }
  return chosen;
}

// How many of them were judged.
int run_past_failures(Examination& examination, const Claim& claim, const Entry& entry,
                      const std::vector<CorpusLine>& corpus) {
  for (const CorpusLine& line : corpus) {
    if (line.claim != &claim || !examination.may_go_on()) continue;
    try {
      examination.run(shrinkable_case(aimed(line.c, claim, entry), claim, entry));
    } catch (const Unavailable&) {
      throw;
    } catch (const BadInput& error) {
      throw BadInput(fmt::format(
          "the corpus' '{}: {}' cannot be judged here: {}; delete the line, or use --no-corpus",
          claim.name, to_string(line.c), error.what()));
    }
  }
  return examination.cases();
}

ClaimResult examine(const Claim& claim, const Entry& entry, const Budget& budget,
                    const Judge& judge, const std::vector<CorpusLine>& corpus,
                    const std::function<void()>& tick) {
  Examination examination(claim, entry, budget.watchdog_seconds, judge, tick);
  const int past = run_past_failures(examination, claim, entry, corpus);  // beyond the budget
  const auto large = large_cases(claim, entry, budget);
  const int drawn = past + std::max(1, budget.cases - static_cast<int>(large.size()));
  const auto cases = cases_for(claim, entry);
  rc::Random random(budget.seed * 1000003 +
                    std::hash<std::string>{}(fmt::format("{} {}", entry.variant.name, claim.name)));
  const int most_draws = 3 * budget.cases + 20;  // some have an empty C, with nothing to judge
  for (int i = 0; i < most_draws && examination.wants_more(drawn) && !examination.has_given_up();
       ++i) {
    examination.run(cases(random.split(), rc::kNominalSize));
  }
  for (const Case& c : large) {  // last: a small case that fails is found, and shrunk, sooner
    if (examination.wants_more(past + budget.cases))
      examination.run(shrinkable_case(c, claim, entry));
  }

  ClaimResult result = std::move(examination).finish();
  // A few large cases that this machine cannot hold say nothing about the variant.
  const bool too_large = claim.most_cases < Claim::as_many_as_asked_for && result.cases == 0 &&
                         !result.refused.empty();
  if (too_large && !result.failure && result.harness_error.empty())
    result.exempt = result.refused.front();
  result.refused.clear();
  return result;
}

std::size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

using Examine = std::function<ClaimResult(const Entry&, const Claim&, const Judge&)>;

// The pairs that take a GPU, each served by a few threads only, and all others.
std::vector<Lane> lanes_of(const std::vector<Entry>& entries, std::size_t claims,
                           std::size_t jobs) {
  Lane gpu{.threads = jobs}, cpu{.threads = jobs};
  for (std::size_t i = 0; i < entries.size() * claims; ++i)
    (entries[i / claims].backend == Backend::cuda ? gpu : cpu).items.push_back(i);
  if (!gpu.items.empty() && jobs > processes_on_a_gpu)
    gpu.threads = std::min<std::size_t>(jobs, processes_on_a_gpu * std::max(1, gpu_count()));
  return {gpu, cpu};
}

// The one on which the worker of a thread is; 0 for what runs elsewhere.
int gpu_of(const Entry& entry, std::size_t t) {
  return entry.backend == Backend::cuda ? static_cast<int>(t) % std::max(1, gpu_count()) : 0;
}

// Every pair of entry and claim, each thread with a worker of its own; cores that no pair occupies
// are left to the executor.
std::vector<ClaimResult> for_each_pair(const std::vector<Entry>& entries,
                                       const std::vector<const Claim*>& claims,
                                       const Budget& budget, const Examine& examine_pair) {
  const std::size_t jobs = budget.jobs > 0 ? static_cast<std::size_t>(budget.jobs) : cores();
  std::vector<ClaimResult> results(entries.size() * claims.size());
  const int cores_of_each =
      static_cast<int>(std::max<std::size_t>(1, jobs / std::max<std::size_t>(1, results.size())));
  std::vector<std::unique_ptr<Worker>> workers(jobs);
  if (!budget.worker.arguments.empty()) {
    for (std::size_t t = 0; t < jobs; ++t) workers[t] = std::make_unique<Worker>(budget.worker, t);
  }
  const auto judge_with = [&](std::size_t t) -> Judge {
    return [&, t](const Entry& entry, const Claim& claim, const Case& c, double watchdog_seconds) {
      return verdict_of([&] {
        if (workers[t]) return workers[t]->judge(entry, claim, c, cores_of_each, watchdog_seconds);
        set_watchdog(watchdog_seconds);
        return claim.judge(entry, c, cores_of_each);
      });
    };
  };
  in_lanes(lanes_of(entries, claims.size(), jobs), [&](std::size_t i, std::size_t t) {
    const Entry& entry = entries[i / claims.size()];
    Calibration::of(entry.backend, gpu_of(entry, t)).require([&](const Case& c) {
      return judge_with(t)(entry, calibration(), c, budget.watchdog_seconds);
    });
    results[i] = examine_pair(entry, *claims[i % claims.size()], judge_with(t));
  });
  return results;
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
  return for_each_pair(entries, claims, budget,
                       [&](const Entry& entry, const Claim& claim, const Judge& judge) {
                         return examine(claim, entry, budget, judge, corpus, tick);
                       });
}

std::vector<ClaimResult> check_case(const std::vector<Entry>& entries,
                                    const std::vector<const Claim*>& claims, const Case& c,
                                    const Budget& budget) {
  const std::function<void()> no_tick = [] {};
  return for_each_pair(
      entries, claims, budget, [&](const Entry& entry, const Claim& claim, const Judge& judge) {
        Examination examination(claim, entry, budget.watchdog_seconds, judge, no_tick);
        if (examination.wants_more(1)) examination.run(shrinkable_case(c, claim, entry));
        return std::move(examination).finish();
      });
}

std::string replay_line(const ClaimResult& result, const Case& c) {
  const bool usual = result.watchdog_seconds == default_watchdog_seconds;
  return fmt::format("assay check {} --backend {} --claim {} --case \"{}\"{}",
                     result.entry.variant.name, to_string(result.entry.backend), result.claim->name,
                     to_string(c),
                     usual ? "" : fmt::format(" --watchdog {}", result.watchdog_seconds));
}

}  // namespace assay
