// What is drawn: inside what a variant accepts and a claim speaks of, and at the edges where it
// hurts.
#include "properties/generators.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "base/text.h"
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
        if (claim.most_cases > 100) {
          ASSERT_LE(c.multiply_adds(), 5e7) << "of moderate size";
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
    const std::size_t needs = describe(entry.variant.needs).size();
    std::set<std::string> reasons;
    for (const Case& c : draw(claim, entry, 100)) {
      const std::string reason = refusal_of(entry, c);
      if (!reason.empty()) reasons.insert(reason.substr(0, reason.find(' ')));
    }
    EXPECT_EQ(reasons.size(), needs) << name_of(entry);
  }
}

struct Seen {
  std::set<std::int64_t> sizes;
  std::set<std::int64_t> residues;
};
void expect_edges(const Seen& seen, int tile, const std::string& what) {
  EXPECT_TRUE(seen.sizes.contains(0)) << what << " = 0";
  EXPECT_TRUE(seen.sizes.contains(1)) << what << " = 1";
  for (std::int64_t size : {tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1}) {
    EXPECT_TRUE(size < 0 || seen.sizes.contains(size)) << what << " = " << size;
  }
  for (std::int64_t residue : {0, 1, tile - 1})
    EXPECT_TRUE(seen.residues.contains(residue % tile)) << what << " % " << tile;
  EXPECT_GT(*seen.sizes.rbegin(), 2 * tile) << what << ": several tiles";
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
    expect_edges(m, tile.m, name_of(entry) + ": m");
    expect_edges(n, tile.n, name_of(entry) + ": n");
    expect_edges(k, tile.k, name_of(entry) + ": k");
  }
}

TEST(Cases, are_of_whole_tiles_now_and_then) {
  for (const Entry& entry : ladder()) {
    const Tile tile = entry.variant.tile;
    const auto cases = draw(claim_named("beta_zero"), entry, 800);
    const auto whole = std::count_if(cases.begin(), cases.end(), [&](const Case& c) {
      return c.m * c.n * c.k > 0 && c.m % tile.m == 0 && c.n % tile.n == 0 && c.k % tile.k == 0;
    });
    EXPECT_GE(whole, 24) << name_of(entry);
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.k > 300; }))
        << name_of(entry);
  }
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
  constexpr int count = 600;
  for (const Case& c : draw(claim_named("within_bound"), entry, count)) {
    ++alpha[c.alpha], ++beta[c.beta], ++fills[c.fill];
    ++gaps[0][c.lda.floats], ++gaps[1][c.ldb.floats], ++gaps[2][c.ldc.floats];
    for (std::size_t i = 0; i < 3; ++i) ++offsets[i][c.offset.floats[i]];
    seeds.insert(c.seed);
    all_different += c.m != c.n && c.n != c.k && c.m != c.k;
    equal[0] += c.m == c.n, equal[1] += c.n == c.k, equal[2] += c.m == c.k;
    both_scalars_zero += c.alpha == 0 && c.beta == 0;
  }
  for (float scalar : {0.0f, 1.0f, -1.0f, 0.5f, 3.0f}) {
    EXPECT_GT(alpha[scalar], count / 20) << "alpha = " << scalar;
    EXPECT_GT(beta[scalar], count / 20) << "beta = " << scalar;
  }
  EXPECT_GT(alpha.size(), 50u) << "random ones too";
  EXPECT_GT(beta.size(), 50u);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::int64_t gap : {0, 1, 3, 4, 64}) EXPECT_GT(gaps[i][gap], count / 30) << gap;
    for (int offset : {0, 1, 2, 3}) EXPECT_GT(offsets[i][offset], count / 8) << offset;
  }
  for (Fill fill : {Fill::uniform, Fill::small_ints, Fill::identity, Fill::one_hot, Fill::special})
    EXPECT_GT(fills[fill], count / 40) << to_string(fill);
  EXPECT_GT(fills[Fill::uniform], count / 3) << "what the bound is made for";
  EXPECT_GT(seeds.size(), count * 9u / 10);
  EXPECT_GT(all_different, count * 9 / 10) << "equal sizes hide a swap";
  EXPECT_LE(std::max({equal[0], equal[1], equal[2]}), count / 40);
  EXPECT_LT(all_different, count) << "but a square may be special";
  EXPECT_LT(both_scalars_zero, count / 10);

  for (const Case& c : draw(claim_named("exact_integers"), entry, 50)) {
    EXPECT_EQ(c.fill, Fill::exact);
    EXPECT_TRUE(is_exactly_summable(c));
  }
}

