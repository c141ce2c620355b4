// The values that the elements of a case have.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "oracle/fills/pattern.h"
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
  }
}

TEST(Fill, special_has_exactly_one_in_each_matrix) {
  std::set<std::string> kinds;
  std::set<std::pair<std::size_t, Operand>> places;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const auto& [m, n, k] : {std::array{7, 5, 6}, {1, 1, 1}, {33, 2, 1}}) {
      const Case c{.m = m, .n = n, .k = k, .fill = Fill::special, .seed = seed};
      for (Operand o : operands) {
        const auto values = elements(c, o);
        const auto is_special = [](float v) { return !std::isfinite(v); };
        ASSERT_EQ(std::count_if(values.begin(), values.end(), is_special), 1) << to_string(c);
        const auto found = std::find_if(values.begin(), values.end(), is_special);
        kinds.insert(std::isnan(*found) ? "nan" : *found > 0 ? "inf" : "-inf");
        if (m == 7) places.insert({found - values.begin(), o});
      }
    }
  }
  EXPECT_EQ(kinds.size(), 3u) << "NaN and both infinities";
  EXPECT_GT(places.size(), 60u) << "all over the matrices";
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
    EXPECT_GE(finite, 17 * 17 - 3);
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

TEST(Fill, patterned_has_every_structure_for_one_seed_or_another) {
  std::set<Pattern> of_a, of_b;
  int both = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    of_a.insert(pattern_of(seed, Operand::a)), of_b.insert(pattern_of(seed, Operand::b));
    both += pattern_of(seed, Operand::a) != Pattern::plain &&
            pattern_of(seed, Operand::b) != Pattern::plain;
  }
  EXPECT_EQ(of_a.size(), static_cast<std::size_t>(Pattern::one_sided) + 1);
  EXPECT_EQ(of_b.size(), of_a.size());
  EXPECT_GT(both, 240);
}

// Cases whose A (B) has this pattern without an exception, for several seeds.
std::vector<Case> with_pattern(Pattern pattern, Operand o, std::int64_t size) {
  std::vector<Case> cases;
  for (std::uint64_t seed = 0; cases.size() < 40; ++seed) {
    if (pattern_of(seed, o) == pattern && exception_of(seed, o) == Exception::none)
      cases.push_back({.m = size, .n = size, .k = size, .fill = Fill::patterned, .seed = seed});
  }
  return cases;
}

TEST(Fill, patterned_zeros_lie_in_blocks_and_tiles) {
  int blocks_at_the_end = 0, partly = 0;
  for (const Case& c : with_pattern(Pattern::zero_block, Operand::b, 70)) {
    int zeros_in_first = 0, zeros_in_last = 0;
    for (int j = 0; j < 70; ++j) {
      zeros_in_first += fill_element(c, Operand::b, 0, j) == 0;
      zeros_in_last += fill_element(c, Operand::b, 69, j) == 0;
    }
    blocks_at_the_end += zeros_in_last > 0 && zeros_in_first < zeros_in_last;
    partly += zeros_in_last >= 32 && zeros_in_last < 70 &&
              fill_element(c, Operand::b, 69, 31) == 0 && fill_element(c, Operand::b, 69, 0) == 0;
  }
  EXPECT_GT(blocks_at_the_end, 20);
  EXPECT_GT(partly, 8) << "a look at the first columns does not tell";
  int off_diagonal = 0;
  for (const Case& c : with_pattern(Pattern::lone_in_tiles, Operand::a, 64)) {
    int others = 0;
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 64; ++j) {
        const bool nonzero = fill_element(c, Operand::a, i, j) != 0;
        others += nonzero;
        off_diagonal += nonzero && i % 8 != 0 && j % 8 != 0 && i % 8 != j % 8;
      }
    }
    EXPECT_GE(others, 1);
    EXPECT_LE(others, 64);
  }
  EXPECT_GT(off_diagonal, 200);
}

TEST(Fill, patterned_symmetry_may_end_at_a_corner) {
  const auto is_symmetric = [](const Case& c, int from, int to) {
    for (int i = from; i < to; ++i) {
      for (int j = 0; j < i; ++j) {
        if (fill_element(c, Operand::a, i, j) != fill_element(c, Operand::a, j, i)) return false;
      }
    }
    return true;
  };
  int corners = 0;
  for (const Case& c : with_pattern(Pattern::symmetric, Operand::a, 40))
    EXPECT_TRUE(is_symmetric(c, 0, 40));
  for (const Case& c : with_pattern(Pattern::symmetric_corner, Operand::a, 40)) {
    EXPECT_TRUE(is_symmetric(c, 0, 4));
    EXPECT_FALSE(is_symmetric(c, 32, 40));
    corners += is_symmetric(c, 0, 8);
  }
  EXPECT_GT(corners, 15);
}

