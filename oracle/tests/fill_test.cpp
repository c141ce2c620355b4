// The values that the elements of a case have.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "oracle/fills/filling.h"
#include "oracle/reference.h"

namespace {

using namespace assay;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
std::int64_t columns_of(const Case& c, Operand o) { return o == Operand::a ? c.k : c.n; }

// All elements of one operand.
std::vector<float> elements(Case c, Operand o) {
  c.beta = 1;  // so that C has elements
  const std::int64_t rows = o == Operand::b ? c.k : c.m, columns = columns_of(c, o);
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) values.push_back(fill_element(c, o, i, j));
  }
  return values;
}

TEST(Fill, depends_on_operand_place_and_seed_alone) {
  for (Fill fill : {Fill::uniform, Fill::exact, Fill::small_ints, Fill::special}) {
    const Case c{.m = 9, .n = 9, .k = 9, .fill = fill, .seed = 5};
    Case other_scalars = c, other_seed = c;
    other_scalars.alpha = 3, other_scalars.beta = 2, other_scalars.lda = {3};
    other_seed.seed = 7;
    std::set<std::vector<std::uint32_t>> different;
    for (Operand o : operands) {
      const auto as_bits = [](const std::vector<float>& values) {
        std::vector<std::uint32_t> all;
        for (float v : values) all.push_back(bits(v));
        return all;
      };
      EXPECT_EQ(as_bits(elements(c, o)), as_bits(elements(other_scalars, o)));
      different.insert(as_bits(elements(c, o)));
      different.insert(as_bits(elements(other_seed, o)));
    }
    EXPECT_EQ(different.size(), 6u) << to_string(fill);
  }
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(Fill, uniform_has_no_mean_no_zero_and_no_neighbourhood) {
  for (std::uint64_t seed : {0, 1, 77}) {
    const Case c{.m = 200, .n = 190, .k = 210, .seed = seed};
    for (Operand o : operands) {
      const auto values = elements(c, o);
      const std::int64_t columns = columns_of(c, o);
      std::vector<double> first(values.begin(), values.end()), squares, beside, below;
      for (std::size_t i = 0; i + columns < values.size(); ++i) {
        ASSERT_LT(std::abs(values[i]), 1.0f);
        ASSERT_NE(values[i], 0.0f);
        squares.push_back(values[i] * values[i]);
        beside.push_back(values[i] * values[i + 1]);
        below.push_back(values[i] * values[i + columns]);
      }
      EXPECT_NEAR(mean(first), 0, 0.02);
      EXPECT_NEAR(mean(squares), 1.0 / 3, 0.02);
      EXPECT_NEAR(mean(beside), 0, 0.01);
      EXPECT_NEAR(mean(below), 0, 0.01);
    }
  }
}

TEST(Fill, small_ints_are_all_of_them_from_minus_8_to_8) {
  for (Operand o : operands) {
    const auto values = elements({.m = 30, .n = 30, .k = 30, .fill = Fill::small_ints}, o);
    std::set<float> seen(values.begin(), values.end());
    EXPECT_EQ(seen.size(), 17u);
    EXPECT_EQ(*seen.begin(), -8);
    EXPECT_EQ(*seen.rbegin(), 8);
  }
}

TEST(Fill, identity_is_one_as_far_as_it_reaches) {
  for (const auto& [m, k] : {std::pair{5, 5}, {3, 7}, {7, 3}, {1, 1}}) {
    const Case c{.m = m, .n = 4, .k = k, .fill = Fill::identity};
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < k; ++j) EXPECT_EQ(fill_element(c, Operand::a, i, j), i == j ? 1 : 0);
    }
    const auto b = elements(c, Operand::b);
    EXPECT_EQ(std::set<float>(b.begin(), b.end()).size(), b.size()) << "B is like no identity";
  }
}

