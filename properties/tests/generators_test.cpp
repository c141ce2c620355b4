// What is drawn: inside what a variant accepts and a claim speaks of, and at the edges where it
// hurts.
#include "properties/generators.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/text.h"
#include "properties/draws/cost.h"
#include "properties/fitting.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

std::vector<Case> draw(const Claim& claim, const Entry& entry, int count, std::uint64_t seed = 1) {
  const auto next = case_generator(claim, entry, seed);
  std::vector<Case> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(next());
  return drawn;
}

std::string name_of(const Entry& entry) {
  return fmt::format("{}.{}", to_string(entry.backend), entry.variant.name);
}

TEST(Cases, are_what_the_claim_speaks_of_and_the_variant_accepts) {
  int pairs = 0;
  for (const Entry& entry : ladder()) {
    for (const Claim& claim : claims()) {
      if (exemption(claim, entry)) continue;
      ++pairs;
      for (const Case& c : draw(claim, entry, 40)) {
        SCOPED_TRACE(fmt::format("{} {}: {}", name_of(entry), claim.name, to_string(c)));
        ASSERT_EQ(claim.excludes_case(c), "");
        if (claim.inside_needs) {
          ASSERT_EQ(refusal_of(entry, c), "");
        }
        ASSERT_EQ(parse_case(to_string(c)), c);
      }
    }
  }
  EXPECT_GE(pairs, 80);
}

TEST(Cases, of_a_claim_about_refusals_are_outside_by_every_need) {
  const Claim& claim = claim_named("refuses");
  for (const Entry& entry : ladder()) {
    Needs of_cases = entry.variant.needs;
    of_cases.compute_capability = 0;  // the machine's: no case changes it
    const std::size_t needs = describe(of_cases).size();
    std::set<std::string> reasons;
    for (const Case& c : draw(claim, entry, 100)) {
      const std::string reason = refusal_of(entry, c);
      if (!reason.empty()) reasons.insert(reason.substr(0, reason.find(' ')));
    }
    EXPECT_EQ(reasons.size(), needs) << name_of(entry);
  }
}

// Problems beside the edges of such a tile cost more, so that fewer of them fit.
bool is_huge(const Tile& tile) { return tile.m * tile.n > 128 * 128; }

struct Seen {
  std::set<std::int64_t> sizes;
  std::set<std::int64_t> residues;
};
// Of the sizes up to `most` that the variant takes: multiples of `step`.
void expect_edges(const Seen& seen, int tile, std::int64_t most, int step, std::string_view what) {
  EXPECT_TRUE(seen.sizes.contains(0)) << what << " = 0";
  EXPECT_TRUE(seen.sizes.contains(step)) << what << " = " << step;
  for (int size : {tile - step, tile, tile + step, 2 * tile - step, 2 * tile, 2 * tile + step}) {
    EXPECT_TRUE(size < 0 || size > most || seen.sizes.contains(size)) << what << " = " << size;
  }
  for (int residue : {0, step, tile - step})
    EXPECT_TRUE(seen.residues.contains(residue % tile)) << what << " % " << tile;
  EXPECT_GT(*seen.sizes.rbegin(), std::min(std::int64_t{2 * tile}, most - 1)) << what;
}

TEST(Cases, reach_every_edge_of_the_tiles) {
  std::vector<Entry> entries = ladder();
  entries.push_back(host_entry(multiply, {}, {110, 140, 120}));  // sizes that come by no other way
  for (const Entry& entry : entries) {
    Seen m, n, k;
    const Tile tile = entry.variant.tile;
    for (const Case& c : draw(claim_named("within_bound"), entry, 600)) {
      m.sizes.insert(c.m), m.residues.insert(c.m % tile.m);
      n.sizes.insert(c.n), n.residues.insert(c.n % tile.n);
      k.sizes.insert(c.k), k.residues.insert(c.k % tile.k);
    }
    const auto& [needs, name] = std::pair(entry.variant.needs, name_of(entry));
    expect_edges(m, tile.m, needs.m_most, needs.m_multiple, name + ": m");
    expect_edges(n, tile.n, needs.n_most, needs.n_multiple, name + ": n");
    expect_edges(k, tile.k, needs.k_most, needs.k_multiple, name + ": k");
  }
}

TEST(Cases, are_of_whole_tiles_now_and_then) {
  for (const Entry& entry : ladder()) {
    const Tile tile = entry.variant.tile;
    const auto cases = draw(claim_named("beta_zero"), entry, 4000);
    const auto whole = std::count_if(cases.begin(), cases.end(), [&](const Case& c) {
      return c.m * c.n * c.k > 0 && c.m % tile.m == 0 && c.n % tile.n == 0 && c.k % tile.k == 0;
    });
    SCOPED_TRACE(name_of(entry));
    EXPECT_GE(whole, is_huge(tile) ? 75 : 120);
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.k > 300; }));
  }
}

