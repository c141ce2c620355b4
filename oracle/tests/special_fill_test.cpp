// fill=special: how it is made, and where many special values lie.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "oracle/fills/filling.h"
#include "oracle/reference.h"

namespace {

using namespace assay;

// All sums of a warp may be NaN where those of the next one are not.
TEST(Fill, may_have_a_special_run_as_long_as_a_warp) {
  int aligned = 0, others = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Case c{.m = 256, .n = 256, .k = 40, .fill = Fill::special, .seed = seed};
    const auto run = run_of_special(seed);
    if (!run || run->of != Operand::a || !run->is_across) continue;
    const auto a = [&](std::int64_t i, std::int64_t p) {
      return fill_element(c, Operand::a, i, p);
    };
    std::int64_t most = 0, first = 0;
    for (std::int64_t p = 0; p < c.k; ++p) {
      for (std::int64_t i = 0, end; i < c.m; i = end + 1) {
        for (end = i; end < c.m && !std::isfinite(a(end, p)); ++end) continue;
        if (end - i > most) most = end - i, first = i;
      }
    }
    const bool is_whole = most == 32 || most == 64;
    (is_whole && first % most == 0 ? aligned : others) += 1;
  }
  EXPECT_GT(aligned, 10);
  EXPECT_GT(others, 10);
}

// Each is at a place of its own: where a sum of one column is put together from parts, some part of
// it has to be infinite, and none of the other rows.
TEST(Fill, may_have_a_special_value_in_many_lines) {
  for (const auto& [m, n] : {std::pair(60, 1), {1, 60}, {60, 4}}) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
      const Case c{.m = m, .n = n, .k = 300, .fill = Fill::special, .seed = seed};
      if (!has_more_special_lines(c) || zeros_at_the_end(c)) continue;
      const auto [many, other] =
          m > n ? std::pair(Operand::a, Operand::b) : std::pair(Operand::b, Operand::a);
      std::set<std::int64_t> lines, places;
      bool is_other_finite = true;
      for (std::int64_t p = 0; p < c.k; ++p) {
        for (std::int64_t line = 0; line < std::max(m, n); ++line) {
          const bool is_a = many == Operand::a;
          if (std::isfinite(fill_element(c, many, is_a ? line : p, is_a ? p : line))) continue;
          lines.insert(line), places.insert(p);
        }
        for (std::int64_t line = 0; line < std::min(m, n); ++line) {
          const bool is_a = other == Operand::a;
          is_other_finite &=
              std::isfinite(fill_element(c, other, is_a ? line : p, is_a ? p : line));
        }
      }
      EXPECT_EQ(lines.size(), 12u) << to_string(c);
      EXPECT_GT(places.size(), 4u) << to_string(c);
      EXPECT_EQ(is_other_finite, std::min(m, n) == 1) << to_string(c);
      ++found;
    }
    EXPECT_GT(found, 8);
  }
}

// A row is made faster than its elements are.
TEST(Fill, gives_a_row_the_elements_it_has_one_by_one) {
  int unusual = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Case c{.m = 19, .n = 23, .k = 40, .fill = Fill::special, .seed = seed};
    for (const Operand o : {Operand::a, Operand::b, Operand::c}) {
      const Filling filling(c, o);
      const Shape shape = shape_of(c, o);
      std::vector<float> row(static_cast<std::size_t>(shape.columns));
      for (std::int64_t i = 0; i < shape.rows; ++i) {
        filling.fill_row(row.data(), i, shape.columns);
        for (std::int64_t j = 0; j < shape.columns; ++j) {
          const float given = row[static_cast<std::size_t>(j)], own = filling.at(i, j);
          unusual += !(std::abs(own) > 0) || std::isinf(own);
          ASSERT_EQ(std::bit_cast<std::uint32_t>(given), std::bit_cast<std::uint32_t>(own))
              << to_string(c) << " " << i << " " << j;
        }
      }
    }
  }
  EXPECT_GT(unusual, 10'000);
}

// Else a right sum times a large alpha is infinite, and may meet an infinity in C.
TEST(Fill, has_no_special_products_beyond_what_is_said_of_them) {
  int large = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const Case c{.m = 3, .n = 12, .k = 20, .alpha = 0x1p10f, .fill = Fill::special, .seed = seed};
    const Filling a(c, Operand::a), b(c, Operand::b);
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < c.k; ++p) {
          const double product = std::abs(double{a.at(i, p)} * b.at(p, j));
          if (std::isfinite(product)) sum += product;
        }
        ASSERT_LE(c.alpha * sum, largest_sum(c)) << seed;
        large += sum > 0x1p60;
      }
  }
  EXPECT_GT(large, 0);
}

}  // namespace