TEST(Fill, one_hot_has_a_single_1_in_each_row) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case c{.m = 40, .n = 3, .k = 17, .fill = Fill::one_hot, .seed = seed};
    std::set<int> places;
    for (int i = 0; i < c.m; ++i) {
      int ones = 0;
      for (int j = 0; j < c.k; ++j) {
        const float value = fill_element(c, Operand::a, i, j);
        if (value == 1) ++ones, places.insert(j);
        EXPECT_TRUE(value == 0 || value == 1);
      }
      EXPECT_EQ(ones, 1) << "row " << i;
    }
    EXPECT_GT(places.size(), 8u) << "all over the row";
    if (seed % 2 == 1) {
      EXPECT_EQ(fill_element(c, Operand::a, c.m - 1, c.k - 1), 1);
    }
  }
}

// Such as lie one behind the other, or one below the other, count as one.
int runs_of_special(const Case& c, Operand o) {
  const Shape shape = shape_of(c, o);
  int runs = 0;
  for (std::int64_t i = 0; i < shape.rows; ++i)
    for (std::int64_t j = 0; j < shape.columns; ++j) {
      const auto is_special = [&](std::int64_t row, std::int64_t column) {
        return row >= 0 && column >= 0 && !std::isfinite(fill_element(c, o, row, column));
      };
      const bool goes_on = o != Operand::c && (is_special(i, j - 1) || is_special(i - 1, j));
      runs += !std::isfinite(fill_element(c, o, i, j)) && !goes_on;
    }
  return runs;
}

TEST(Fill, special_may_have_many_in_a_row_or_a_column) {
  std::map<Operand, int> many;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Case c{.m = 9, .n = 9, .k = 40, .fill = Fill::special, .seed = seed};
    for (const Operand o : {Operand::a, Operand::b}) {
      const auto values = elements(c, o);
      many[o] += std::count_if(values.begin(), values.end(),
                               [](float v) { return !std::isfinite(v); }) > 8;
      EXPECT_LE(runs_of_special(c, o), has_more_special_lines(c) ? 3 : 2) << to_string(c);
    }
  }
  EXPECT_GT(many[Operand::a], 4);
  EXPECT_GT(many[Operand::b], 4);
}

TEST(Fill, special_has_nan_that_signal) {
  bool signals = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case c{.m = 2, .n = 2, .k = 2, .fill = Fill::special, .seed = seed};
    for (const float value : elements(c, Operand::a)) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      signals |= std::isnan(value) && (bits & 0x400000u) == 0;
    }
  }
  EXPECT_TRUE(signals);
}

TEST(Fill, scaled_may_have_powers_of_2_in_a) {
  int all_are = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const Case c{.m = 6, .n = 2, .k = 5, .fill = Fill::scaled, .seed = seed};
    const auto values = elements(c, Operand::a);
    all_are += std::all_of(values.begin(), values.end(), [](float v) {
      return std::exp2(std::round(std::log2(std::abs(v)))) == std::abs(v);
    });
  }
  EXPECT_GT(all_are, 6);
  EXPECT_LT(all_are, 32);
}

TEST(Fill, special_has_at_least_one_run_in_each_matrix_that_is_to_have_one) {
  std::set<std::string> kinds;
  std::set<std::pair<std::size_t, Operand>> places;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const auto& [m, n, k] : {std::array{7, 5, 6}, {1, 1, 1}, {33, 2, 1}}) {
      const Case c{.m = m, .n = n, .k = k, .fill = Fill::special, .seed = seed};
      for (Operand o : operands) {
        const auto values = elements(c, o);
        const auto is_special = [](float v) { return !std::isfinite(v); };
        const int runs = runs_of_special(c, o);
        const auto structure = structure_of_special(c);
        const bool is_narrow_beside =
            structure && is_narrow(pattern_of(seed, o)) && o != Operand::c && structure->of != o;
        if (is_narrow_beside || (structure && structure->of == o && !structure->has_values)) {
          EXPECT_EQ(runs, 0) << to_string(c);
          continue;
        }
        if (has_more_special_lines(c) && m == 33 && o != Operand::c) {
          EXPECT_GE(runs, o == Operand::a ? 5 : 1) << to_string(c);
          continue;
        }
        ASSERT_TRUE(runs == 1 || (o != Operand::c && runs == 2)) << to_string(c);
        const auto found = std::find_if(values.begin(), values.end(), is_special);
        kinds.insert(std::isnan(*found) ? "nan" : *found > 0 ? "inf" : "-inf");
        if (m == 7) places.insert({found - values.begin(), o});
      }
    }
  }
  EXPECT_EQ(kinds.size(), 3u) << "NaN and both infinities";
  EXPECT_GT(places.size(), 60u) << "all over the matrices";
}