// Of 64 that are drawn at random, four on average do not come.
TEST(Cases, deal_out_the_bits_of_their_seeds) {
  std::set<std::uint64_t> seen;
  for (const Case& c : draw(claim_named("wide_strides"), host_entry(multiply), 64))
    seen.insert(c.seed % 32);
  EXPECT_EQ(seen.size(), 32u);
}

TEST(Cases, have_every_scalar_gap_offset_and_fill) {
  const Entry entry = host_entry(multiply);
  std::map<float, int> alpha, beta;
  std::map<std::int64_t, int> gaps[3];
  std::map<int, int> offsets[3];
  std::map<Fill, int> fills;
  std::set<std::uint64_t> seeds;
  int all_different = 0, both_scalars_zero = 0;
  std::array<int, 3> equal = {};
  constexpr int count = 6000;
  for (const Case& c : draw(claim_named("within_bound"), entry, count)) {
    ++alpha[c.alpha], ++beta[c.beta], ++fills[c.fill];
    ++gaps[0][c.lda.floats], ++gaps[1][c.ldb.floats], ++gaps[2][c.ldc.floats];
    for (std::size_t i = 0; i < 3; ++i) ++offsets[i][c.offset.floats[i]];
    seeds.insert(c.seed);
    all_different += c.m != c.n && c.n != c.k && c.m != c.k;
    equal[0] += c.m == c.n, equal[1] += c.n == c.k, equal[2] += c.m == c.k;
    both_scalars_zero += c.alpha == 0 && c.beta == 0;
  }
  for (float scalar : {0.0f, 1.0f, -1.0f, 0.5f, 3.0f, 2.0f, -2.0f}) {
    EXPECT_GT(alpha[scalar], count / 40) << "alpha = " << scalar;
    EXPECT_GT(beta[scalar], count / 20) << "beta = " << scalar;
  }
  EXPECT_GT(alpha.size(), 50u) << "random ones too";
  EXPECT_GT(beta.size(), 50u);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::int64_t gap : {0, 1, 3, 4, 64}) EXPECT_GT(gaps[i][gap], count / 40) << gap;
    for (int offset : {0, 1, 2, 3}) EXPECT_GT(offsets[i][offset], count / 8) << offset;
  }
  for (Fill fill : {Fill::uniform, Fill::small_ints, Fill::identity, Fill::one_hot, Fill::special,
                    Fill::scaled, Fill::balanced, Fill::largest, Fill::patterned})
    EXPECT_GT(fills[fill], count / 100) << to_string(fill);
  EXPECT_GT(fills[Fill::uniform] + fills[Fill::scaled] + fills[Fill::balanced], count / 3)
      << "what the bound is made for";
  EXPECT_GT(fills[Fill::patterned], count / 6);
  EXPECT_GT(seeds.size(), count * 9u / 10);
  EXPECT_GT(all_different, count * 3 / 4) << "equal sizes hide a swap";
  EXPECT_LE(std::max({equal[0], equal[1], equal[2]}), count / 6);
  EXPECT_LT(all_different, count) << "but a square may be special";
  EXPECT_LT(both_scalars_zero, count / 10);

  for (const Case& c : draw(claim_named("exact_integers"), entry, 50)) {
    EXPECT_EQ(c.fill, Fill::exact);
    EXPECT_TRUE(is_exactly_summable(c));
  }
}

// What the draws of several seeds have in common, each seed with the usual number of cases.
std::vector<std::vector<Case>> runs_of(const Claim& claim, const Entry& entry) {
  std::vector<std::vector<Case>> runs;
  for (std::uint64_t seed : {1, 2, 3})
    runs.push_back(draw(claim, entry, 100, seed + std::hash<std::string>{}(claim.name)));
  return runs;
}
bool any(const std::vector<Case>& cases, const std::function<bool(const Case&)>& test) {
  return std::any_of(cases.begin(), cases.end(), test);
}

TEST(Cases, cost_what_their_number_allows) {
  for (const Entry& entry : ladder()) {
    for (const Claim& claim : claims()) {
      if (exemption(claim, entry) || claim.most_cases < 100) continue;
      for (const auto& cases : runs_of(claim, entry)) {
        double cost = 0;
        for (const Case& c : cases) cost += cost_of(c, claim, entry);
        EXPECT_LE(cost, (is_huge(entry.variant.tile) ? 2.1 : 1.6) * 100 * cost_per_case(entry))
            << name_of(entry) << " " << claim.name;
      }
    }
  }
}

