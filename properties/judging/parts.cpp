#include "properties/judging/parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "properties/draws/dice.h"
#include "properties/fitting.h"
#include "properties/judging/long_sums.h"

namespace assay {
namespace {

constexpr double many_elements = 0x1p25;

// Whoever gives a case may wait for some minutes.
double many_products(const Resources& resources) {
  return resources.case_is_given ? 0x1p33 : 0x1p29;
}

Verdict judge_whole_or_part(const Entry& entry, const Case& c, const Plan& plan,
                            const Resources& resources) {
  const double elements = static_cast<double>(c.m) * static_cast<double>(c.n);
  const bool is_large = c.multiply_adds() >= many_products(resources) || elements > many_elements;
  if (entry.backend != Backend::ptx || !is_large)
    return judge_in_two_orders(entry, c, plan, resources);
  const std::uint64_t blocks = blocks_worth(1.5e8, 48, c, entry.variant.tile);
  Plan of_some = plan;
  of_some.most_blocks = blocks;
  Verdict part = run_trial(entry, c, of_some, resources);
  const bool says_nothing = part.status == TrialStatus::right && part.judged == 0;
  const bool is_dear = c.multiply_adds() >= 0x1p31 || elements > many_elements;
  if (says_nothing && (resources.case_is_given || !is_dear))
    return judge_in_two_orders(entry, c, plan, resources);
  if (!says_nothing && part.remark.empty())
    part.remark = fmt::format("of grids too large to run whole, {} blocks were run", blocks);
  return part;
}

}  // namespace

std::function<Verdict(const Entry&, const Case&, const Resources&)> by_whole_or_part(
    const Plan& plan) {
  return [plan](const Entry& entry, const Case& c, const Resources& resources) {
    return judge_whole_or_part(entry, c, plan, resources);
  };
}

std::vector<Case> cases_in_parts(const Claim& claim, const Entry& entry, std::uint64_t seed,
                                 const Hints& hints) {
  std::vector<Case> cases;
  const bool can_be_judged = entry.backend == Backend::ptx && entry.variant.workspace == nullptr;
  if (!claim.takes_extreme_sizes || !can_be_judged) return cases;
  Dice dice(seed + 1);
  const auto add = [&](Case c) {
    if (c.alpha == 1) c.alpha = dice.of({1.0f, 1.5f});
    c.seed = seed;
    const Case its = nearest_case(c, claim, entry);
    if (its.m >= c.m / 2 && its.n >= c.n / 2 && its.k >= c.k / 2) cases.push_back(its);
  };
  const auto beside = [&](std::int64_t size) { return size + dice.between(1, size / 64); };
  const auto cube_beside = [&](std::int64_t size) {
    return Case{.m = beside(size), .n = beside(size), .k = beside(size)};
  };
  constexpr std::int64_t root_of_2_31 = 1291, root_of_2_32 = 1626;
  constexpr std::int64_t usual = 2048, largest = 4096;
  add(cube_beside(root_of_2_31));
  Case with_gaps = cube_beside(root_of_2_32);
  with_gaps.lda.floats = with_gaps.ldb.floats = with_gaps.ldc.floats = 4;
  with_gaps.beta = 0.5f;
  add(with_gaps);
  add({.m = usual, .n = usual, .k = usual});
  // Large problems may take a way of their own, to which unusual addresses and scalars come as
  // well.
  add({.m = usual,
       .n = usual,
       .k = 5 * usual / 16,
       .alpha = 1e-30f,
       .beta = 1e10f,
       .offset = {{0, 0, 1}}});
  std::int64_t known = 0;
  for (const std::int64_t size : hints.sizes)
    if (size > known && size <= largest) known = size;
  if (known > usual / 4) add(cube_beside(known));
  return cases;
}

}  // namespace assay
