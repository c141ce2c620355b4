// Cases that are moved to where a variant accepts them and a claim speaks of them.
#include "properties/fitting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/text.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

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
  c.fill = static_cast<Fill>(below(7));
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
  if (needs.square) return;
  const std::int64_t m = std::clamp(c.m, needs.m_least, needs.m_most);
  ASSERT_LT(std::abs(fit.m - m), needs.m_multiple) << "the nearest";
  ASSERT_TRUE(fit.m >= m || fit.m + needs.m_multiple > needs.m_most);
  const int distances = std::lcm(needs.ldb_multiple, needs.ldc_multiple);
  const int unit = needs.packed ? std::lcm(needs.n_multiple, distances) : needs.n_multiple;
  ASSERT_TRUE(fit.n >= c.n && fit.n < c.n + unit);
}

TEST(Fitted, meets_any_needs) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) expect_fitted(random_case(random), random_needs(random));
}

TEST(Fitted, meets_needs_of_sizes) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 1000; ++i) {
    const Case c = random_case(random);
    Needs needs = random_needs(random);
    needs.m_least = 3, needs.m_most = 256, needs.k_least = 1, needs.int_indices = i % 2 == 0;
    expect_fitted(c, needs);
    expect_fitted(c, {.m_least = 1, .n_least = 1, .k_least = 1, .square = true, .packed = true});
    expect_fitted(c, {.m_multiple = 32, .k_multiple = 16, .n_most = 100, .square = true});
  }
  expect_fitted({.m = 3, .n = 5, .k = 7, .ldb = {std::int64_t{1} << 31}}, {.int_indices = true});
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
  for (const Needs& needs : std::vector<Needs>{{.k_least = 1},
                                               {.m_most = 512, .n_most = 512, .k_most = 512},
                                               {.m_least = 1,
                                               .n_least = 1,
                                               .k_least = 1,
                                               .square = true,
                                               .int_indices = true,
                                               .packed = true,
                                               .alpha_one = true,
                                               .beta_zero = true}})
    entries.push_back(host_entry(multiply, needs));
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
  const std::vector<Needs> all = {
      {.m_multiple = 4},   {.n_multiple = 4},   {.k_multiple = 2},    {.lda_multiple = 2},
      {.ldb_multiple = 4}, {.ldc_multiple = 4}, {.a_alignment = 8},   {.b_alignment = 8},
      {.c_alignment = 8},  {.a_alignment = 16}, {.b_alignment = 16},  {.c_alignment = 16},
      {.packed = true},    {.alpha_one = true}, {.beta_zero = true},  {.m_least = 1},
      {.n_least = 7},      {.k_least = 1},      {.m_most = 100},      {.n_most = 64},
      {.k_most = 1000},    {.square = true},    {.int_indices = true}};
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

}  // namespace