TEST(Cases, have_one_long_dimension_now_and_then) {
  const auto is_mid = [](std::int64_t k) { return k >= 2048 && k <= 20000; };
  for (const Entry& entry : ladder()) {
    std::array<std::int64_t, 3> longest = {};
    for (const Claim& claim : claims()) {
      if (exemption(claim, entry) || claim.most_cases < 100) continue;
      for (const auto& cases : runs_of(claim, entry)) {
        for (const Case& c : cases) {
          const std::array sizes = {c.m, c.n, c.k};
          for (std::size_t i = 0; i < 3; ++i) longest[i] = std::max(longest[i], sizes[i]);
        }
      }
    }
    const Needs& needs = entry.variant.needs;
    const std::array most = {needs.m_most, needs.n_most, needs.k_most};
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_GE(longest[i], std::min<std::int64_t>(6144, most[i])) << name_of(entry);
    for (const auto& cases : runs_of(claim_named("within_bound"), entry)) {
      EXPECT_TRUE(any(cases, [&](const Case& c) { return is_mid(c.k); })) << name_of(entry);
      EXPECT_TRUE(any(cases, [](const Case& c) { return c.m > 1100 || c.n > 1100; }))
          << name_of(entry);
    }
  }
}

TEST(Cases, are_of_many_tiles_in_grids_of_every_shape) {
  const Tile tile = {128, 64, 16};
  Entry entry = host_entry(multiply, {}, tile);
  entry.backend = Backend::simt;
  int grids = 0, short_groups = 0, rows = 0, columns = 0, several_slices = 0, many = 0;
  for (const Claim& claim : claims()) {
    if (exemption(claim, entry) || claim.most_cases < 100) continue;
    for (const Case& c : draw(claim, entry, 400)) {
      const std::int64_t down = (c.m + tile.m - 1) / tile.m, across = (c.n + tile.n - 1) / tile.n;
      if (down * across < 9) continue;
      ++grids;
      short_groups += down > 4 && down % 4 != 0 && across > 1;
      columns += across == 1, rows += down == 1;
      several_slices += c.k > tile.k;
      many += down * across > 132;
    }
  }
  EXPECT_GT(grids, 160);
  EXPECT_GT(short_groups, 20);
  EXPECT_GT(rows, 32);
  EXPECT_GT(columns, 32);
  EXPECT_GT(several_slices, 32);
  EXPECT_GT(many, 8);
}

TEST(Cases, have_distances_at_and_beside_multiples_of_powers_of_two) {
  std::map<std::int64_t, int> at, before, after;
  int equal = 0, aligned = 0;
  for (const Case& c : draw(claim_named("within_bound"), host_entry(multiply), 900)) {
    const std::array distances = {c.k + c.lda.floats, c.n + c.ldb.floats, c.n + c.ldc.floats};
    for (std::int64_t distance : distances) {
      if (distance < 128) continue;
      for (std::int64_t unit : {64, 128, 256, 512, 1024, 2048}) {
        at[unit] += distance % unit == 0;
        before[unit] += distance % unit == unit - 1;
        after[unit] += distance % unit == 1;
      }
    }
    equal += distances[0] == distances[1] && distances[1] == distances[2];
    aligned += c.offset == Offsets{} &&
               std::all_of(distances.begin(), distances.end(), [](auto ld) { return ld % 4 == 0; });
  }
  for (std::int64_t unit : {64, 128, 256, 512, 1024, 2048}) {
    EXPECT_GT(at[unit], 15) << unit;
    EXPECT_GT(before[unit], 4) << unit;
    EXPECT_GT(after[unit], 4) << unit;
  }
  EXPECT_GT(equal, 30);
  EXPECT_GT(aligned, 100);
}

TEST(Cases, have_scalars_of_every_magnitude) {
  int huge = 0, tiny = 0, tiny_beside_tiny = 0, equal = 0, opposite = 0, negative_zero = 0;
  const auto is_tiny = [](float x) { return x != 0 && std::abs(x) < 1e-6f; };
  for (const Case& c : draw(claim_named("within_bound"), host_entry(multiply), 900)) {
    if (c.fill == Fill::balanced) continue;  // these have extreme ones
    huge += std::abs(c.alpha) >= 1e4f || std::abs(c.beta) >= 1e4f;
    tiny += is_tiny(c.alpha) || is_tiny(c.beta);
    tiny_beside_tiny += is_tiny(c.beta) && (c.alpha == 0 || is_tiny(c.alpha));
    equal += c.alpha == c.beta && c.alpha != 0, opposite += c.alpha == -c.beta && c.alpha != 0;
    negative_zero += std::signbit(c.beta) && c.beta == 0;
    EXPECT_LE(std::max(std::abs(c.alpha), std::abs(c.beta)), 1e30f);
  }
  EXPECT_GT(huge, 40);
  EXPECT_GT(tiny, 40);
  EXPECT_GT(tiny_beside_tiny, 12) << "else alpha * A * B hides it";
  EXPECT_GT(equal, 40);
  EXPECT_GT(opposite, 20);
  EXPECT_GT(negative_zero, 4);
}

