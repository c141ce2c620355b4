// Large and extreme cases: that they come, and that they cost what the number of drawn cases
// allows.
#include <gtest/gtest.h>

#include <algorithm>

#include "properties/aims/numbers.h"
#include "properties/draws/cost.h"
#include "properties/fitting.h"
#include "properties/generators.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

double cost_of_all(const std::vector<Case>& cases, const Claim& claim, const Entry& entry,
                   const Effort& effort = {}) {
  double cost = 0;
  for (const Case& c : cases) cost += cost_of(c, claim, entry, effort);
  return cost;
}

TEST(ExtremeCases, go_beyond_16_bits_in_every_dimension_and_seed) {
  const Claim& bound = claim_named("within_bound");
  for (const Entry& entry : ladder()) {
    if (entry.backend == Backend::cuda || entry.backend == Backend::ptx) continue;
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      std::int64_t m = 0, n = 0, k = 0, elements = 0;
      for (const Case& c : extreme_cases(bound, entry, 100, seed)) {
        m = std::max(m, c.m), n = std::max(n, c.n), k = std::max(k, c.k);
        elements = std::max(elements, c.m * c.n);
        EXPECT_EQ(bound.excludes_case(c), "");
        EXPECT_EQ(refusal_of(entry, c), "") << to_string(c);
      }
      SCOPED_TRACE(entry.variant.name);
      EXPECT_GT(std::min({m, n, k}), entry.backend == Backend::host ? (1 << 21) - 2 : 65536);
      EXPECT_TRUE(entry.variant.tile.k > 1 || elements > 1 << 24) << "where none meets barriers";
      EXPECT_TRUE(extreme_cases(claim_named("beta_zero"), entry, 100, seed).empty());
      for (const int cases : {1, 100})
        EXPECT_LE(cost_of_all(extreme_cases(bound, entry, cases, seed), bound, entry),
                  6 * cases * cost_per_case(entry));
    }
  }
}

TEST(ExtremeCases, have_more_than_256_tiles_both_ways_where_these_are_small) {
  Entry entry = host_entry(multiply, {}, {8, 8, 32});
  entry.variant.name = "tiles_of_8";
  for (const std::uint64_t seed : {0, 1, 2}) {
    const auto all = extreme_cases(claim_named("within_bound"), entry, 100, seed);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Case& c) {
      return c.m > 2048 && c.n > 2048 && c.m * c.n < 1 << 23;
    }));
  }
}

Entry made_up(Backend backend, int tile = 32) {
  Entry entry = host_entry(multiply, {}, {tile, tile, 1});
  entry.backend = backend;
  return entry;
}

TEST(ExtremeCases, leave_a_large_c_of_large_tiles_to_huge_sizes_on_the_machine) {
  const auto has_large_c = [](const Entry& entry) {
    const auto all = extreme_cases(claim_named("within_bound"), entry, 100, 0);
    return std::any_of(all.begin(), all.end(), [](const Case& c) { return c.m * c.n > 1 << 24; });
  };
  EXPECT_FALSE(has_large_c(made_up(Backend::ptx)));
  EXPECT_TRUE(has_large_c(made_up(Backend::ptx, 16)));
  EXPECT_TRUE(has_large_c(made_up(Backend::simt)));
}

TEST(ExtremeCases, are_as_large_on_a_gpu_as_people_bring_them) {
  const auto large = [](Backend backend, int cases) {
    const auto all = extreme_cases(claim_named("within_bound"), made_up(backend), cases, 0);
    return std::count_if(all.begin(), all.end(), [](const Case& c) {
      return std::min({c.m, c.n, c.k}) >= 4096 && c.multiply_adds() > 0x1p37;
    });
  };
  EXPECT_EQ(large(Backend::cuda, 100), 2);
  EXPECT_EQ(large(Backend::cuda, 10), 0) << "who asks for a few will not wait";
  EXPECT_EQ(large(Backend::ptx, 100), 0);
}

TEST(Executor, is_given_a_quarter_of_the_cases_where_the_machine_judges_them_too) {
  const Claim& claim = claim_named("within_bound");
  EXPECT_EQ(share_of_cases(claim, beside_each_other({made_up(Backend::simt)})[0]), 1);
  const auto both = beside_each_other({made_up(Backend::simt), made_up(Backend::ptx)});
  EXPECT_EQ(share_of_cases(claim, both[0]), 0.25);
  EXPECT_EQ(share_of_cases(claim, both[1]), 1);
}

TEST(LargeCases, cost_what_their_number_allows_where_an_element_takes_a_warp) {
  const Entry entry = entry_named("planted_warps", Backend::simt);
  const Hints hints{.effort = effort_of(entry)};
  for (const char* name : {"within_bound", "thread_order"}) {
    const Claim& claim = claim_named(name);
    for (const std::uint64_t seed : {0, 1, 2}) {
      const auto next = case_generator(claim, entry, seed, hints);
      double drawn = 0;
      for (int i = 0; i < 100; ++i) drawn += cost_of(next(), claim, entry, hints.effort);
      const auto large =
          cost_of_all(large_cases(claim, entry, 100, seed, hints), claim, entry, hints.effort);
      EXPECT_LE(drawn, 1.6 * 100 * cost_per_case(entry)) << name << " " << seed;
      EXPECT_LE(large, 1.8 * 100 * cost_per_case(entry)) << name << " " << seed;
    }
  }
}

// What reads whole tiles has loops of its own, and products of a row and the distance in them.
TEST(WideGaps, come_with_whole_tiles_in_every_seed) {
  const Claim& wide = claim_named("wide_strides");
  const auto is_whole = [](const Case& c) { return c.m >= 128 && c.n >= 128 && c.k >= 16; };
  const auto spreads = [](std::int64_t rows, const Gap& gap) {
    return (rows - 1) * gap.floats >= std::int64_t{1} << 32;
  };
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const auto next = case_generator(wide, entry_named("naive", Backend::simt), seed, {});
    int of_a = 0, of_b = 0, of_c = 0;
    for (int i = 0; i < 100; ++i) {
      const Case c = next();
      if (!is_whole(c)) continue;
      of_a += spreads(c.m, c.lda), of_b += spreads(c.k, c.ldb), of_c += spreads(c.m, c.ldc);
    }
    EXPECT_GE(std::min({of_a, of_b, of_c}), 2) << seed;
  }
}

TEST(ExtremeCases, count_slices_beyond_16_bits_where_these_are_short) {
  const auto counts = [](int slice, Backend backend) {
    Entry entry = made_up(backend);
    const auto cases = cases_beyond_16_bits({.m = 128, .n = 128, .k = slice}, entry);
    return std::any_of(cases.begin(), cases.end(),
                       [](const Case& c) { return c.fill == Fill::uniform && c.k > 1 << 18; });
  };
  EXPECT_TRUE(counts(4, Backend::simt));
  EXPECT_FALSE(counts(8, Backend::simt)) << "it takes the executor seconds";
  EXPECT_TRUE(counts(8, Backend::ptx));
}

TEST(ExtremeCases, have_sums_beyond_floats_where_no_barrier_makes_them_dear) {
  const auto longest = [](int slice, Backend backend) {
    std::int64_t k = 0;
    for (const Case& c : cases_beyond_16_bits({.m = 4, .n = 4, .k = slice}, made_up(backend)))
      k = std::max(k, c.k);
    return k;
  };
  EXPECT_GT(longest(1, Backend::simt), 1 << 24);
  EXPECT_LT(longest(4, Backend::simt), 1 << 19) << "it takes the executor seconds";
  EXPECT_GT(longest(4, Backend::ptx), 1 << 24);
}

}  // namespace