// A slice that has tiny numbers too may be multiplied in another way.
TEST(Fill, largest_meets_factors_that_are_not_tiny) {
  int not_tiny = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Case c{.m = 4, .n = 1, .k = 4, .fill = Fill::largest, .seed = seed};
    if (largest_in(seed, 1) != LargestIn::a) continue;
    const auto b = elements(c, Operand::b);
    not_tiny += std::ranges::all_of(b, [](float v) { return std::abs(v) > 0x1p-40f; });
  }
  EXPECT_GT(not_tiny, 3);
}

// Rows that are alike, a diagonal, or zeros at the beginning, opposite an infinity; or with one.
TEST(Fill, special_may_meet_structure) {
  std::set<Pattern> of_a, of_b, with_values;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Case c{.m = 20, .n = 24, .k = 22, .fill = Fill::special, .seed = seed};
    const auto structure = structure_of_special(c);
    if (!structure) continue;
    const Operand o = structure->of, other = o == Operand::a ? Operand::b : Operand::a;
    Case patterned = c;
    patterned.fill = Fill::patterned;
    const auto regular = elements(patterned, o), found = elements(c, o);
    int unlike = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(found[i] == regular[i] || !std::isfinite(found[i])) << to_string(c);
      unlike += found[i] != regular[i];
    }
    EXPECT_EQ(unlike > 0, structure->has_values) << to_string(c);
    EXPECT_EQ(runs_of_special(c, other) > 0, !is_narrow(pattern_of(seed, o))) << to_string(c);
    (o == Operand::a ? of_a : of_b).insert(pattern_of(seed, o));
    if (structure->has_values) with_values.insert(pattern_of(seed, o));
  }
  EXPECT_GT(std::min({of_a.size(), of_b.size(), with_values.size()}), 12u);
}

TEST(Fill, special_leaves_most_of_the_result_finite) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Case c{.m = 20, .n = 20, .k = 5, .beta = 1, .fill = Fill::special, .seed = seed};
    const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
    int finite = 0;
    for (int i = 0; i < 20; ++i) {
      for (int j = 0; j < 20; ++j) {
        float sum = all[Operand::c].row(i)[j];
        for (int p = 0; p < 5; ++p) sum += all[Operand::a].row(i)[p] * all[Operand::b].row(p)[j];
        finite += std::isfinite(sum);
      }
    }
    EXPECT_GE(finite, has_more_special_lines(c) ? 14 * 17 - 3 : 17 * 17 - 3);
    EXPECT_LE(finite, 400 - 39);
  }
}

TEST(Fill, special_has_zeros_opposite_its_infinities_and_nan) {
  int of_a = 0, of_b = 0, lost_by_skipping = 0, zero_rows = 0, negative = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c{.m = 24, .n = 20, .k = 9, .fill = Fill::special, .seed = seed};
    const auto a = [&](std::int64_t i, std::int64_t p) {
      return fill_element(c, Operand::a, i, p);
    };
    const auto b = [&](std::int64_t p, std::int64_t j) {
      return fill_element(c, Operand::b, p, j);
    };
    for (std::int64_t i = 0; i < c.m; ++i) {
      int zeros = 0;
      for (std::int64_t p = 0; p < c.k; ++p) {
        zeros += a(i, p) == 0, negative += a(i, p) == 0 && std::signbit(a(i, p));
        for (std::int64_t j = 0; j < c.n; ++j) {
          of_a += !std::isfinite(a(i, p)) && b(p, j) == 0;
          of_b += !std::isfinite(b(p, j)) && a(i, p) == 0;
        }
      }
      zero_rows += zeros == c.k;
    }
    for (std::int64_t j = 0; j < c.n; ++j) {
      float all = 0, without_zeros = 0;
      for (std::int64_t p = 0; p < c.k; ++p) {
        all += a(0, p) * b(p, j);
        if (a(0, p) != 0) without_zeros += a(0, p) * b(p, j);
      }
      lost_by_skipping += std::isnan(all) && !std::isnan(without_zeros);
    }
  }
  EXPECT_GT(of_a, 400);
  EXPECT_GT(of_b, 400);
  EXPECT_GT(lost_by_skipping, 10);
  EXPECT_GT(zero_rows, 20);
  EXPECT_GT(negative, 100);
}

