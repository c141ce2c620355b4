// fill=patterned: numbers that fit a type of fewer bits, or just do not, in both operands or one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "oracle/fills/filling.h"
#include "oracle/fills/pattern.h"

namespace {

using namespace assay;

// Of square matrices, for several seeds.
std::vector<Case> with_narrow(Pattern pattern, std::int64_t size, std::size_t count) {
  std::vector<Case> cases;
  for (std::uint64_t seed = 0; cases.size() < count; ++seed)
    if (pattern_of(seed, Operand::a) == pattern)
      cases.push_back({.m = size, .n = size, .k = size, .fill = Fill::patterned, .seed = seed});
  return cases;
}

TEST(NarrowPattern, whole_numbers_may_reach_the_first_that_does_not_fit) {
  int beside = 0;
  for (const Case& c : with_narrow(Pattern::bytes, 60, 40)) {
    float least = 0, most = 0;
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t p = 0; p < c.k; ++p) {
        least = std::min(least, fill_element(c, Operand::a, i, p));
        most = std::max(most, fill_element(c, Operand::a, i, p));
      }
    EXPECT_EQ(least == -128 && most == 128, touches_end(c.seed));
    beside += touches_end(c.seed);
  }
  EXPECT_GT(beside, 0);
}

TEST(NarrowPattern, few_bits_in_one_operand_alone_meet_lines_of_any_scale) {
  std::map<Scale, int> cases;
  for (const Case& c : with_narrow(Pattern::bfloat16, 60, 600)) {
    if (bits_too_many(c.seed) != 0 || narrow_alone(c.seed) != Operand::b) continue;
    if (last_does_not_fit(c.seed) || half_fits(c.seed)) continue;
    ++cases[scale_beside_narrow(c.seed)];
    std::set<int> exponents;
    int with_all_bits = 0;
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t p = 0; p < c.k; ++p) {
        const float a = fill_element(c, Operand::a, i, p), b = fill_element(c, Operand::b, i, p);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(b) % (1 << 16), 0u);
        with_all_bits += std::bit_cast<std::uint32_t>(a) % (1 << 16) != 0;
        exponents.insert(std::ilogb(a));
      }
    EXPECT_GT(with_all_bits, 3000);
    const int least = *exponents.begin(), most = *exponents.rbegin();
    switch (scale_beside_narrow(c.seed)) {
      case Scale::ordinary: EXPECT_TRUE(least >= -1 && most <= 0); break;
      case Scale::tiny: EXPECT_TRUE(least < -105 && most < -59); break;
      case Scale::large: EXPECT_TRUE(least > 28 && most > 75); break;
    }
  }
  EXPECT_EQ(cases.size(), 3u);
}

TEST(NarrowPattern, one_element_at_the_end_of_k_may_not_fit) {
  std::map<Operand, int> cases;
  for (const Case& c : with_narrow(Pattern::bytes, 21, 400)) {
    const auto odd = last_does_not_fit(c.seed);
    if (!odd || narrow_alone(c.seed) || is_of_second_kind(c.seed)) continue;
    ++cases[*odd];
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < 21; ++i)
      for (std::int64_t j = 0; j < 21; ++j)
        if (const float x = fill_element(c, *odd, i, j); x != std::nearbyint(x))
          places.push_back(*odd == Operand::a ? j : i);
    EXPECT_EQ(places, std::vector<std::int64_t>{20}) << to_string(c);
  }
  EXPECT_GT(std::min(cases[Operand::a], cases[Operand::b]), 5);
}

TEST(NarrowPattern, one_line_at_the_end_may_not_fit) {
  std::map<Operand, int> cases;
  for (const Case& c : with_narrow(Pattern::bytes, 21, 400)) {
    const auto odd = last_does_not_fit(c.seed);
    if (!odd || narrow_alone(c.seed) || !is_of_second_kind(c.seed)) continue;
    ++cases[*odd];
    for (std::int64_t i = 0; i < 21; ++i)
      for (std::int64_t j = 0; j < 21; ++j) {
        const float x = fill_element(c, *odd, i, j);
        EXPECT_EQ(x != std::nearbyint(x), (*odd == Operand::a ? i : j) == 20) << to_string(c);
      }
  }
  EXPECT_GT(std::min(cases[Operand::a], cases[Operand::b]), 5);
}

