#include "properties/judging/repetition.h"

#include <algorithm>
#include <array>
#include <utility>

#include "oracle/machine.h"
#include "properties/fitting.h"
#include "properties/judges.h"
#include "properties/judging/calls_before.h"
#include "properties/judging/kept.h"
#include "properties/judging/variables.h"

namespace assay {
namespace {

// Half as large, with other data.
Case smaller_problem(Case c, const Entry& entry) {
  c.m = (c.m + 1) / 2, c.n = (c.n + 1) / 2, c.k = (c.k + 1) / 2;
  ++c.seed;
  return fitted(c, entry.variant.needs);
}

// As many elements, or as long a sum, in another shape: packed, because more rows that lie as far
// apart may take more memory than there is.
Case turned_problem(Case c, const Entry& entry) {
  std::swap(c.seed % 3 == 0 ? c.k : c.m, c.n);
  c.lda = c.ldb = c.ldc = {};
  return fitted(c, entry.variant.needs);
}

// One whose C lies where A does afterwards, as in a chain of products: but then A holds something
// else.
Run chained_before(const Entry& entry, const Case& c) {
  Case first = c;
  first.n = c.k, first.k = std::min<std::int64_t>(c.n, 8);
  first.lda = first.ldb = {}, first.ldc = c.lda;
  std::swap(first.offset.floats[0], first.offset.floats[2]);
  first.seed += 2;
  return {"as the result before", entry, fitted(first, entry.variant.needs), {.exchanged = true}};
}

// The same call again, with its blocks in another order: the one that takes no longer. More would
// take minutes.
Verdict judge_large_twice(const Entry& entry, const Case& c, const Resources& resources) {
  const std::vector<Run> runs = {{"the first time", entry, c, {.order = ThreadOrder::forward}},
                                 {"the second time, with threads in descending order",
                                  entry,
                                  c,
                                  {.order = ThreadOrder::reverse}}};
  return compare_or_judge(
      runs, {Fault::not_repeatable, "it depends on the order of blocks, or on earlier calls"},
      resources);
}

}  // namespace

Verdict judge_twice(const Entry& entry, const Case& given, const Resources& resources) {
  Case c = given;
  constexpr double products_of_a_large_one = 0x1p30;
  if (entry.backend == Backend::ptx && c.multiply_adds() >= products_of_a_large_one)
    return judge_large_twice(entry, c, resources);
  const auto keeps = [&] {
    return entry.backend != Backend::host && keeps_something(entry, resources);
  };
  static_cast<void>(keeps());  // as it is before the first launch
  // In front of one of the two, a problem that differs in one size or distance. They begin at the
  // same place then, whatever they take, aligned to a page; without offsets all are aligned alike.
  const bool is_first = c.seed % 2 == 1 && c.seed / 2 % 4 < 2 && c.seed / 8 % 2 == 1;
  const bool is_second = !is_first && c.seed / 16 % 4 != 3 && c.seed / 64 % 2 == 0;
  if (is_first || is_second) c.offset = {};
  const auto one_other = static_cast<Other>(c.seed / 128 % others_in_shape);
  const Case smaller = smaller_problem(c, entry);
  Run before{"with other numbers", entry, c};
  const bool on_host = entry.backend == Backend::simt || entry.backend == Backend::host;
  Placement placement = Placement::guarded;
  if (is_first) {
    before.c = with_one_other(c, entry, one_other);
    placement = before.plan.placement = Placement::begins_at_fence;
  } else if (c.seed % 2 == 1 && c.seed / 2 % 4 < 2) {
    before.c = with_one_other(c, entry, c.seed % 4 == 1 ? Other::alpha : Other::beta);
  } else if (c.seed % 8 == 7 && on_host) {
    before = chained_before(entry, c);
  } else if (c.seed % 2 == 1) {
    before.c.seed += 2;  // so that they begin where these begin
  } else {
    before.plan.altered = alterations[c.seed / 2 % alterations.size()].altered;
  }
  // What finds a plan again may look at half of each address.
  const bool is_far = (on_host || entry.backend == Backend::ptx) && c.seed / 4 % 2 == 1;
  Placement second = is_far ? Placement::far_off : Placement::elsewhere;
  Run between{"half as large, the second time", entry, smaller};
  if (c.seed / 16 % 4 == 3) {
    between = {"of another shape", entry, turned_problem(c, entry)};
  } else if (is_second) {
    second = Placement::begins_at_fence;
    between = {"with one size or distance changed",
               entry,
               with_one_other(c, entry, one_other),
               {.placement = second}};
  } else if (c.seed / 64 % 4 == 3) {
    // Whoever looks at all notices that, and what was taken for another matrix is not any more.
    const bool of_a = c.seed / 256 % 2 == 0;
    between = {"with another element",
               entry,
               c,
               {.altered = of_a ? Altered::element_of_a : Altered::element_of_b}};
  }
  const std::vector<Run> runs = {
      {"half as large, the first time", entry, smaller},
      before,
      {"the first time", entry, c, {.placement = placement, .keeps_workspace = true}},
      between,
      {"the second time", entry, c, {.placement = second}}};
  const Machine& machine = machine_of(entry.backend, resources);
  const std::uint64_t kept = machine.kept_bytes(), handles = machine.kept_handles();
  Verdict verdict = compare_or_judge(
      runs, {Fault::not_repeatable, "it depends on where its operands lie in memory"}, resources);
  if (verdict.status != TrialStatus::right) return verdict;
  const bool grew = machine.kept_bytes() > kept || machine.kept_handles() > handles;
  Verdict of_kept = judge_what_is_kept(entry, c, {keeps(), grew}, resources);
  return is_failure(of_kept) ? of_kept : verdict;
}

}  // namespace assay
