#include "properties/judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "properties/aims/places.h"
#include "properties/fitting.h"

namespace assay {
namespace {

constexpr Difference kept_between_launches = {
    Fault::keeps_state,
    "something is kept between launches: the same launch gives other bits when it is repeated"};

bool has_output(const Verdict& verdict, const Output& output) {
  return verdict.status == TrialStatus::right ||
         (verdict.status == TrialStatus::wrong && !output.empty());
}

Verdict compare_outputs(const Run& one, const Output& first, const Run& other, const Output& second,
                        const Difference& difference) {
  const auto judged = static_cast<std::int64_t>(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const float x = first[i], y = second[i];
    const bool both_nan = std::isnan(x) && std::isnan(y);  // nobody promises which NaN
    if (both_nan || std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y)) continue;
    const auto at = static_cast<std::int64_t>(i), n = one.c.n;
    return {.status = TrialStatus::wrong,
            .finding = {difference.fault},
            .reason = fmt::format("row {}, column {} is {:.9g} {} and {:.9g} {}", at / n, at % n, x,
                                  one.name, y, other.name),
            .diagnosis = difference.words,
            .judged = judged};
  }
  return {.judged = judged};
}

bool is_same_problem(const Run& one, const Run& other) {
  return one.c == other.c && one.plan.altered == other.plan.altered;
}

// What a run gives; nothing if it does not come to its end.
struct Ran {
  Verdict verdict;
  std::optional<Output> output;
};
Ran run(const Run& run, const Resources& resources) {
  Output output;
  Verdict verdict = run_trial(run.entry, run.c, run.plan, resources, &output);
  if (!has_output(verdict, output)) return {std::move(verdict), std::nullopt};
  return {std::move(verdict), std::move(output)};
}

// Whether a run, repeated, gives something else than it did; `right` if it does not.
Verdict judge_repetition(const Run& one, const Output& output, const Resources& resources) {
  const Ran again = run(one, resources);
  if (!again.output) return {};
  Run repeated = one;
  repeated.name = "when it is launched in that way again";
  const Difference kept_or_race = {Fault::not_repeatable,
                                   "the same launch gives other bits when it is repeated: a race, "
                                   "or something kept between launches"};
  return compare_outputs(one, output, repeated, *again.output,
                         one.entry.backend == Backend::cuda ? kept_or_race : kept_between_launches);
}

// Watched code takes some 10 ns for an access. A block of 128 x 128 elements makes a million of
// them for one slice of k before it writes C: a look at a small case goes on to its end.
std::uint64_t most_accesses(const Case& c, const Tile& tile) {
  constexpr double small = 1 << 16;
  const auto steps = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return static_cast<double>(round_up(m, tile.m)) * static_cast<double>(round_up(n, tile.n)) *
           static_cast<double>(round_up(k, tile.k));
  };
  const bool is_small = steps(c.m, c.n, c.k) <= std::max(small, steps(1, 1, 1));
  return std::uint64_t{1} << (is_small ? 21 : 14);
}

}  // namespace

std::function<Verdict(const Entry&, const Case&, const Resources&)> by_trial(const Plan& plan) {
  return [plan](const Entry& entry, const Case& c, const Resources& resources) {
    return run_trial(entry, c, plan, resources);
  };
}

std::function<Verdict(const Entry&, const Case&, const Resources&)> with_a_look(
    Forbidden forbidden,
    std::function<Verdict(const Entry&, const Case&, const Resources&)> judge) {
  return [=](const Entry& entry, const Case& c, const Resources& resources) {
    Verdict verdict = judge(entry, c, resources);
    const bool is_chosen = c.seed % 3 == 0;  // as many as the looks may take time together
    const bool may_look =
        is_chosen && entry.backend == Backend::simt && entry.watched_launch != nullptr;
    if (!may_look || verdict.status != TrialStatus::right) return verdict;
    const Look look = look_at_accesses(entry, c, forbidden, most_accesses(c, entry.variant.tile));
    verdict.looked_at = look.whole || !look.words.empty();
    if (look.words.empty()) return verdict;
    const auto place = place_before(look.code);
    const bool is_known = place && is_of_the_author(*place);
    verdict.status = TrialStatus::wrong;
    verdict.finding = look.finding;
    verdict.reason =
        fmt::format("{}{}; seen in the build that is watched, no result shows it", look.words,
                    is_known ? fmt::format(" ({}:{})", place->file, place->line) : "");
    return verdict;
  };
}

Verdict compare_runs(const std::vector<Run>& runs, const Difference& difference,
                     const Resources& resources) {
  std::vector<Output> outputs;
  Verdict verdict;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Ran ran = run(runs[i], resources);
    if (!ran.output) return ran.verdict;
    outputs.push_back(std::move(*ran.output));
    std::size_t first = 0;
    while (!is_same_problem(runs[first], runs[i])) ++first;
    if (first == i) continue;
    verdict = compare_outputs(runs[first], outputs[first], runs[i], outputs[i], difference);
    verdict.remark = std::move(ran.verdict.remark);
    if (!is_failure(verdict)) continue;
    for (const std::size_t either : {i, first}) {
      const Verdict repeated = judge_repetition(runs[either], outputs[either], resources);
      if (is_failure(repeated)) return repeated;
    }
    return verdict;
  }
  return verdict;
}

Verdict judge_runs(const std::vector<Run>& runs, const Difference& difference,
                   const Resources& resources) {
  Verdict right, wrong;
  const Run *any_right = nullptr, *failing = nullptr;
  for (const Run& run : runs) {
    Verdict verdict = run_trial(run.entry, run.c, run.plan, resources);
    if (verdict.status == TrialStatus::right) {
      any_right = &run, right = std::move(verdict);
    } else if (failing == nullptr) {
      failing = &run, wrong = std::move(verdict);
    }
  }
  if (failing == nullptr) return right;
  wrong.reason += fmt::format(" ({})", failing->name);
  const bool says_more = difference.fault < wrong.finding.fault;
  if (any_right == nullptr || wrong.status != TrialStatus::wrong || !says_more) return wrong;
  const Verdict again = run_trial(failing->entry, failing->c, failing->plan, resources);
  const bool repeats = again.status == TrialStatus::wrong;
  wrong.finding = {repeats ? difference.fault : kept_between_launches.fault};
  wrong.diagnosis = repeats ? difference.words : kept_between_launches.words;
  return wrong;
}

Verdict compare_or_judge(const std::vector<Run>& runs, const Difference& difference,
                         const Resources& resources) {
  const bool is_deterministic = runs.front().entry.variant.deterministic;
  return (is_deterministic ? compare_runs : judge_runs)(runs, difference, resources);
}

}  // namespace assay
