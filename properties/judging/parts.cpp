#include "properties/judging/parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/fills/filling.h"
#include "properties/draws/cost.h"
#include "properties/draws/data.h"
#include "properties/draws/dice.h"
#include "properties/fitting.h"
#include "properties/judging/long_sums.h"
#include "properties/scopes.h"

namespace assay {
namespace {

constexpr double many_elements = 0x1p25;
constexpr std::int64_t most_left_over = 31;  // of a slice of 32, and of all smaller ones

std::string remark_on(std::uint64_t blocks) {
  return fmt::format("of grids too large to run whole, {} blocks were run", blocks);
}

// Whoever gives a case may wait for some minutes.
double many_products(const Resources& resources) {
  return resources.case_is_given ? 0x1p33 : 0x1p29;
}

// On the executor, whose blocks are run whole wherever a part of them is not clearly right. So one
// that writes nothing, or what another one writes, must show: no tile then has more elements than
// this.
bool is_part_right(const Verdict& part, const Case& c, const Tile& tile, std::uint64_t blocks) {
  if (part.status != TrialStatus::right || part.judged == 0) return false;
  const std::int64_t tiles = ceil_div(c.m, tile.m) * ceil_div(c.n, tile.n);
  const std::int64_t elements =
      std::min(c.m, std::int64_t{tile.m}) * std::min(c.n, std::int64_t{tile.n});
  const std::int64_t others = tiles - static_cast<std::int64_t>(blocks);
  return part.judged + others * elements >= c.m * c.n;
}

std::optional<Verdict> judge_part_on_executor(const Entry& entry, const Case& c, const Plan& plan,
                                              const Resources& resources) {
  constexpr double dear = 1e9;
  constexpr std::uint64_t blocks = 256;
  const Tile& tile = entry.variant.tile;
  const bool is_line = c.m <= tile.m || c.n <= tile.n;  // of tiles, all as large but for the last
  if (entry.backend != Backend::simt || !is_line || resources.case_is_given ||
      entry.variant.workspace != nullptr || cost_of(c, claim_named("within_bound"), entry) < dear)
    return std::nullopt;
  Plan of_some = plan;
  of_some.most_blocks = blocks;
  Verdict part = run_trial(entry, c, of_some, resources);
  if (!is_part_right(part, c, tile, blocks)) return std::nullopt;
  if (part.remark.empty()) part.remark = remark_on(blocks);
  return part;
}

Verdict judge_whole_or_part(const Entry& entry, const Case& c, const Plan& plan,
                            const Resources& resources) {
  if (auto part = judge_part_on_executor(entry, c, plan, resources)) return *part;
  const double elements = static_cast<double>(c.m) * static_cast<double>(c.n);
  const bool is_large = c.multiply_adds() >= many_products(resources) || elements > many_elements;
  if (entry.backend != Backend::ptx || !is_large)
    return judge_in_two_orders(entry, c, plan, resources);
  const auto run = [&](std::uint64_t blocks) {
    Plan of_some = plan;
    of_some.most_blocks = blocks;
    return run_trial(entry, c, of_some, resources);
  };
  std::uint64_t blocks = blocks_of_large(c, entry.variant);
  Verdict part = run(blocks);
  const bool took_long = part.status == TrialStatus::refused;
  if (took_long && blocks >= 16) part = run(blocks /= 8);  // they may be larger than the tile
  const bool says_nothing = part.status == TrialStatus::refused ||
                            (part.status == TrialStatus::right && part.judged == 0);
  const bool is_dear = c.multiply_adds() >= 0x1p31 || elements > many_elements;
  if (says_nothing && (resources.case_is_given || !is_dear))
    return judge_in_two_orders(entry, c, plan, resources);
  if (says_nothing) return {};
  if (part.remark.empty()) part.remark = remark_on(blocks);
  return part;
}

}  // namespace

std::uint64_t blocks_of_large(const Case& c, const Variant& variant) {
  constexpr double products = 6e7;
  constexpr std::uint64_t most = 32;
  return blocks_worth(products, most, c, variant.tile);
}

std::function<Verdict(const Entry&, const Case&, const Resources&)> by_whole_or_part(
    const Plan& plan) {
  return [plan](const Entry& entry, const Case& c, const Resources& resources) {
    return judge_whole_or_part(entry, c, plan, resources);
  };
}

std::vector<Case> cases_in_parts(const Claim& claim, const Entry& entry, std::uint64_t seed,
                                 const Hints& hints) {
  std::vector<Case> cases;
  if (claim.large_case != nullptr && entry.backend == Backend::ptx)
    return {nearest_case(claim.large_case(seed), claim, entry)};
  const bool can_be_judged = entry.backend == Backend::ptx && entry.variant.workspace == nullptr;
  if (!claim.takes_extreme_sizes || !can_be_judged) return cases;
  Dice dice(seed + 1);
  const auto add = [&](Case c) {
    if (c.alpha == 1) c.alpha = scalar_for(c.fill, dice.of({1.0f, 1.5f}));
    if (c.fill != Fill::special) c.seed = seed;
    while (c.fill == Fill::scaled && !scales_to_denormals(c.seed)) ++c.seed;
    spare_denormals(c, entry);
    const Case its = nearest_case(c, claim, entry);
    if (its.m >= c.m / 2 && its.n >= c.n / 2 && its.k >= c.k / 2) cases.push_back(its);
  };
  const auto add_zeros_of = [&](Operand o, Case c) {
    c.seed = seed;
    add(with_zeros_of(o, c));
  };
  const auto beside = [&](std::int64_t size) { return size + dice.between(1, size / 64); };
  const auto cube_beside = [&](std::int64_t size) {
    return Case{.m = beside(size), .n = beside(size), .k = beside(size)};
  };
  constexpr std::int64_t root_of_2_31 = 1291, usual = 2048, largest = 4096;
  add(cube_beside(root_of_2_31));
  Case with_gaps = cube_beside(usual);
  with_gaps.k = usual + most_left_over;
  with_gaps.lda.floats = with_gaps.ldb.floats = with_gaps.ldc.floats = 4;
  with_gaps.beta = 0.5f;
  with_gaps.fill = Fill::scaled;  // denormals, too
  add(with_gaps);
  Case of_c_alone = cube_beside(usual);  // whatever A and B hold
  of_c_alone.alpha = 0, of_c_alone.beta = -0.5f;
  of_c_alone.fill = Fill::special;
  add(of_c_alone);
  add_zeros_of(Operand::a, {.m = usual, .n = usual, .k = usual});
  add_zeros_of(Operand::b, {.m = usual, .n = usual, .k = usual / 2});
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
  if (known > usual) {  // what an algorithm of its own mixes may be of different scale
    Case scaled = cube_beside(known);
    scaled.fill = Fill::scaled;
    add(scaled);
    add_zeros_of(Operand::a, cube_beside(known));  // or loses infinities
  }
  return cases;
}

}  // namespace assay
