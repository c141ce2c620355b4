// Data of every kind in every seed: what is rare would else be missing in most runs.
#include "properties/draws/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "oracle/fills/filling.h"
#include "oracle/operands.h"
#include "properties/draws/structures.h"
#include "properties/generators.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

bool is_denormal_all_over(const Case& c, Operand o) {
  const auto [rows, columns] = o == Operand::a ? std::pair(c.m, c.k) : std::pair(c.k, c.n);
  float greatest = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      greatest = std::max(greatest, std::abs(fill_element(c, o, i, j)));
  return greatest > 0 && greatest < 0x1p-126f;
}

// At the end of k, for all rows of A or all columns of B.
bool ends_with_zeros(const Case& c, Operand o, std::int64_t steps) {
  const std::int64_t lines = o == Operand::a ? c.m : c.n;
  if (c.k <= steps) return false;
  for (std::int64_t p = c.k - steps; p < c.k; ++p)
    for (std::int64_t line = 0; line < lines; ++line)
      if (fill_element(c, o, o == Operand::a ? line : p, o == Operand::a ? p : line) != 0)
        return false;
  return true;
}

TEST(DataCases, are_of_every_kind_in_every_seed) {
  const Entry entry = host_entry(multiply);
  const Claim& claim = claim_named("any_data");
  for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
    std::set<Pattern> of_long_k;
    std::set<std::pair<bool, bool>> denormal, enormous;
    std::map<Fill, int> fills;
    std::set<Operand> denormal_all_over, ends_with_slice_of_zeros;
    const auto next = case_generator(claim, entry, seed);
    for (int i = 0; i < 100; ++i) {
      const Case c = next();
      ASSERT_EQ(claim.excludes_case(c), "") << to_string(c);
      ++fills[c.fill];
      for (const Operand o : {Operand::a, Operand::b})
        if (c.fill == Fill::patterned && c.k >= 1024) of_long_k.insert(pattern_of(c.seed, o));
      for (const Operand o : {Operand::a, Operand::b})
        if (c.fill == Fill::scaled && is_denormal_all_over(c, o)) denormal_all_over.insert(o);
      for (const Operand o : {Operand::a, Operand::b})
        if (c.fill == Fill::special && ends_with_zeros(c, o, 32))
          ends_with_slice_of_zeros.insert(o);
      if (c.fill != Fill::balanced) continue;
      denormal.insert({std::abs(c.alpha) < 0x1p-126f, c.beta != 0 && std::abs(c.beta) < 0x1p-126f});
      enormous.insert({std::abs(c.alpha) >= 0x1p111f, std::abs(c.beta) >= 0x1p111f});
    }
    EXPECT_GE(of_long_k.size(), 20u);
    EXPECT_EQ(denormal.size(), 4u) << "alpha, beta, both, none";
    EXPECT_EQ(enormous.size(), 4u);
    EXPECT_EQ(denormal_all_over.size(), 2u) << "A, B";
    EXPECT_EQ(ends_with_slice_of_zeros.size(), 2u) << "A, B";
    EXPECT_GE(fills[Fill::largest], 8);
    EXPECT_GE(fills[Fill::scaled], 4);
    EXPECT_GE(fills[Fill::special], 3);
  }
}

// TF32 has the range of floats, and fewer bits.
TEST(DataCases, of_tf32_are_of_any_magnitude_but_keep_to_its_bits) {
  Entry entry = host_entry(multiply);
  entry.variant.arithmetic = Arithmetic::tf32;
  std::map<Fill, int> fills;
  float greatest = 0;
  const auto next = case_generator(claim_named("any_data"), entry, 0);
  for (int i = 0; i < 100; ++i) {
    const Case c = next();
    ++fills[c.fill];
    EXPECT_FALSE(c.fill == Fill::scaled && scales_to_denormals(c.seed));
    if (c.fill == Fill::balanced && c.beta != 0)
      greatest = std::max(greatest, std::abs(fill_element(c, Operand::c, 0, 0)));
  }
  EXPECT_GE(fills[Fill::balanced], 8);
  EXPECT_GT(greatest, 0x1p20f);
  EXPECT_GE(fills[Fill::scaled], 4);
  EXPECT_EQ(fills[Fill::largest], 0);
}

TEST(DataCases, have_runs_of_special_values_across_some_tiles) {
  const auto cases = structured_cases(claim_named("any_data"), host_entry(multiply), 100, 0);
  for (const Operand o : {Operand::a, Operand::b}) {
    const auto has_run = [&](const Case& c) {
      return c.fill == Fill::special && run_of_special(c.seed) == SpecialRun{o, true} &&
             std::min(c.m, c.n) > 96;
    };
    EXPECT_EQ(std::count_if(cases.begin(), cases.end(), has_run), 4);
  }
}

