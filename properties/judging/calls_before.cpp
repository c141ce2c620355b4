#include "properties/judging/calls_before.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "properties/fitting.h"
#include "properties/judges.h"

namespace assay {

Case with_one_other(Case c, const Entry& entry, Other other) {
  const Needs& needs = entry.variant.needs;
  const auto change = [](Gap& gap, int multiple) { gap.floats = gap.floats == 0 ? multiple : 0; };
  const auto lessen = [](std::int64_t& size) {
    const std::int64_t before = std::exchange(size, (size + 1) / 2);
    return before - size;
  };
  const auto negate = [](float& scalar) { scalar = scalar == 0 ? 0.5f : -scalar; };
  switch (other) {
    case Other::lda: change(c.lda, needs.lda_multiple); break;
    case Other::ldb: change(c.ldb, needs.ldb_multiple); break;
    case Other::ldc: change(c.ldc, needs.ldc_multiple); break;
    case Other::m: lessen(c.m); break;
    case Other::k: c.lda.floats += lessen(c.k); break;
    case Other::n: {
      const std::int64_t columns = lessen(c.n);
      c.ldb.floats += columns, c.ldc.floats += columns;
      break;
    }
    case Other::alpha: negate(c.alpha); break;
    case Other::beta: negate(c.beta); break;
    case Other::cleared: c.alpha = c.beta = 0; break;
  }
  return fitted(c, needs);
}

namespace {
// As far as the needs allow one, with elements behind each row as before.
Case square(Case c, const Entry& entry) {
  constexpr std::int64_t least = 2, most = 100;
  c.m = c.n = c.k = std::clamp(std::max({c.m, c.n, c.k}), least, most);
  return fitted(c, entry.variant.needs);
}
}  // namespace

Verdict judge_calls_before(const Entry& entry, const Case& given, const Resources& resources) {
  constexpr const char* behind_one = "behind a call that differs in one thing";
  constexpr std::array others = {
      std::pair(Other::lda, "with another lda"),     std::pair(Other::ldb, "with another ldb"),
      std::pair(Other::ldc, "with another ldc"),     std::pair(Other::m, "with half of m"),
      std::pair(Other::k, "with half of k"),         std::pair(Other::n, "with half of n"),
      std::pair(Other::alpha, "with another alpha"), std::pair(Other::beta, "with another beta"),
      std::pair(Other::cleared, "that clears C")};
  Case c = given;
  c.offset = {};  // all are aligned alike then, at the beginning of a page
  const Plan plan{.placement = Placement::begins_at_fence};
  std::vector<Run> runs;
  const auto put_behind = [&](const Case& before, Altered altered, const char* words) {
    if (before == c && altered == Altered::nothing) return;
    if (runs.empty() || runs.back().c != c) runs.push_back({"the first time", entry, c, plan});
    runs.push_back({words, entry, before, plan});
    runs.back().plan.altered = altered;
    runs.push_back({behind_one, entry, c, plan});
  };
  for (const Alteration& each : alterations) put_behind(c, each.altered, each.words);
  for (const auto& [other, words] : others)
    put_behind(with_one_other(c, entry, other), Altered::nothing, words);
  for (const Alteration& each : alterations_from_afar) put_behind(c, each.altered, each.words);
  c = square(c, entry);
  for (const Alteration& each : alterations_of_squares) put_behind(c, each.altered, each.words);
  return judge_runs(
      runs, {Fault::keeps_state, "what it keeps of an earlier call is taken for that of this one"},
      resources);
}

}  // namespace assay
