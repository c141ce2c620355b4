// fill=patterned: the structure of its matrices, and where that ends.
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
#include "oracle/reference.h"

namespace {

using namespace assay;

// Elements that are as far apart as what counts a distance may hold, or just not; or gaps that are.
TEST(Pattern, has_runs_beside_powers_of_two) {
  std::set<std::int64_t> distances[2];
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    const Case c{.m = 64, .n = 2, .k = 2100, .fill = Fill::patterned, .seed = seed};
    if (pattern_of(seed, Operand::a) != Pattern::pruned || !is_of_second_kind(seed) ||
        exception_of(seed, Operand::a) != Exception::none)
      continue;
    for (std::int64_t i = 0; i < c.m; ++i) {
      const bool are_few = fill_element(c, Operand::a, i, 1) == 0;
      std::int64_t next = 1;
      while ((fill_element(c, Operand::a, i, next) != 0) != are_few) ++next;
      EXPECT_EQ(fill_element(c, Operand::a, i, 2 * next) != 0, are_few) << to_string(c);
      distances[are_few].insert(next);
    }
  }
  for (const auto& some : distances)
    for (const std::int64_t distance : {7, 8, 9, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025})
      EXPECT_TRUE(some.contains(distance)) << distance;
}

TEST(Pattern, has_every_structure_for_one_seed_or_another) {
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

TEST(Pattern, zeros_lie_in_blocks_and_tiles) {
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

TEST(Pattern, symmetry_may_end_at_a_corner) {
  const auto is_symmetric = [](const Case& c, int from, int to) {
    const float sign = is_of_second_kind(c.seed) ? -1 : 1;  // then it is skew-symmetric
    for (int i = from; i < to; ++i) {
      for (int j = 0; j <= i; ++j) {
        const float below = fill_element(c, Operand::a, i, j);
        if (below != sign * fill_element(c, Operand::a, j, i)) return false;
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

TEST(Pattern, lines_repeat_and_products_dominate) {
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

TEST(Pattern, lines_hold_one_element_or_one_exception_or_are_equal) {
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
  for (const Case& c : with_pattern(Pattern::toeplitz, Operand::a, 40)) {
    const int column = is_of_second_kind(c.seed) ? 17 : 27;  // along the diagonals across
    EXPECT_EQ(fill_element(c, Operand::a, 3, 22), fill_element(c, Operand::a, 8, column));
  }
  std::set<float> multiples;
  for (const Case& c : with_pattern(Pattern::equal_lines, Operand::a, 40)) {
    const auto multiple_at = [&](std::int64_t column) {
      return fill_element(c, Operand::a, 3, column) / fill_element(c, Operand::a, 13, column);
    };
    EXPECT_EQ(multiple_at(5), multiple_at(17));
    multiples.insert(multiple_at(5));
    EXPECT_TRUE(multiple_at(5) == 1 || is_of_second_kind(c.seed));
  }
  EXPECT_GT(multiples.size(), 5u);
}

TEST(Pattern, sparse_matrices_hold_few_elements_or_two_of_four) {
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
    if (is_of_second_kind(c.seed)) continue;
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

TEST(Pattern, structure_may_have_one_exception) {
  std::map<Exception, int> all;
  int by_row = 0, by_column = 0;
  for (std::uint64_t seed = 0; seed < 80000; ++seed) {
    if (pattern_of(seed, Operand::a) != Pattern::diagonal || is_of_second_kind(seed)) continue;
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
      case Exception::rest:
        EXPECT_EQ(aside % 29, 0);
        EXPECT_TRUE(columns.empty() || *columns.rbegin() == c.k - 1);
        break;
      case Exception::slight: EXPECT_EQ(aside, 0); break;
      case Exception::pair: EXPECT_LE(aside, 2); break;
    }
  }
  EXPECT_EQ(all.size(), 7u);
  EXPECT_GT(std::min(by_row, by_column), 20);
}

Case with_exception(Pattern pattern, Operand o, Exception exception) {
  Case c{.m = 40, .n = 40, .k = 40, .fill = Fill::patterned};
  while (pattern_of(c.seed, o) != pattern || exception_of(c.seed, o) != exception ||
         is_of_second_kind(c.seed))
    ++c.seed;
  return c;
}

TEST(Pattern, what_is_nearly_constant_is_off_by_little) {
  const Case c = with_exception(Pattern::constant, Operand::a, Exception::slight);
  std::set<float> values;
  for (std::int64_t p = 0; p < c.k; ++p) values.insert(fill_element(c, Operand::a, 3, p));
  EXPECT_GT(values.size(), 8u);
  const float least = std::abs(*values.begin()), most = std::abs(*values.rbegin());
  EXPECT_LT(std::abs(most - least), std::min(least, most) / 200);
}

TEST(Pattern, a_pair_cancels) {
  const Case c = with_exception(Pattern::diagonal, Operand::a, Exception::pair);
  const Case without = with_exception(Pattern::diagonal, Operand::a, Exception::none);
  float sum = 0;
  int changed = 0;
  for (std::int64_t i = 0; i < c.m; ++i)
    for (std::int64_t p = 0; p < c.k; ++p) {
      const float element = fill_element(c, Operand::a, i, p);
      if (i != p && element != 0) sum += element, ++changed;
    }
  EXPECT_GE(changed, 1);
  EXPECT_TRUE(changed == 1 || sum == 0);
  EXPECT_EQ(fill_element(without, Operand::a, 0, 1), 0);
}

TEST(Pattern, lone_products_lie_beside_seams_and_at_both_ends) {
  for (const std::int64_t k : {70, 5000, 5'000'000}) {
    Case c{.m = 1, .n = 1, .k = k, .fill = Fill::patterned};
    while (pattern_of(c.seed, Operand::a) != Pattern::seams ||
           exception_of(c.seed, Operand::a) != Exception::none)
      ++c.seed;
    int count = 0;
    for (std::int64_t p = 0; p < k; ++p) count += fill_element(c, Operand::a, 0, p) != 0;
    EXPECT_LT(count, 200) << k;
    std::vector<std::int64_t> cuts = {0, k - 1, k / 3, k / 3 - 1};
    for (std::int64_t piece = 1 << 22; piece > 64; piece /= 2)
      if (piece < k && piece * 16 > k) cuts.insert(cuts.end(), {piece - 1, piece, piece - 16});
    for (const std::int64_t p : cuts) {
      const float element = std::abs(fill_element(c, Operand::a, 0, p));
      EXPECT_TRUE(element >= 0.5f && element <= 1) << p << " of " << k;
    }
  }
}

TEST(Pattern, c_may_have_structure_too) {
  std::map<Pattern, int> all;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) ++all[pattern_of(seed, Operand::c)];
  for (const Pattern pattern :
       {Pattern::zero_block, Pattern::equal_lines, Pattern::constant, Pattern::sparse})
    EXPECT_GT(all[pattern], 50);
  EXPECT_GT(all[Pattern::plain], 800);
  int of_rows = 0, of_columns = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    if (pattern_of(seed, Operand::c) != Pattern::equal_lines ||
        exception_of(seed, Operand::c) != Exception::none)
      continue;
    const Case c{.m = 9, .n = 9, .k = 9, .fill = Fill::patterned, .seed = seed};
    const auto at = [&](int i, int j) { return fill_element(c, Operand::c, i, j); };
    EXPECT_EQ(at(0, 4) / at(8, 4), at(0, 2) / at(8, 2)) << "multiples of one line";
    if (is_of_second_kind(c.seed)) continue;
    of_rows += at(0, 4) == at(8, 4), of_columns += at(4, 0) == at(4, 8);
    EXPECT_NE(at(0, 4) == at(8, 4), at(4, 0) == at(4, 8));
  }
  EXPECT_GT(of_rows, 0);
  EXPECT_GT(of_columns, 0);
}

TEST(Pattern, slopes_and_levels_lie_along_k) {
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
      for (std::int64_t i = 0; i < 9; ++i) {
        for (std::int64_t j = 0; j < 9; ++j) EXPECT_GT(fill_element(c, o, i, j), 0);
      }
  }
}

TEST(Pattern, of_half_of_what_is_one_sided_b_is_the_transpose_of_a) {
  int transposed = 0;
  const std::vector<Case> cases = with_pattern(Pattern::one_sided, Operand::a, 9);
  for (const Case& c : cases) {
    const bool is_it = fill_element(c, Operand::a, 3, 5) == fill_element(c, Operand::b, 5, 3) &&
                       fill_element(c, Operand::a, 7, 1) == fill_element(c, Operand::b, 1, 7);
    EXPECT_EQ(is_it, is_of_second_kind(c.seed)) << to_string(c);
    transposed += is_it;
  }
  EXPECT_GT(transposed, std::ssize(cases) / 4);
  EXPECT_LT(transposed, std::ssize(cases) * 3 / 4);
}

TEST(Bound, grows_with_k_for_patterned_data_alone) {
  Case c = with_pattern(Pattern::one_sided, Operand::a, 1).front();
  for (const auto& [k, gulps] :
       std::vector<std::pair<std::int64_t, double>>{{4, 6}, {14, 16}, {100, 42}, {10000, 402}}) {
    c.k = k;
    EXPECT_EQ(allowed_gulps(Arithmetic::fp32, c), gulps) << k;
    EXPECT_EQ(allowed_gulps(Arithmetic::tf32, c), gulps + 2 * 16384) << k;
  }
  c.fill = Fill::uniform;
  EXPECT_EQ(allowed_gulps(Arithmetic::fp32, c), 16);
}

// What is far below the one product that dominates a sum is lost in some orders, and costs less
// than a rounding.
// Whoever packs what fits a type is off by a bit where it nearly fits.
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