TEST(DataCases, have_numbers_of_few_bits_in_one_operand_alone) {
  std::map<std::pair<Operand, Scale>, std::set<Pattern>> patterns;
  for (const Case& c : structured_cases(claim_named("any_data"), host_entry(multiply), 100, 0)) {
    const Pattern pattern = pattern_of(c.seed, Operand::a);
    if (c.fill != Fill::patterned || !is_narrow(pattern) || bits_too_many(c.seed) != 0) continue;
    if (const auto alone = narrow_alone(c.seed); alone && c.k <= 12)
      patterns[{*alone, scale_beside_narrow(c.seed)}].insert(pattern);
  }
  EXPECT_EQ(patterns.size(), 6u) << "either operand, and each scale of the other one";
  for (const auto& [_, some] : patterns) EXPECT_EQ(some.size(), 7u);
}

TEST(DataCases, have_one_last_element_that_does_not_fit) {
  std::map<Operand, std::set<Pattern>> patterns;
  for (const Case& c : structured_cases(claim_named("any_data"), host_entry(multiply), 100, 0)) {
    const Pattern pattern = pattern_of(c.seed, Operand::a);
    const auto odd = last_does_not_fit(c.seed);
    const bool is_plain = bits_too_many(c.seed) == 0 && !narrow_alone(c.seed);
    if (c.fill == Fill::patterned && is_narrow(pattern) && is_plain && odd && c.k > 64 &&
        c.k % 2 == 1)
      patterns[*odd].insert(pattern);
  }
  EXPECT_EQ(patterns[Operand::a].size(), 7u);
  EXPECT_EQ(patterns[Operand::b].size(), 7u);
}

TEST(DataCases, have_what_a_look_for_few_bits_overlooks) {
  std::map<Operand, std::set<Pattern>> with_nan, of_halves;
  std::set<std::pair<Pattern, bool>> from_afar;
  int of_one_sign = 0;
  for (const Case& c : structured_cases(claim_named("any_data"), host_entry(multiply), 100, 0)) {
    const Pattern pattern = pattern_of(c.seed, Operand::a);
    if (!is_narrow(pattern) || bits_too_many(c.seed) != 0 || narrow_alone(c.seed)) continue;
    if (const auto structure = structure_of_special(c); c.fill == Fill::special && structure) {
      const Filling filling(c, structure->of);
      const auto [rows, columns] = shape_of(c, structure->of);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          if (std::isnan(filling.at(i, j)) && c.k >= 260) with_nan[structure->of].insert(pattern);
    }
    if (c.fill != Fill::patterned || last_does_not_fit(c.seed)) continue;
    if (const auto half = half_fits(c.seed); half && c.k > 2048) of_halves[*half].insert(pattern);
    if (half_fits(c.seed)) continue;
    of_one_sign += pattern == Pattern::tf32 && has_one_sign(c.seed) && c.k >= 2500;
    if (const int exponent = narrow_exponent(c.seed); exponent != 0)
      from_afar.insert({pattern, exponent < 0});
  }
  const std::set floats = {Pattern::bfloat16, Pattern::tf32};
  for (const Operand o : {Operand::a, Operand::b}) {
    EXPECT_EQ(with_nan[o].size(), 7u);
    EXPECT_EQ(of_halves[o], floats);
  }
  for (const Pattern pattern : floats)
    EXPECT_TRUE(from_afar.contains({pattern, true}) && from_afar.contains({pattern, false}));
  EXPECT_EQ(of_one_sign, 1);
}

TEST(DataCases, have_what_is_skew_symmetric_across_and_of_a_matrix_with_its_transpose) {
  std::map<std::pair<Pattern, Operand>, int> times;
  for (const Case& c : structured_cases(claim_named("any_data"), host_entry(multiply), 100, 0))
    for (const Operand o : {Operand::a, Operand::b}) {
      const Pattern pattern = pattern_of(c.seed, o);
      const bool needs_square_of_c = pattern == Pattern::one_sided;
      const bool fits = needs_square_of_c ? c.m == c.n && c.m > 64
                        : pattern == Pattern::toeplitz || pattern == Pattern::equal_lines ||
                                pattern == Pattern::sparse
                            ? std::min({c.m, c.n, c.k}) >= 40
                            : c.k == (o == Operand::a ? c.m : c.n);
      if (c.fill == Fill::patterned && is_of_second_kind(c.seed) && fits && c.k >= 40 &&
          exception_of(c.seed, o) == Exception::none)
        ++times[{pattern, o}];
    }
  for (const Pattern pattern :
       {Pattern::symmetric, Pattern::symmetric_corner, Pattern::toeplitz, Pattern::one_sided,
        Pattern::triangular, Pattern::diagonal, Pattern::equal_lines, Pattern::sparse})
    for (const Operand o : {Operand::a, Operand::b})
      EXPECT_GE((times[{pattern, o}]), 2) << static_cast<int>(pattern);
}

// More elements that are not 0 than a list of them may hold.
TEST(DataCases, have_some_long_lines_with_zeros) {
  Entry entry = host_entry(multiply);
  entry.backend = Backend::ptx;
  const auto long_lines = [&](const Effort& effort) {
    const auto cases = structured_cases(claim_named("any_data"), entry, 100, 0, effort);
    return std::count_if(cases.begin(), cases.end(), [](const Case& c) { return c.k >= 20'000; });
  };
  EXPECT_GE(long_lines({}), 16);
  EXPECT_EQ(long_lines({.is_known = true, .tile_per_k = 1e9}), 0) << "where that takes long";
}

}  // namespace
