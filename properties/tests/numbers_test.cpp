// Cases aimed by numbers that no comparison shows.
#include "properties/aims/numbers.h"
#include "properties/aims/source/named.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "oracle/operands.h"
#include "properties/tests/planted.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Numbers, are_read_from_code_alone) {
  EXPECT_THAT(numbers_in("int i = 509 * 0x1FFu + 1'024;"), ElementsAre(509, 511, 1024));
  EXPECT_THAT(numbers_in("// 509\n/* 511 */ \"513\" f(515) #define X 517\n"), ElementsAre(515));
  EXPECT_THAT(numbers_in("float x = 509.0f, y = 77e3, z = a509 + b_77;"), IsEmpty());
  EXPECT_THAT(numbers_in("32 33 16777216 16777217 99999999999999999999"),
              ElementsAre(33, 16777216));
  EXPECT_THAT(numbers_in("\"not closed 509"), IsEmpty());
}

TEST(Numbers, stand_in_a_table_where_there_are_many_in_braces) {
  for (const char* table :
       {"int a[8] = {1, 2, 3, 4, 5, 6, 7, 8};", "{{1, 2}, {3, -4},\n{5, 6}, {7, 8}}",
        "f(x) { return; } char a[] = {1, 2, /* 9 */ 3u, 4, 5, 6, 7, 8, 9}"})
    EXPECT_TRUE(has_table(table)) << table;
  for (const char* none :
       {"", "{1, 2, 3, 4, 5, 6, 7}", "f(1, 2, 3, 4, 5, 6, 7, 8)", "\"{1,2,3,4,5,6,7,8}\"",
        "{1, 2, 3} {4, 5, 6, 7, 8}", "{ a = 1; b = 2; c = 3; 4, 5, 6, 7, 8 }", "{{1, 2"})
    EXPECT_FALSE(has_table(none)) << none;
}

TEST(Numbers, of_cells_are_of_all_small_sizes_and_all_magnitudes) {
  const auto cases = cases_of_cells();
  const auto has = [&](const auto& test) { return std::any_of(cases.begin(), cases.end(), test); };
  for (std::int64_t m = 1; m <= 8; ++m)
    for (std::int64_t n = 1; n <= 8; ++n)
      for (const std::int64_t k : {1, 10, 100, 1000})
        EXPECT_TRUE(has([&](const Case& c) {
          return c.m == m && c.n == n && c.k >= k && c.k < 10 * k;
        })) << m
            << " " << n << " " << k;
  const auto is_of = [](std::int64_t size, std::int64_t least) {
    return size >= least && size < 2 * least;
  };
  for (std::int64_t m = 2; m <= 1 << 15; m *= 2)
    for (std::int64_t n = 2; m * n <= 1 << 15; n *= 2)
      EXPECT_TRUE(has([&](const Case& c) { return is_of(c.m, m) && is_of(c.n, n); }))
          << m << " " << n;
}

TEST(Numbers, are_sides_of_tiles_too) {
  EXPECT_THAT(sides_in("constexpr int BM = 32, BN = 64, BK = 8, Threads = 256; // 16"),
              ElementsAre(32, 64));
  const auto cases = cases_beyond_16_bits({.m = 32, .n = 64, .k = 1}, {});
  EXPECT_TRUE(std::any_of(cases.begin(), cases.end(),
                          [](const Case& c) { return (c.m - 1) / 32 > 65535; }));
  EXPECT_TRUE(std::any_of(cases.begin(), cases.end(),
                          [](const Case& c) { return (c.n - 1) / 64 > 65535; }));
}

TEST(Numbers, are_pieces_of_long_sums) {
  Entry entry{.variant = {}, .backend = Backend::ptx};
  entry.variant.tile = {.m = 16, .n = 16, .k = 16};
  const auto cases = lone_products_of({64, 1 << 16, 1 << 18, 1 << 22}, entry);
  ASSERT_EQ(cases.size(), 4u) << "the longest that are no longer than 2^23";
  const Case& c = cases.front();
  EXPECT_EQ(c.k, (1 << 22) * 9 / 8 + 3);
  for (const std::int64_t p : {std::int64_t{0}, std::int64_t{(1 << 22) - 16}, c.k - 1})
    EXPECT_NE(fill_element(c, Operand::a, 0, p), 0) << p;
  entry.variant.arithmetic = Arithmetic::tf32;
  EXPECT_EQ(lone_products_of({1 << 22}, entry).front().fill, Fill::one_hot);
}

TEST(Numbers, may_be_shifted) {
  EXPECT_THAT(numbers_in("1 << 18, 3u<<10; 1 << bits; 1 << 40; 64 <<"),
              ElementsAre(64, 3072, 1 << 18));
}

