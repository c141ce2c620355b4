#include "properties/naming.h"

#include <algorithm>
#include <array>

#include "properties/aims/inputs.h"
#include "properties/draws/cost.h"
#include "properties/fitting.h"
#include "properties/shrinking.h"

namespace assay {
namespace {

// In ns. A large shrunk case has its own, but one that takes seconds is the only one that does.
constexpr double most_each = 2e7, most_together = 6e8, most_of_large_ones = 1e9;
constexpr std::size_t most_explored = 40, most_hints = 12;
constexpr double patience_seconds = 1;

// Every member a little larger, alone and all sizes together.
std::vector<Case> larger_cases(const Case& c, const Tile& tile) {
  std::vector<Case> larger;
  const auto vary = [&](auto&& change) {
    Case other = c;
    change(other);
    larger.push_back(other);
  };
  struct Side {
    std::int64_t Case::*size;
    std::int64_t tile;
  };
  for (const auto& [size, side] :
       {Side{&Case::m, tile.m}, {&Case::n, tile.n}, {&Case::k, tile.k}}) {
    const std::int64_t now = c.*size;
    for (std::int64_t value : {now + 1, now + 2, now + 3, 2 * now, side - 1, side, side + 1,
                               2 * side, std::int64_t{32}, std::int64_t{33}, std::int64_t{64}}) {
      if (value > 0) vary([&](Case& x) { x.*size = value; });
    }
  }
  for (int times : {1, 2})
    vary([&](Case& x) { x.m = times * tile.m, x.n = times * tile.n, x.k = times * tile.k; });
  for (float alpha : {1.0f, -1.0f, 0.5f, 2.0f}) vary([&](Case& x) { x.alpha = alpha; });
  for (float beta : {0.0f, 1.0f, -1.0f, 0.5f}) vary([&](Case& x) { x.beta = beta; });
  for (Gap Case::*gap : {&Case::lda, &Case::ldb, &Case::ldc}) {
    for (std::int64_t floats : {1, 2, 3, 4, 32}) vary([&](Case& x) { (x.*gap).floats += floats; });
  }
  for (std::size_t operand = 0; operand < 3; ++operand)
    vary([&](Case& x) { x.offset.floats[operand] = (x.offset.floats[operand] + 1) % 4; });
  for (Fill fill : {Fill::uniform, Fill::exact}) vary([&](Case& x) { x.fill = fill; });
  return larger;
}

// One size or distance on either side of each number that the variant compares with.
std::vector<Case> cases_at_hints(const Case& c, const Hints& hints) {
  std::vector<Case> all;
  for (const Input& input : inputs) {
    const auto& numbers = input.is_size ? hints.sizes : hints.distances;
    for (std::size_t i = 0; i < std::min(most_hints, numbers.size()); ++i) {
      for (std::int64_t near : {numbers[i] - 1, numbers[i], numbers[i] + 1})
        all.push_back(with(c, input, near));
    }
  }
  return all;
}

std::vector<Case> cases_beside(const ClaimResult& failed) {
  const Case& shrunk = failed.failure->shrunk;
  std::vector<Case> all = smaller_cases(shrunk, *failed.claim, failed.entry);
  const auto add = [&](const Case& any) {
    const Case c = nearest_case(any, *failed.claim, failed.entry);
    const bool is_known = c == shrunk || std::find(all.begin(), all.end(), c) != all.end();
    if (!is_known && failed.claim->excludes_case(c).empty()) all.push_back(c);
  };
  for (const Case& c : larger_cases(shrunk, failed.entry.variant.tile)) add(c);
  if (failed.exploration != nullptr) {
    for (const Case& c : cases_at_hints(shrunk, failed.exploration->hints)) add(c);
    const auto& explored = failed.exploration->cases;
    for (std::size_t i = 0; i < std::min(most_explored, explored.size()); ++i) add(explored[i]);
  }
  return all;
}

// Where nothing is multiplied, what is wrong in the product does not show.
bool multiplies(const Case& c) { return c.m > 0 && c.n > 0 && c.k > 0 && c.alpha != 0; }

// Each failing case takes its time where a kernel never ends, and often a process where it crashes.
std::size_t most_failing(TrialStatus status) {
  return status == TrialStatus::hung ? 3 : status == TrialStatus::crashed ? 12 : 1000;
}

}  // namespace

Verdicts verdicts_beside(const ClaimResult& failed,
                         const std::function<Verdict(const Case&, double)>& judge) {
  const Failure& failure = *failed.failure;
  Verdicts verdicts{.failing = {failure.shrunk}, .passing = {}};
  const double of_shrunk = cost_of(failure.shrunk, *failed.claim, failed.entry);
  if (failure.verdict.finding.fault == Fault::keeps_state) return verdicts;  // no branch decides
  const bool is_alone = of_shrunk > most_of_large_ones;
  const double most_here = is_alone ? most_each : std::max(most_each, 2 * of_shrunk);
  double left = is_alone ? most_together : std::max(most_together, 10 * of_shrunk);
  const double watchdog = std::min(failed.watchdog_seconds, patience_seconds);
  for (const Case& c : cases_beside(failed)) {
    if (verdicts.failing.size() >= most_failing(failure.verdict.status)) break;
    if (multiplies(failure.shrunk) && !multiplies(c)) continue;
    const double cost = cost_of(c, *failed.claim, failed.entry);
    if (cost > most_here || cost > left) continue;
    left -= cost;
    const Verdict verdict = judge(c, watchdog);
    if (verdict.status == TrialStatus::right && verdict.judged > 0) {
      verdicts.passing.push_back(c);
    } else if (verdict.status == failure.verdict.status &&
               still_shows(failure.verdict.finding, verdict.finding)) {
      verdicts.failing.push_back(c);
    }
  }
  return verdicts;
}

}  // namespace assay
