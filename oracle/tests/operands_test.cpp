// Where the elements of a case lie in memory, what lies around them, and what their values are.
#include "oracle/operands.h"
#include "oracle/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

namespace {

using namespace assay;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// Some cases with gaps, offsets and empty matrices.
std::vector<Case> layouts() {
  return {{.m = 3, .n = 2, .k = 4, .beta = 1},
          {.m = 3, .n = 2, .k = 4},
          {.m = 3, .n = 5, .k = 4, .beta = 2, .lda = {1}, .ldb = {3}, .ldc = {64}},
          {.m = 4, .n = 7, .k = 1, .lda = {2}, .ldc = {1}, .offset = {{1, 2, 3}}, .seed = 9},
          {.m = 1, .n = 1, .k = 1, .beta = 1, .lda = {5}, .ldb = {5}, .ldc = {5}},
          {.m = 0, .n = 3, .k = 2, .lda = {1}, .ldb = {1}, .ldc = {1}, .offset = {{3, 3, 3}}},
          {.m = 3, .n = 0, .k = 2, .ldb = {1}, .ldc = {2}},
          {.m = 3, .n = 2, .k = 0, .beta = 1, .lda = {4}, .ldb = {4}},
          {.m = 0, .n = 0, .k = 0, .lda = {4}, .ldb = {4}, .ldc = {4}}};
}

struct Expected {
  std::int64_t rows, columns, ld;
  int offset;
};
Expected expected(const Case& c, Operand o) {
  switch (o) {
    case Operand::a: return {c.m, c.k, c.k + c.lda.floats, c.offset.floats[0]};
    case Operand::b: return {c.k, c.n, c.n + c.ldb.floats, c.offset.floats[1]};
    case Operand::c: return {c.m, c.n, c.n + c.ldc.floats, c.offset.floats[2]};
  }
  return {};
}

// What each float of an image must be, counted from element (0, 0).
std::uint32_t expected_bits(const Case& c, Operand o, std::int64_t at) {
  const auto [rows, columns, ld, offset] = expected(c, o);
  if (rows == 0 || columns == 0 || at < 0) return guard_bits;
  const std::int64_t i = at / ld, j = at % ld;
  if (i >= rows || (i == rows - 1 && j >= columns)) return guard_bits;
  if (j >= columns) return padding_bits;
  return o == Operand::c && c.beta == 0 ? unwritten_bits : bits(fill_element(c, o, i, j));
}

void expect_image(const Case& c, Placement placement, const std::array<int, 3>& alignment) {
  const Operands all = make_operands(c, placement, alignment);
  for (Operand o : operands) {
    SCOPED_TRACE(std::string(to_string(o)) + " of " + to_string(c));
    const auto [rows, columns, ld, offset] = expected(c, o);
    const Image& image = all[o];
    EXPECT_EQ(image.rows, rows);
    EXPECT_EQ(image.columns, columns);
    EXPECT_EQ(image.ld, ld);
    const std::int64_t extent = rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
    EXPECT_EQ(image.extent(), extent);
    const auto size = static_cast<std::int64_t>(image.floats.size());
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t at = i - image.first;
      ASSERT_EQ(bits(image.floats[static_cast<std::size_t>(i)]), expected_bits(c, o, at)) << at;
    }
    const std::int64_t after = size - image.first - extent;
    const std::int64_t unit = alignment[static_cast<std::size_t>(o)] / 4;
    if (placement == Placement::begins_at_fence) {
      EXPECT_EQ(image.first, 0);
    } else {
      EXPECT_GE(image.first, 64);
      const bool offset_counts = placement == Placement::guarded;
      EXPECT_EQ(image.first % 4, offset_counts ? offset : 0) << "of 16 bytes";
    }
    if (placement == Placement::ends_at_fence) {
      EXPECT_LT(after, unit) << "as near to the fence as alignment permits";
      EXPECT_EQ((extent + after) % unit, 0) << "the base is aligned, seen from the fence";
    } else {
      EXPECT_GE(after, 64);
    }
  }
}

TEST(Operands, lie_between_guards_with_poison_in_every_gap) {
  for (const Case& c : layouts()) expect_image(c, Placement::guarded, {4, 4, 4});
}

TEST(Operands, are_aligned_as_far_as_a_page_is) {
  for (const Case& c : layouts()) {
    const Operands all = make_operands(c, Placement::guarded, {32, 256, 64});
    for (const auto& [o, floats] : {std::pair(Operand::a, 8), {Operand::b, 64}, {Operand::c, 16}})
      EXPECT_EQ((all[o].first - c.offset.floats[static_cast<std::size_t>(o)]) % floats, 0)
          << to_string(c) << " " << to_string(o);
  }
}

TEST(Operands, without_columns_are_one_piece_however_far_their_rows_lie_apart) {
  const Operands all =
      make_operands(parse_case("m=5 n=3 k=0 lda=+70000"), Placement::guarded, {4, 4, 4});
  for (const Piece& piece : pieces_of(all[Operand::a])) {
    EXPECT_GE(piece.begin, 0);
    EXPECT_LE(piece.end, static_cast<std::int64_t>(all[Operand::a].floats.size()));
  }
}