TEST(NarrowPattern, has_numbers_that_just_do_not_fit_bfloat16) {
  std::array<int, 3> seeds_with = {};  // 0, 1 and 2 extra bits
  for (const Case& c : with_narrow(Pattern::bfloat16, 20, 60)) {
    if (narrow_alone(c.seed) || last_does_not_fit(c.seed) || half_fits(c.seed)) continue;
    const Filling a(c, Operand::a);
    std::uint32_t used = 0;
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t p = 0; p < c.k; ++p) used |= std::bit_cast<std::uint32_t>(a.at(i, p));
    const int more_bits = 16 - std::countr_zero(used);
    ASSERT_GE(more_bits, 0);
    ASSERT_LT(more_bits, 3);
    ++seeds_with[static_cast<std::size_t>(more_bits)];
  }
  for (const int seeds : seeds_with) EXPECT_GT(seeds, 4);
}

TEST(NarrowPattern, numbers_may_fit_before_or_behind_the_middle_of_k_alone) {
  std::map<std::pair<Operand, bool>, int> cases;
  for (const Case& c : with_narrow(Pattern::bytes, 20, 600)) {
    const auto of = half_fits(c.seed);
    if (!of || narrow_alone(c.seed)) continue;
    const bool fits_behind = is_of_second_kind(c.seed);
    ++cases[{*of, fits_behind}];
    for (std::int64_t line = 0; line < 20; ++line)
      for (std::int64_t p = 0; p < 20; ++p) {
        const float x =
            *of == Operand::a ? fill_element(c, *of, line, p) : fill_element(c, *of, p, line);
        EXPECT_EQ(x == std::nearbyint(x), (p >= 10) == fits_behind) << to_string(c);
      }
  }
  EXPECT_EQ(cases.size(), 4u);
}

TEST(NarrowPattern, numbers_may_lie_where_16_bits_have_denormals_or_nothing) {
  int tiny = 0, large = 0;
  for (const Case& c : with_narrow(Pattern::bfloat16, 8, 400)) {
    if (last_does_not_fit(c.seed) || half_fits(c.seed) || narrow_alone(c.seed)) continue;
    const int exponent = narrow_exponent(c.seed);
    tiny += exponent < 0 ? 1 : 0;
    large += exponent > 0 ? 1 : 0;
    EXPECT_TRUE(exponent == 0 || exponent <= -15 || exponent >= 15);
    for (const Operand o : {Operand::a, Operand::b})
      EXPECT_TRUE(std::abs(std::ilogb(fill_element(c, o, 1, 2)) - exponent) <= 1) << to_string(c);
  }
  EXPECT_GT(std::min(tiny, large), 10);
  EXPECT_LT(tiny + large, 200) << "of about 220";
}

TEST(NarrowPattern, numbers_of_tf32_may_have_one_sign) {
  int of_one_sign = 0, of_both = 0;
  for (const Case& c : with_narrow(Pattern::tf32, 30, 60)) {
    if (last_does_not_fit(c.seed) || half_fits(c.seed) || narrow_alone(c.seed)) continue;
    int negative = 0;
    for (std::int64_t p = 0; p < c.k; ++p) negative += fill_element(c, Operand::a, 3, p) < 0;
    EXPECT_EQ(negative == 0, has_one_sign(c.seed));
    ++(negative == 0 ? of_one_sign : of_both);
  }
  EXPECT_GT(std::min(of_one_sign, of_both), 4);
}

TEST(NarrowPattern, special_values_may_lie_among_numbers_that_fit) {
  std::map<Operand, int> cases;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Case c{.m = 20, .n = 20, .k = 20, .fill = Fill::special, .seed = seed};
    const auto structure = structure_of_special(c);
    if (!structure || pattern_of(seed, Operand::a) != Pattern::signs) continue;
    if (narrow_alone(seed) || last_does_not_fit(seed) || half_fits(seed)) continue;
    for (const Operand o : {Operand::a, Operand::b}) {
      int special = 0;
      for (std::int64_t i = 0; i < 20; ++i)
        for (std::int64_t j = 0; j < 20; ++j) {
          const float x = fill_element(c, o, i, j);
          special += !std::isfinite(x);
          EXPECT_TRUE(!std::isfinite(x) || std::abs(x) == 1) << to_string(c);
        }
      EXPECT_EQ(special > 0, o == structure->of) << to_string(c);
    }
    ++cases[structure->of];
  }
  EXPECT_GT(std::min(cases[Operand::a], cases[Operand::b]), 5);
}

}  // namespace