TEST(Numbers, are_those_that_a_count_may_be_cut_to) {
  EXPECT_THAT(numbers_in("item >> 20 | x<<6; vector<vector<int>> 3 >> y; s << bits"),
              ElementsAre(64, 1 << 20));
  EXPECT_THAT(numbers_in("unsigned short a; ushort2 b; shorter c;"), ElementsAre(65537));
  const auto cases = cases_of_tiles({1 << 20}, {.m = 16, .n = 16, .k = 8});
  EXPECT_THAT(cases, ElementsAre(Case{.m = 1, .n = 1, .k = (1 << 23) + 9}));
}

TEST(Numbers, in_texts_are_sizes_where_there_are_three) {
  EXPECT_THAT(cases_in_texts("#include \"a_1_2_3.h\"\n// \"9x9x9\"\n{\"1000x24x72\", 3} \"12x13\" "
                             "\"k 5, m 0, 7\" \"64 x 32 x 16 tile\""),
              ElementsAre(Case{.m = 1000, .n = 24, .k = 72}, Case{.m = 64, .n = 32, .k = 16}));
}

TEST(Numbers, in_tables_are_sizes_where_they_stand_together) {
  EXPECT_THAT(cases_in_tables("{{key(32, 1536, 7168), 6}, {16u, 4'096, 0x200, 8}}; f(a, 200, 300);"
                              "Tile{16, 16, 16}; // {500, 500, 500}\n{300, 0, 5} {1, 200, x}",
                              128),
              ElementsAre(Case{.m = 32, .n = 1536, .k = 7168}, Case{.m = 16, .n = 4096, .k = 512}));
  EXPECT_THAT(cases_in_tables("{1, 2, 300, 4, 5, 6, 7, 8, 9, 10}", 128), testing::IsEmpty())
      << "which is an array";
}

TEST(Numbers, show_where_a_rounded_reciprocal_is_none) {
  const Tile tile{.m = 16, .n = 8, .k = 1};
  const auto of_elements = cases_beyond_reciprocals({}, {}),
             also_of_tiles = cases_beyond_reciprocals(tile, {}),
             where_k_is_long = cases_beyond_reciprocals({}, {1025});
  EXPECT_EQ(also_of_tiles.size(), 2 * of_elements.size());
  for (const Case& c : also_of_tiles) {
    const auto shows = [](std::uint64_t count, std::uint64_t width) {
      const std::uint64_t reciprocal = ((std::uint64_t{1} << 32) + width - 1) / width;
      for (std::uint64_t i = 0; i < count; ++i)
        if (i * reciprocal >> 32 != i / width) return true;
      return false;
    };
    const bool is_of_elements =
        std::find(of_elements.begin(), of_elements.end(), c) != of_elements.end();
    const auto down = static_cast<std::uint64_t>(is_of_elements ? c.m : ceil_div(c.m, tile.m));
    const auto across = static_cast<std::uint64_t>(is_of_elements ? c.n : ceil_div(c.n, tile.n));
    EXPECT_TRUE(shows(down * across, std::max(down, across))) << to_string(c);
  }
  for (Case c : of_elements) {
    c.k = 1025;
    EXPECT_TRUE(c.m > c.n || std::count(where_k_is_long.begin(), where_k_is_long.end(), c) == 1);
  }
}

TEST(Numbers, sum_up_bytes_beyond_32_bits) {
  const Case c = case_beyond_sums_of_bytes();
  const Operands operands = make_operands(c, Placement::guarded, {256, 256, 256});
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < c.k; ++p) {
    const float a = operands[Operand::a].row(0)[p], b = operands[Operand::b].row(p)[0];
    ASSERT_TRUE(a == static_cast<std::int8_t>(a) && b == static_cast<std::int8_t>(b));
    sum += static_cast<std::int64_t>(a * b);
    ASSERT_EQ(static_cast<float>(sum), sum) << "a float that adds them up has to round";
  }
  EXPECT_GT(sum, std::int64_t{1} << 31);
}

TEST(Numbers, sum_up_few_bits_beyond_what_holds_them) {
  const Entry entry = assay_test::host_entry(assay_test::multiply);
  bool leaves_16_bits = false, leaves_32_bits = false;
  for (const Case& c : cases_of_long_sums(entry, {})) {
    if (c.m == 1) continue;  // of lone products
    const Operands operands = make_operands(c, Placement::guarded, {256, 256, 256});
    double sum = 0, largest = 0;
    for (std::int64_t p = 0; p < c.k; ++p) {
      const double a = operands[Operand::a].row(0)[p], b = operands[Operand::b].row(p)[0];
      ASSERT_TRUE(a == std::floor(a) && b == std::floor(b) && a >= 0 && b >= 0 && a < 256);
      largest = std::max(largest, a);
      sum += a * b;
      ASSERT_EQ(static_cast<float>(sum), sum) << "a float that adds them up has to round";
    }
    leaves_16_bits |= largest == 1 && sum > 0x1p16;
    leaves_32_bits |= largest > 1 && sum > 0x1p31;
  }
  EXPECT_TRUE(leaves_16_bits);
  EXPECT_TRUE(leaves_32_bits);
}