TEST(Fill, patterned_lines_repeat_and_products_dominate) {
  int equal_up_to_32 = 0, periodic = 0;
  for (const Case& c : with_pattern(Pattern::equal_beginnings, Operand::a, 100)) {
    int equal = 1;
    const float first = fill_element(c, Operand::a, 3, 0);
    while (equal < 100 && fill_element(c, Operand::a, 3, equal) == first) ++equal;
    EXPECT_GE(equal, 16);
    equal_up_to_32 += equal >= 32 && equal < 100;
  }
  EXPECT_GT(equal_up_to_32, 12);
  for (const Case& c : with_pattern(Pattern::periodic, Operand::b, 100)) {
    int equal = 0;
    for (int p = 32; p < 100; ++p)
      equal += fill_element(c, Operand::b, p, 5) == fill_element(c, Operand::b, p - 32, 5);
    periodic += equal == 68;
  }
  EXPECT_GT(periodic, 25);
  for (const Case& c : with_pattern(Pattern::dominated, Operand::a, 60)) {
    int large = 0;
    for (int p = 0; p < 60; ++p) {
      large += std::abs(fill_element(c, Operand::a, 7, p)) > 1e-6 &&
               std::abs(fill_element(c, Operand::b, p, 7)) > 1e-6;
    }
    EXPECT_EQ(large, 1);
  }
}

TEST(Fill, patterned_lines_hold_one_element_or_one_exception_or_are_equal) {
  for (const Case& c : with_pattern(Pattern::permutation, Operand::a, 40)) {
    std::set<std::int64_t> places;
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t p = 0; p < c.k; ++p) {
        if (fill_element(c, Operand::a, i, p) != 0) places.insert(p);
      }
    }
    EXPECT_EQ(places.size(), 40u) << to_string(c);
  }
  for (const Case& c : with_pattern(Pattern::one_exception, Operand::b, 40)) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      std::map<float, int> numbers;
      for (std::int64_t p = 0; p < c.k; ++p) ++numbers[fill_element(c, Operand::b, p, j)];
      EXPECT_LE(numbers.size(), 2u) << to_string(c);
      for (const auto& [number, times] : numbers) EXPECT_TRUE(times == 1 || times >= 39) << number;
    }
  }
  for (const Case& c : with_pattern(Pattern::toeplitz, Operand::a, 40))
    EXPECT_EQ(fill_element(c, Operand::a, 3, 5), fill_element(c, Operand::a, 13, 15));
  for (const Case& c : with_pattern(Pattern::equal_lines, Operand::a, 40))
    EXPECT_EQ(fill_element(c, Operand::a, 3, 5), fill_element(c, Operand::a, 13, 5));
}

TEST(Fill, patterned_sparse_matrices_hold_few_elements_or_two_of_four) {
  std::set<int> shares;
  for (const Case& c : with_pattern(Pattern::sparse, Operand::a, 64)) {
    int held = 0, ones = 0;
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t p = 0; p < c.k; ++p) {
        const float element = fill_element(c, Operand::a, i, p);
        held += element != 0, ones += element == 1;
      }
    }
    EXPECT_TRUE(ones == 0 || ones == held);
    for (const int share : {2, 8, 32})
      if (std::abs(held - 4096 / share) < 1024 / share) shares.insert(share * (ones > 0 ? -1 : 1));
  }
  EXPECT_EQ(shares.size(), 6u) << "each with ones, and with other numbers";
  for (const Case& c : with_pattern(Pattern::pruned, Operand::b, 24)) {
    std::set<std::int64_t> places;
    for (std::int64_t j = 0; j < c.n; ++j) {
      for (std::int64_t first = 0; first < c.k; first += 4) {
        std::int64_t held = 0, which = 0;
        for (std::int64_t p = 0; p < 4; ++p) {
          if (fill_element(c, Operand::b, first + p, j) != 0) ++held, which |= 1 << p;
        }
        EXPECT_EQ(held, 2);
        places.insert(which);
      }
    }
    EXPECT_EQ(places.size(), 6u);
  }
  for (const Case& c : with_pattern(Pattern::counting, Operand::a, 20)) {
    for (std::int64_t p = 0; p < c.k; ++p)
      EXPECT_EQ(fill_element(c, Operand::a, 7, p), static_cast<float>(p % 8 + 1));
  }
}