TEST(Fill, scaled_reaches_from_denormals_to_what_16_bits_cannot_hold) {
  int denormal_inputs = 0, denormal_results = 0, beyond_16_bits = 0, wide = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c{.m = 12, .n = 14, .k = 6, .beta = 1, .fill = Fill::scaled, .seed = seed};
    const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
    const Reference reference = make_reference(c, all);
    float least = HUGE_VALF, most = 0;
    for (Operand o : {Operand::a, Operand::b}) {
      for (float element : elements(c, o)) {
        least = std::min(least, std::abs(element)), most = std::max(most, std::abs(element));
        denormal_inputs += element != 0 && std::abs(element) < 0x1p-126f;
      }
    }
    wide += most / least > 0x1p40f;
    beyond_16_bits += most > 65504;
    for (std::size_t i = 0; i < reference.c.size(); ++i) {
      EXPECT_LT(reference.gauge[i], largest_sum(c));
      denormal_results += reference.gauge[i] < 0x1p-127 && reference.gauge[i] > 0x1p-140;
    }
  }
  EXPECT_GT(denormal_inputs, 100);
  EXPECT_GT(denormal_results, 50) << "far above " << underflow_of({.k = 6});
  EXPECT_GT(beyond_16_bits, 10);
  EXPECT_GT(wide, 10);
}

TEST(Fill, special_may_lie_among_the_zeros) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case c{.m = 20, .n = 20, .k = 100, .fill = Fill::special, .seed = seed};
    const auto zeros = zeros_at_the_end(c);
    if (!zeros || zeros->of != Operand::a) continue;
    int special = 0, others = 0;
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t p = zeros->from; p < c.k; ++p) {
        const float value = fill_element(c, Operand::a, i, p);
        special += !std::isfinite(value);
        others += std::isfinite(value) && value != 0;
      }
    EXPECT_EQ(others, 0);
    found += special > 0;
  }
  EXPECT_GT(found, 10);
}

TEST(Fill, special_may_meet_zeros_that_reach_to_the_end_of_k) {
  int of_a = 0, of_b = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Case c{.m = 7, .n = 6, .k = 12, .fill = Fill::special, .seed = seed};
    const auto zeros_from = [&](Operand o) {
      std::int64_t from = c.k;
      const auto is_zero = [&](std::int64_t p) {
        for (std::int64_t line = 0; line < (o == Operand::a ? c.m : c.n); ++line) {
          const bool of_a = o == Operand::a;
          if (fill_element(c, o, of_a ? line : p, of_a ? p : line) != 0) return false;
        }
        return true;
      };
      while (from > 0 && is_zero(from - 1)) --from;
      return from;
    };
    const auto has_special = [&](Operand o, std::int64_t from) {
      for (std::int64_t p = from; p < c.k; ++p) {
        for (std::int64_t line = 0; line < 6; ++line) {
          if (!std::isfinite(
                  fill_element(c, o, o == Operand::a ? line : p, o == Operand::a ? p : line)))
            return true;
        }
      }
      return false;
    };
    of_a += zeros_from(Operand::a) < c.k && has_special(Operand::b, zeros_from(Operand::a));
    of_b += zeros_from(Operand::b) < c.k && has_special(Operand::a, zeros_from(Operand::b));
  }
  EXPECT_GT(std::min(of_a, of_b), 5);
}

}  // namespace