TEST(Cases, are_the_same_for_the_same_random_numbers_only) {
  const Entry entry = host_entry(multiply);
  const Claim& claim = claim_named("within_bound");
  EXPECT_EQ(draw(claim, entry, 20, 5), draw(claim, entry, 20, 5));
  EXPECT_NE(draw(claim, entry, 20, 5), draw(claim, entry, 20, 6));
}

Case random_case(std::mt19937_64& random) {
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  Case c{.m = below(300), .n = below(300), .k = below(10000)};
  constexpr std::array scalars = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 3.0f, 0.123f, -77.5f};
  c.alpha = scalars[static_cast<std::size_t>(below(8))];
  c.beta = scalars[static_cast<std::size_t>(below(8))];
  c.lda = {below(9)}, c.ldb = {below(9)}, c.ldc = {below(100)};
  for (int& floats : c.offset.floats) floats = static_cast<int>(below(4));
  c.fill = static_cast<Fill>(below(6));
  c.seed = random() >> below(60);
  return c;
}

Needs random_needs(std::mt19937_64& random) {
  const auto one_of = [&](std::initializer_list<int> values) {
    return values.begin()[random() % values.size()];
  };
  const auto size = [&] { return one_of({1, 1, 2, 4, 16, 128}); };
  const auto distance = [&] { return one_of({1, 1, 2, 4}); };
  const auto alignment = [&] { return one_of({4, 4, 8, 16}); };
  return {.m_multiple = size(),
          .n_multiple = size(),
          .k_multiple = size(),
          .lda_multiple = distance(),
          .ldb_multiple = distance(),
          .ldc_multiple = distance(),
          .a_alignment = alignment(),
          .b_alignment = alignment(),
          .c_alignment = alignment(),
          .alpha_one = random() % 4 == 0,
          .beta_zero = random() % 4 == 0};
}

void expect_fitted(const Case& c, const Needs& needs) {
  const Entry entry = host_entry(multiply, needs);
  const Case fit = fitted(c, needs);
  ASSERT_EQ(refusal_of(entry, fit), "")
      << to_string(c) << " was fitted to " << joined(describe(needs)) << " as " << to_string(fit);
  ASSERT_EQ(fitted(fit, needs), fit) << "what fits stays as it is";
  ASSERT_TRUE(fit.m >= c.m && fit.m < c.m + needs.m_multiple) << "the nearest";
  const int distances = std::lcm(needs.ldb_multiple, needs.ldc_multiple);
  const int unit = needs.packed ? std::lcm(needs.n_multiple, distances) : needs.n_multiple;
  ASSERT_TRUE(fit.n >= c.n && fit.n < c.n + unit);
}

TEST(Fitted, meets_any_needs) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) expect_fitted(random_case(random), random_needs(random));
}

TEST(Fitted, meets_needs_of_packed_matrices_too) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    expect_fitted(random_case(random), {.packed = true});
    expect_fitted(random_case(random), {.k_multiple = 4, .packed = true});
  }
  expect_fitted({.m = 3, .n = 5, .k = 7}, {.lda_multiple = 4, .packed = true});
  expect_fitted({.m = 3, .n = 5, .k = 7}, {.ldb_multiple = 4, .ldc_multiple = 2, .packed = true});
}

std::string words_of(const Needs& needs) {
  const auto words = joined(describe(needs));
  return words.empty() ? "nothing" : words;
}

// What is wrong with what `claim` makes of a case for `entry`; empty if nothing.
std::string fault_of_nearest(const Case& from, const Claim& claim, const Entry& entry) {
  const Case c = nearest_case(from, claim, entry);
  std::string fault = claim.excludes_case(c);
  if (fault.empty() && claim.inside_needs) fault = refusal_of(entry, c);
  return fault.empty()
             ? ""
             : fmt::format("{} of a variant that needs {} makes of\n{}\nthis:\n{}\n{}", claim.name,
                           words_of(entry.variant.needs), to_string(from), to_string(c), fault);
}