TEST(Cases, have_scalars_that_are_nearly_usual_ones) {
  const auto count = [](const Hints& hints, float least, float most) {
    int beside = 0;
    const auto next = case_generator(claim_named("within_bound"), host_entry(multiply), 1, hints);
    for (int i = 0; i < 900; ++i) {
      const Case c = next();
      for (const float scalar : {c.alpha, c.beta}) {
        const float away = std::abs(std::abs(scalar) - 1);
        beside += away > least && away < most;
      }
    }
    return beside;
  };
  EXPECT_GT(count({}, 0x1p-20f, 0x1p-6f), 20);
  EXPECT_GT(count({.scalars = {1e-3f}}, 4e-4f, 6e-4f), 30) << "closer than what is compared";
}

TEST(Cases, have_scalars_at_both_ends_of_the_range_of_floats) {
  int denormal_alpha = 0, denormal_beta = 0, huge_alpha = 0, huge_beta = 0, far = 0, powers = 0;
  int negative = 0;
  for (const Case& c : draw(claim_named("within_bound"), host_entry(multiply), 900)) {
    if (c.fill != Fill::balanced) continue;
    const float alpha = std::abs(c.alpha), beta = std::abs(c.beta);
    denormal_alpha += alpha > 0 && alpha < 0x1p-126f;
    denormal_beta += beta > 0 && beta < 0x1p-126f;
    huge_alpha += alpha >= 0x1p111f, huge_beta += beta >= 0x1p111f;
    far += std::isinf(beta / alpha) || (beta > 0 && std::isinf(alpha / beta));
    int exponent = 0;
    powers += std::frexp(alpha, &exponent) == 0.5f;
    negative += c.alpha < 0 || c.beta < 0;
  }
  EXPECT_GT(std::min({denormal_alpha, denormal_beta, huge_alpha, huge_beta}), 2);
  EXPECT_GT(std::min({far, powers, negative}), 15);
}

TEST(Cases, have_square_matrices_where_these_may_be_symmetric) {
  int square_a = 0, square_b = 0, both = 0;
  for (const Case& c : draw(claim_named("within_bound"), host_entry(multiply), 900)) {
    if (c.fill != Fill::patterned || c.k < 9) continue;
    square_a += c.m == c.k, square_b += c.n == c.k, both += c.m == c.k && c.n == c.k;
  }
  EXPECT_GT(std::min(square_a, square_b), 12);
  EXPECT_GT(both, 3);
}

TEST(Cases, take_hints) {
  const Hints hints{.sizes = {777}, .distances = {1999}, .scalars = {42.5f}};
  const auto next = case_generator(claim_named("within_bound"), host_entry(multiply), 1, hints);
  std::array<int, 3> sizes = {};
  int beside = 0, distances = 0, alphas = 0, betas = 0;
  for (int i = 0; i < 600; ++i) {
    const Case c = next();
    sizes[0] += c.m == 777, sizes[1] += c.n == 777, sizes[2] += c.k == 777;
    beside += c.m == 776 || c.m == 778 || c.n == 776 || c.n == 778;
    distances += (c.k + c.lda.floats) % 1999 == 0;
    alphas += c.alpha == 42.5f, betas += c.beta == 42.5f;
  }
  for (int count : sizes) EXPECT_GT(count, 4);
  EXPECT_GT(beside, 8);
  EXPECT_GT(distances, 12);
  EXPECT_GT(alphas, 60);
  EXPECT_GT(betas, 60);
}

TEST(Cases, are_the_same_for_the_same_random_numbers_only) {
  const Entry entry = host_entry(multiply);
  const Claim& claim = claim_named("within_bound");
  EXPECT_EQ(draw(claim, entry, 20, 5), draw(claim, entry, 20, 5));
  EXPECT_NE(draw(claim, entry, 20, 5), draw(claim, entry, 20, 6));
}

TEST(CuratedShapes, are_those_that_people_use) {
  const auto shapes = curated_shapes();
  const auto has = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return std::count(shapes.begin(), shapes.end(), Case{.m = m, .n = n, .k = k});
  };
  EXPECT_EQ(has(1001, 513, 777), 1);
  EXPECT_EQ(has(1001, 777, 513), 1);
  EXPECT_EQ(has(513, 1001, 777), 1);
  EXPECT_EQ(has(513, 777, 1001), 1);
  EXPECT_EQ(has(777, 1001, 513), 1);
  EXPECT_EQ(has(777, 513, 1001), 1);
  for (std::int64_t square : {128, 256, 512, 1024}) EXPECT_EQ(has(square, square, square), 1);
  EXPECT_EQ(has(1024, 1024, 512), 1);
  EXPECT_EQ(has(1024, 512, 1024), 1);
  EXPECT_EQ(has(512, 1024, 1024), 1);
}

}  // namespace
