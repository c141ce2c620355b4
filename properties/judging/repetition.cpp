#include "properties/judging/repetition.h"

#include <array>

#include "properties/fitting.h"
#include "properties/judges.h"

namespace assay {
namespace {

// Half as large, with other data.
Case smaller_problem(Case c, const Entry& entry) {
  c.m = (c.m + 1) / 2, c.n = (c.n + 1) / 2, c.k = (c.k + 1) / 2;
  ++c.seed;
  return fitted(c, entry.variant.needs);
}

}  // namespace

Verdict judge_twice(const Entry& entry, const Case& c, const Resources& resources) {
  const Case smaller = smaller_problem(c, entry);
  constexpr std::array alterations = {Altered::element_of_a, Altered::element_of_b,
                                      Altered::swapped_in_a, Altered::swapped_in_b};
  Run before{"with other numbers", entry, c};
  if (c.seed % 2 == 1) {
    ++before.c.seed;
  } else {
    before.plan.altered = alterations[c.seed / 2 % alterations.size()];
  }
  const std::vector<Run> runs = {
      {"half as large, the first time", entry, smaller},
      before,
      {"the first time", entry, c},
      {"half as large, the second time", entry, smaller},
      {"the second time", entry, c, {.placement = Placement::elsewhere}}};
  return compare_runs(
      runs, {Fault::not_repeatable, "it depends on where its operands lie in memory"}, resources);
}

}  // namespace assay
