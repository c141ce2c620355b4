// Where wrong elements lie, in words and as a picture.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "oracle/diagnosis/diagnosis.h"

namespace {

using namespace assay;

using IsWrong = std::function<bool(std::int64_t i, std::int64_t j)>;

Judgement mark(std::int64_t m, std::int64_t n, const IsWrong& is_wrong) {
  Judgement judged{.judged = m * n};
  judged.wrong_mask.resize(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (!is_wrong(i, j)) continue;
      judged.wrong_mask[static_cast<std::size_t>(i * n + j)] = 1;
      ++judged.wrong;
    }
  }
  return judged;
}

std::string place(std::int64_t m, std::int64_t n, const IsWrong& is_wrong, const Tile& tile = {}) {
  return describe_place(mark(m, n, is_wrong), m, n, tile);
}

TEST(Place, is_all_of_C) {
  EXPECT_EQ(place(3, 4, [](auto, auto) { return true; }), "every element");
  EXPECT_EQ(place(1, 1, [](auto, auto) { return true; }), "every element");
}

TEST(Place, is_the_last_rows_or_columns) {
  EXPECT_EQ(place(7, 513, [](auto, auto j) { return j == 512; }),
            "every element of the last 1 of 513 columns");
  EXPECT_EQ(place(9, 4, [](auto i, auto) { return i >= 7; }),
            "every element of the last 2 of 9 rows");
  EXPECT_EQ(place(9, 8, [](auto i, auto j) { return i == 8 && j >= 5; }),
            "every element of the last 1 of 9 rows in the last 3 of 8 columns");
}

TEST(Place, is_single_rows_and_columns) {
  EXPECT_EQ(place(9, 4, [](auto i, auto) { return i == 3; }), "every element of row 3");
  EXPECT_EQ(place(9, 4, [](auto, auto j) { return j == 0; }), "every element of column 0");
  EXPECT_EQ(place(9, 4, [](auto i, auto j) { return i == 3 && j == 2; }),
            "every element of row 3 in column 2");
}

TEST(Place, is_a_run_of_rows_and_columns) {
  EXPECT_EQ(place(9, 8, [](auto i, auto) { return i >= 4 && i <= 7; }),
            "every element of rows 4 to 7");
  EXPECT_EQ(place(9, 8, [](auto i, auto j) { return i < 2 && j > 0 && j < 4; }),
            "every element of rows 0 to 1 in columns 1 to 3");
}

TEST(Place, is_the_same_row_of_every_tile) {
  EXPECT_EQ(place(64, 4, [](auto i, auto) { return i % 16 == 3; }, {16, 16, 16}),
            "every element of row 3 of every tile of 16");
  EXPECT_EQ(place(4, 33, [](auto, auto j) { return j % 8 == 0; }, {1, 8, 1}),
            "every element of column 0 of every tile of 8");
  EXPECT_EQ(place(60, 4, [](auto i, auto) { return i % 16 == 13; }, {16, 16, 16}),
            "every element of row 13 of every tile of 16")
      << "the last tile has no such row";
}

TEST(Place, does_not_say_every_tile_of_some_tiles) {
  const auto words = place(64, 4, [](auto i, auto) { return i == 3 || i == 35; }, {16, 16, 16});
  EXPECT_EQ(words.find("every tile"), words.npos) << words << ", but rows 19 and 51 are right";
}

TEST(Place, is_told_by_numbers_where_there_is_no_pattern) {
  EXPECT_EQ(place(9, 8, [](auto i, auto) { return i == 1 || i == 4; }),
            "every element of 2 of 9 rows");
  EXPECT_EQ(place(64, 4, [](auto i, auto) { return i == 3 || i == 20; }, {16, 16, 16}),
            "every element of 2 of 64 rows");
  EXPECT_EQ(place(9, 8, [](auto i, auto j) { return (i + j) % 2 == 0; }), "36 elements all over C");
  EXPECT_EQ(place(9, 8, [](auto i, auto j) { return i == j && i < 3; }),
            "3 elements of rows 0 to 2 in columns 0 to 2");
  EXPECT_EQ(place(9, 8, [](auto i, auto j) { return i == 2 && j % 3 == 0; }),
            "every element of row 2 in 3 of 8 columns");
}

TEST(Place, tells_a_hole_from_a_full_block) {
  const auto words = place(9, 8, [](auto i, auto j) { return i >= 7 && !(i == 8 && j == 7); });
  EXPECT_EQ(words, "15 elements of the last 2 of 9 rows");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Picture, shows_a_small_C_as_it_is) {
  EXPECT_EQ(picture(mark(2, 5, [](auto i, auto j) { return i == 1 && j >= 3; }), 2, 5),
            ".....\n...##\n");
  EXPECT_EQ(picture(mark(1, 1, [](auto, auto) { return true; }), 1, 1), "#\n");
}

TEST(Picture, has_at_most_16_lines_of_48) {
  for (std::int64_t m : {1, 2, 15, 16, 17, 31, 32, 33, 100, 513}) {
    for (std::int64_t n : {1, 47, 48, 49, 95, 96, 97, 300}) {
      const auto lines = lines_of(picture(mark(m, n, [](auto, auto) { return false; }), m, n));
      EXPECT_LE(lines.size(), 16u) << m;
      EXPECT_GE(lines.size(), static_cast<std::size_t>(m <= 16 ? m : 8)) << m;
      for (const auto& line : lines) {
        EXPECT_LE(line.size(), 48u) << n;
        EXPECT_GE(line.size(), static_cast<std::size_t>(n <= 48 ? n : 24)) << n;
        EXPECT_EQ(line, std::string(lines.front().size(), '.'));
      }
    }
  }
}

TEST(Picture, loses_no_single_wrong_element) {
  constexpr std::int64_t m = 101, n = 97;
  for (std::int64_t i = 0; i < m; i += 25) {
    for (std::int64_t j = 0; j < n; j += 24) {
      const auto text = picture(mark(m, n, [&](auto y, auto x) { return y == i && x == j; }), m, n);
      EXPECT_EQ(std::count(text.begin(), text.end(), '#'), 1);
      const auto lines = lines_of(text);
      EXPECT_EQ(lines[static_cast<std::size_t>(i / 7)][static_cast<std::size_t>(j / 3)], '#');
    }
  }
}

}  // namespace