TEST(NearestCase, is_what_the_claim_speaks_of_from_anywhere) {
  std::mt19937_64 random(3);
  std::vector<Entry> entries = ladder();
  for (int i = 0; i < 30; ++i) entries.push_back(host_entry(multiply, random_needs(random)));
  for (bool exact : {false, true}) {
    std::string faults;
    for (const Claim& claim : claims()) {
      std::string fault;
      for (const Entry& entry : entries) {
        if (exemption(claim, entry)) continue;
        for (int i = 0; i < 20 && fault.empty(); ++i) {
          Case from = random_case(random);
          if (exact || from.fill == Fill::exact) from.fill = exact ? Fill::exact : Fill::uniform;
          fault = fault_of_nearest(from, claim, entry);
        }
      }
      if (!fault.empty()) faults += fault + "\n\n";
    }
    EXPECT_TRUE(faults.empty()) << faults;
  }
}

TEST(NearestCase, at_a_refusal_changes_nothing_or_is_refused) {
  const std::vector<Needs> all = {{.m_multiple = 4},   {.n_multiple = 4},   {.k_multiple = 2},
                                  {.lda_multiple = 2}, {.ldb_multiple = 4}, {.ldc_multiple = 4},
                                  {.a_alignment = 8},  {.b_alignment = 8},  {.c_alignment = 8},
                                  {.a_alignment = 16}, {.b_alignment = 16}, {.c_alignment = 16},
                                  {.packed = true},    {.alpha_one = true}, {.beta_zero = true}};
  for (const Needs& needs : all) {
    const Entry entry = host_entry(multiply, needs);
    int changed = 0;
    std::string accepted;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      const Case base = fitted({.m = 5, .n = 6, .k = 7, .seed = seed}, needs);
      const Case c = nearest_case(base, claim_named("refuses"), entry);
      changed += c != base;
      if (c != base && refusal_of(entry, c).empty()) accepted = to_string(c);
    }
    EXPECT_GE(changed, 6) << words_of(needs);
    EXPECT_EQ(accepted, "") << "lies inside: " << words_of(needs);
  }
}

TEST(NearestCase, at_a_large_result_lies_within_ordinary_needs_and_the_gigabytes_it_tells) {
  const Claim& large = claim_named("large_result");
  for (const Needs& needs : std::vector<Needs>{{},
                                               {.m_multiple = 128, .n_multiple = 128},
                                               {.k_multiple = 32},
                                               {.ldc_multiple = 4},
                                               {.n_multiple = 9, .ldc_multiple = 4},
                                               {.packed = true},
                                               {.alpha_one = true}}) {
    const Entry entry = host_entry(multiply, needs);
    const Case c = nearest_case({.m = 5, .n = 6, .k = 7}, large, entry);
    EXPECT_EQ(large.excludes_case(c), "") << words_of(needs);
    EXPECT_EQ(refusal_of(entry, c), "") << words_of(needs);
    EXPECT_LE(bytes_of(c) / 0x1p30, large.gibibytes) << to_string(c);
    EXPECT_GE(bytes_of(c) / 0x1p30, large.gibibytes - 0.5) << to_string(c);
  }
  EXPECT_NE(large.excludes_case({.m = 32769, .n = 65537, .k = 2, .fill = Fill::special}), "");
}

TEST(NearestCase, at_a_tall_grid_supposes_a_tile_where_none_is_declared) {
  const auto rows = [](const Tile& tile) {
    return nearest_case({.m = 5, .n = 6, .k = 7}, claim_named("tall_grid"),
                        host_entry(multiply, {}, tile))
        .m;
  };
  EXPECT_EQ(rows({16, 8, 4}), 65536 * 16 + 1);
  EXPECT_EQ(rows({8, 16, 4}), 65536 * 16 + 1);
  EXPECT_EQ(rows({}), 65536 * 128 + 1);
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