TEST(Fill, patterned_structure_may_have_one_exception) {
  std::map<Exception, int> all;
  int by_row = 0, by_column = 0;
  for (std::uint64_t seed = 0; seed < 40000; ++seed) {
    if (pattern_of(seed, Operand::a) != Pattern::diagonal) continue;
    const Exception exception = exception_of(seed, Operand::a);
    ++all[exception];
    const Case c{.m = 30, .n = 2, .k = 30, .fill = Fill::patterned, .seed = seed};
    std::set<std::int64_t> rows, columns;
    int aside = 0, numbers = 0;
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t p = 0; p < c.k; ++p) {
        const float element = fill_element(c, Operand::a, i, p);
        if (i == p) numbers += element != 1;
        if (i != p && element != 0) ++aside, rows.insert(i), columns.insert(p);
      }
    }
    switch (exception) {
      case Exception::none: EXPECT_TRUE(aside == 0 && (numbers == 0 || numbers == 30)); break;
      case Exception::element: EXPECT_LE(aside, 1); break;
      case Exception::other_line: EXPECT_TRUE(aside == 0 && numbers % 29 == 1); break;
      case Exception::filled_line:
        EXPECT_EQ(aside, 29);
        by_row += rows.size() == 1, by_column += columns.size() == 1;
        break;
    }
  }
  EXPECT_EQ(all.size(), 4u);
  EXPECT_GT(std::min(by_row, by_column), 20);
}

TEST(Fill, patterned_slopes_and_levels_lie_along_k) {
  const auto size_of = [](const Case& c, Operand o, int p) {
    double sum = 0;  // of a few lines, none of them near 0
    for (int line = 0; line < 12; ++line)
      sum += std::abs(o == Operand::a ? fill_element(c, o, line, p) : fill_element(c, o, p, line));
    return sum / 12;
  };
  for (const Case& c : with_pattern(Pattern::opposite_slopes, Operand::a, 50)) {
    const double of_a = size_of(c, Operand::a, 0) / size_of(c, Operand::a, 49);
    EXPECT_GT(std::abs(std::log2(of_a)), 25);
    EXPECT_NEAR(std::log2(of_a), -std::log2(size_of(c, Operand::b, 0) / size_of(c, Operand::b, 49)),
                3);
  }
  for (const Case& c : with_pattern(Pattern::parallel_slopes, Operand::a, 50)) {
    const double of_a = size_of(c, Operand::a, 0) / size_of(c, Operand::a, 49);
    EXPECT_NEAR(std::log2(of_a), std::log2(size_of(c, Operand::b, 0) / size_of(c, Operand::b, 49)),
                3);
  }
  int tiny = 0;
  for (const Case& c : with_pattern(Pattern::levels, Operand::a, 50)) {
    for (int p = 0; p < 50; ++p)
      tiny += size_of(c, Operand::a, p) * size_of(c, Operand::b, p) < 0x1p-30;
  }
  EXPECT_GT(tiny, 400);
  for (const Case& c : with_pattern(Pattern::one_sided, Operand::a, 9)) {
    for (Operand o : operands)
      for (float element : elements(c, o)) EXPECT_GT(element, 0);
  }
}

TEST(Bound, grows_with_k_for_patterned_data_alone) {
  Case c = with_pattern(Pattern::one_sided, Operand::a, 1).front();
  for (const auto& [k, gulps] :
       std::vector<std::pair<std::int64_t, double>>{{4, 6}, {14, 16}, {100, 42}, {10000, 402}}) {
    c.k = k;
    EXPECT_EQ(allowed_gulps(Arithmetic::fp32, c), gulps) << k;
    EXPECT_EQ(allowed_gulps(Arithmetic::tf32, c), gulps + 2 * 8192) << k;
  }
  c.fill = Fill::uniform;
  EXPECT_EQ(allowed_gulps(Arithmetic::fp32, c), 16);
}

// What is far below the one product that dominates a sum is lost in some orders, and costs less
// than a rounding.
TEST(Bound, is_narrow_where_one_product_dominates) {
  for (Case c : with_pattern(Pattern::dominated, Operand::a, 100)) {
    c.m = c.n = 3, c.k = 2000;
    EXPECT_EQ(allowed_gulps(Arithmetic::fp32, c), 6);
    double largest = 0, others = 0;
    for (std::int64_t p = 0; p < c.k; ++p) {
      const double product =
          std::abs(double{fill_element(c, Operand::a, 1, p)} * fill_element(c, Operand::b, p, 2));
      others += std::min(largest, product), largest = std::max(largest, product);
    }
    EXPECT_LT(others, largest * 0x1p-24) << to_string(c);
  }
}

}  // namespace