TEST(Numbers, fill_lists_of_what_is_not_0) {
  const Entry entry = assay_test::host_entry(assay_test::multiply);
  std::int64_t longest = 0;
  for (const Case& c : cases_of_long_sums(entry, {})) {
    if (c.k >= 1 << 20) continue;  // of lone products
    std::int64_t others = 0;
    for (std::int64_t p = 0; p < c.k; ++p) others += fill_element(c, Operand::a, 0, p) != 0;
    if (2 * others <= c.k) longest = std::max(longest, others);
  }
  EXPECT_GT(longest, 1 << 16) << "of rows that are half empty";
}

TEST(Numbers, sum_up_ints_beyond_32_bits_by_less_the_longer_they_are) {
  double largest_before = 1 << 16;
  for (const Case& c : cases_beyond_sums_of_ints()) {
    const Operands operands = make_operands(c, Placement::guarded, {256, 256, 256});
    std::int64_t sum = 0;
    double largest = 0;
    for (std::int64_t p = 0; p < c.k; ++p) {
      const double a = operands[Operand::a].row(0)[p], b = operands[Operand::b].row(p)[0];
      ASSERT_TRUE(a == std::floor(a) && b == std::floor(b));
      largest = std::max({largest, std::abs(a), std::abs(b)});
      sum += static_cast<std::int64_t>(a * b);
      ASSERT_EQ(static_cast<float>(sum), sum) << "a float that adds them up has to round";
    }
    EXPECT_GT(sum, std::int64_t{1} << 31) << to_string(c);
    EXPECT_LT(largest, largest_before) << to_string(c);
    largest_before = largest;
  }
}

TEST(Numbers, count_tiles_in_both_directions) {
  const auto cases = cases_of_tiles({509, 1 << 20}, {.m = 16, .n = 1, .k = 1});
  EXPECT_THAT(cases, ElementsAre(Case{.m = 8144, .n = 1, .k = 1}, Case{.m = 1, .n = 509, .k = 1},
                                 Case{.m = 1, .n = 1 << 20, .k = 1},
                                 Case{.m = 1, .n = 1, .k = (1 << 20) + 2}));
}

TEST(Numbers, straddle_the_length_of_an_array) {
  constexpr std::int64_t floats = 1 << 20;
  const auto cases = cases_at_length(floats * 4, {65});
  for (const std::int64_t times : {1, 2, 4, 8, 16}) {
    const auto holds = [&](const Case& c) { return times * c.m * c.n <= floats; };
    const auto is_near = [&](const Case& c) {
      return (c.k == 65 || c.k == 66) && std::abs(times * c.m * c.n - floats) < floats / 64;
    };
    const auto both = std::count_if(cases.begin(), cases.end(), is_near);
    const auto held = std::count_if(cases.begin(), cases.end(),
                                    [&](const Case& c) { return is_near(c) && holds(c); });
    EXPECT_TRUE(held > 0 && held < both) << times;
  }
  EXPECT_THAT(cases_at_length(1000, {65}), IsEmpty());
}

TEST(Numbers, reach_what_floats_no_longer_count) {
  const auto cases = cases_beyond_floats({.m = 8, .n = 4, .k = 1});
  const auto is_uneven = [](std::int64_t size) {
    return static_cast<std::int64_t>(static_cast<float>(size)) != size;
  };
  const auto is_misplaced = [](const Case& c) {
    const auto across = static_cast<int>(c.n / 4), last_row = static_cast<int>(c.m / 8 - 1);
    const float reciprocal = 1.0f / static_cast<float>(across);
    return static_cast<int>(static_cast<float>(last_row * across) * reciprocal) != last_row;
  };
  for (const auto size : {&Case::m, &Case::n, &Case::k})
    EXPECT_GE(std::count_if(cases.begin(), cases.end(),
                            [&](const Case& c) { return is_uneven(c.*size); }),
              2);
  for (const Arithmetic arithmetic : {Arithmetic::fp32, Arithmetic::tf32}) {
    Entry entry;
    entry.variant.arithmetic = arithmetic;
    const auto all = cases_beyond_16_bits({.m = 8, .n = 4, .k = 1}, entry);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Case& c) {
      return is_uneven(c.k) && fill_element(c, Operand::a, 0, c.k - 3) == 0 &&
             fill_element(c, Operand::a, 0, c.k - 1) != 0;
    })) << "where one product that is left out would be within the bound";
  }
  EXPECT_GE(std::count_if(cases.begin(), cases.end(), is_misplaced), 3);
}

}  // namespace
}  // namespace assay
