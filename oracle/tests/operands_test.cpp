// Where the elements of a case lie in memory, what lies around them, and what their values are.
#include "oracle/operands.h"
#include "oracle/diagnosis/diagnosis.h"

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
          {.m = 4, .n = 7, .k = 1, .lda = {2}, .ldc = {1}, .offset = {{1, 2, 3}}, .seed = 8},
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
    case Operand::workspace: break;
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

TEST(Operands, begin_where_allocations_do_in_every_second_case_without_offsets) {
  const auto all_begin_so = [](const char* text) {
    const Operands all = make_operands(parse_case(text), Placement::guarded, {4, 4, 4});
    return std::all_of(operands.begin(), operands.end(),
                       [&](Operand o) { return all[o].first % 64 == 0; });
  };
  EXPECT_TRUE(all_begin_so("m=5 n=3 k=7 lda=+2 seed=2"));
  EXPECT_FALSE(all_begin_so("m=5 n=3 k=7 lda=+2 seed=3")) << "and not in all";
  EXPECT_FALSE(all_begin_so("m=5 n=3 k=7 lda=+2 offset=0,1,0 seed=2"));
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
  const Case written{.m = 1, .n = 1, .k = 1};
  const Operands all = make_operands(written, Placement::guarded, {4, 4, 4});
  const auto is_unwritten = [&](float got) {
    return assay::is_unwritten(written, all[Operand::c], 0, 0, got);
  };
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
  Case added = written;
  added.beta = 1;
  EXPECT_FALSE(assay::is_unwritten(added, all[Operand::c], 0, 0, all[Operand::c].row(0)[0]));
}

TEST(Operands, have_ordinary_numbers_around_them_for_every_fifth_seed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case c{.m = 3, .n = 4, .k = 5, .lda = {2}, .ldc = {3}, .fill = Fill::exact, .seed = seed};
    const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
    for (Operand o : operands) {
      const Image& image = all[o];
      std::set<float> values;
      std::size_t around = 0, nans = 0;
      for (std::size_t i = 0; i < image.floats.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i) - image.first;
        const bool is_element = at >= 0 && at < image.extent() && at % image.stride < image.columns;
        if (is_element && o != Operand::c) continue;
        ++around, nans += std::isnan(image.floats[i]), values.insert(image.floats[i]);
      }
      EXPECT_EQ(nans, seed % 5 == 4 ? 0 : around) << "seed " << seed;
      EXPECT_GT(values.size(), seed % 5 == 4 ? around * 9 / 10 : 0) << "none like another";
    }
    for (std::int64_t i = 0; i < c.m; ++i) {
      const float old = all[Operand::c].row(i)[0];
      EXPECT_TRUE(is_unwritten(c, all[Operand::c], i, 0, old));
      EXPECT_FALSE(is_unwritten(c, all[Operand::c], i, 0, 2 * old));
    }
  }
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

TEST(Workspace, lies_between_guards_and_begins_where_allocations_do) {
  for (const Placement placement : {Placement::guarded, Placement::elsewhere,
                                    Placement::ends_at_fence, Placement::begins_at_fence}) {
    for (std::int64_t bytes : {1, 4, 252, 256, 260, 5000}) {
      const Image image = make_workspace({.m = 3, .n = 2, .k = 4}, bytes, placement);
      EXPECT_EQ(image.columns, (bytes + 3) / 4);
      const auto size = static_cast<std::int64_t>(image.floats.size());
      const auto at_fence = placement == Placement::ends_at_fence;
      // Seen from where a machine puts it.
      EXPECT_EQ((at_fence ? size - image.first : image.first) % 64, 0) << bytes;
      for (std::int64_t i = 0; i < size; ++i) {
        const bool is_inside = i >= image.first && i < image.first + image.columns;
        const std::uint32_t got = bits(image.floats[static_cast<std::size_t>(i)]);
        EXPECT_EQ(is_inside ? got & 0xffff0000u : got, is_inside ? workspace_bits : guard_bits);
      }
    }
  }
  EXPECT_TRUE(make_workspace({.m = 3, .n = 2, .k = 4}, 0, Placement::guarded).floats.empty());
}

TEST(Workspace, holds_something_else_in_each_launch_and_never_a_zero) {
  for (std::uint64_t seed : {0u, 4u}) {
    std::set<std::vector<std::uint32_t>> contents;
    for (std::uint64_t launch = 0; launch < 20; ++launch) {
      const Case c{.m = 3, .n = 2, .k = 4, .seed = seed};
      const Image image = make_workspace(c, 64, Placement::guarded, launch);
      std::vector<std::uint32_t> held;
      for (int i = 0; i < 16; ++i) {
        held.push_back(bits(image.row(0)[i]));
        EXPECT_NE(image.row(0)[i], 0.0f);
        EXPECT_EQ(std::isnan(image.row(0)[i]), seed == 0) << "ordinary numbers for a fifth";
      }
      contents.insert(held);
    }
    EXPECT_EQ(contents.size(), 20u);
  }
  volatile float value = make_workspace({.m = 1, .n = 1, .k = 1}, 4, Placement::guarded).row(0)[0];
  EXPECT_EQ(origin_of_nan(value * 3.0f).finding,
            (Finding{assay::Fault::read_unwritten, Operand::workspace}));
}

TEST(Operands, take_the_bytes_of_their_rows) {
  const Case c{.m = 10, .n = 20, .k = 30, .lda = {2}, .ldb = {4}, .ldc = {8}};
  EXPECT_EQ(bytes_of(c), 4.0 * (10 * 32 + 30 * 24 + 10 * 28));
  EXPECT_GT(bytes_of({.m = std::int64_t{1} << 40, .n = std::int64_t{1} << 40, .k = 1}), 1e24)
      << "does not overflow";
}

}  // namespace