TEST(Operands, end_at_a_fence_but_for_the_alignment) {
  for (const Case& c : layouts()) {
    expect_image(c, Placement::ends_at_fence, {4, 4, 4});
    expect_image(c, Placement::ends_at_fence, {16, 8, 4});
    expect_image(c, Placement::ends_at_fence, {64, 16, 16});
  }
}

TEST(Operands, begin_at_a_fence) {
  for (const Case& c : layouts()) expect_image(c, Placement::begins_at_fence, {16, 16, 16});
}

TEST(Operands, keep_only_the_beginning_of_a_gap_that_is_too_wide) {
  constexpr std::int64_t wide = std::int64_t{1} << 33;
  const Case c{.m = 3, .n = 2, .k = 4, .beta = 1, .lda = {wide}, .ldb = {1}, .ldc = {wide}};
  const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
  EXPECT_FALSE(all[Operand::b].is_sparse());
  for (Operand o : {Operand::a, Operand::c}) {
    const Image& image = all[o];
    EXPECT_TRUE(image.is_sparse());
    EXPECT_EQ(image.ld, expected(c, o).ld) << "what the kernel is told";
    EXPECT_EQ(image.span(), 2 * image.ld + image.columns);
    EXPECT_LT(image.floats.size(), 4096u);
    std::vector<int> held(image.floats.size());
    for (const Piece& piece : pieces_of(image)) {
      for (std::int64_t i = piece.begin; i < piece.end; ++i) {
        ++held[static_cast<std::size_t>(i)];
        const std::int64_t at = piece.at + i - piece.begin;
        ASSERT_EQ(bits(image.floats[static_cast<std::size_t>(i)]), expected_bits(c, o, at)) << at;
      }
    }
    EXPECT_EQ(held, std::vector<int>(held.size(), 1)) << "each float in one piece";
    for (int i = 0; i < 3; ++i) EXPECT_EQ(bits(image.row(i)[0]), expected_bits(c, o, i * image.ld));
  }
}

TEST(Operands, have_patterns_that_no_arithmetic_confuses) {
  const std::set<std::uint32_t> patterns = {guard_bits, padding_bits, unwritten_bits};
  EXPECT_EQ(patterns.size(), 3u);
  for (std::uint32_t pattern : patterns) {
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(pattern)));
    // A compiler may take x * 1 for x.
    volatile float value = std::bit_cast<float>(pattern), one = 1, zero = 0;
    EXPECT_FALSE(is_unwritten(value * one)) << "a product is written";
    EXPECT_FALSE(is_unwritten(value + zero)) << "a sum is written";
    EXPECT_EQ(is_unwritten(value), pattern == unwritten_bits) << "a copy is not";
  }
  EXPECT_FALSE(is_unwritten(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(is_unwritten(0.0f));
}

TEST(Operands, tell_what_a_nan_was_made_from) {
  std::set<std::string> origins;
  for (std::uint32_t pattern : {guard_bits, padding_bits, unwritten_bits}) {
    volatile float value = std::bit_cast<float>(pattern);
    const std::string origin = origin_of_nan(value).words;
    EXPECT_FALSE(origin.empty());
    EXPECT_EQ(origin_of_nan(std::fma(value, 3.0f, 1.0f)).words, origin) << "after arithmetic too";
    origins.insert(origin);
  }
  EXPECT_EQ(origins.size(), 3u);
  EXPECT_EQ(origin_of_nan(std::numeric_limits<float>::quiet_NaN()).words, "");
  EXPECT_EQ(origin_of_nan(1.0f).words, "");
  for (std::uint32_t pattern : {guard_bits, padding_bits, unwritten_bits}) {
    EXPECT_EQ(origin_of_nan(std::bit_cast<float>(pattern & 0x3fffffu)).words, "")
        << "no NaN at all";
  }
}

TEST(Operands, take_the_bytes_of_their_rows) {
  const Case c{.m = 10, .n = 20, .k = 30, .lda = {2}, .ldb = {4}, .ldc = {8}};
  EXPECT_EQ(bytes_of(c), 4.0 * (10 * 32 + 30 * 24 + 10 * 28));
  EXPECT_GT(bytes_of({.m = std::int64_t{1} << 40, .n = std::int64_t{1} << 40, .k = 1}), 1e24)
      << "does not overflow";
}

// All elements of one operand.
std::vector<float> elements(Case c, Operand o) {
  c.beta = 1;  // so that C has elements
  const auto [rows, columns, ld, offset] = expected(c, o);
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
      const std::int64_t columns = expected(c, o).columns;
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
        EXPECT_FALSE(is_unwritten(*found));
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
    EXPECT_GE(finite, 19 * 19 - 1);
    EXPECT_LE(finite, 400 - 39);
  }
}

}  // namespace
