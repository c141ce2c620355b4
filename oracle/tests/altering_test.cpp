// What is changed in A or B between two calls: as much as it is called, and nothing else.
#include "oracle/altering.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace assay;

struct Change {
  std::set<std::int64_t> rows, columns;
  bool is_in_a = false, is_in_b = false;
};

Change change_by(Altered altered, const Case& c) {
  const Operands before = make_operands(c, Placement::guarded, {4, 4, 4});
  Operands after = before;
  alter(after, altered, c);
  Change change;
  for (const Operand o : {Operand::a, Operand::b})
    for (std::int64_t i = 0; i < before[o].rows; ++i)
      for (std::int64_t j = 0; j < before[o].columns; ++j) {
        if (before[o].row(i)[j] == after[o].row(i)[j]) continue;
        change.rows.insert(i), change.columns.insert(j);
        (o == Operand::a ? change.is_in_a : change.is_in_b) = true;
      }
  return change;
}

std::int64_t distance(const std::set<std::int64_t>& places) {
  return places.empty() ? 0 : *places.rbegin() - *places.begin();
}

TEST(Altered, swaps_lines_that_lie_a_power_of_2_apart_as_far_as_there_are_any) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case c{.m = 33, .n = 64, .k = 20, .seed = seed};
    const Change rows_of_a = change_by(Altered::far_rows_of_a, c);
    EXPECT_TRUE(rows_of_a.is_in_a && !rows_of_a.is_in_b);
    EXPECT_EQ(rows_of_a.rows.size(), 2u);
    EXPECT_EQ(distance(rows_of_a.rows), 32);
    EXPECT_EQ(rows_of_a.columns.size(), 20u);
    const Change columns_of_b = change_by(Altered::far_columns_of_b, c);
    EXPECT_TRUE(columns_of_b.is_in_b && !columns_of_b.is_in_a);
    EXPECT_EQ(distance(columns_of_b.columns), 32);
    EXPECT_EQ(distance(change_by(Altered::far_columns_of_a, c).columns), 16);
    EXPECT_EQ(distance(change_by(Altered::far_rows_of_b, c).rows), 16);
  }
}

TEST(Altered, has_nothing_to_swap_in_one_line) {
  const Case c{.m = 1, .n = 1, .k = 1};
  for (const Altered each : {Altered::far_rows_of_a, Altered::far_columns_of_b, Altered::rows_of_a,
                             Altered::transposed_a}) {
    const Change change = change_by(each, c);
    EXPECT_FALSE(change.is_in_a || change.is_in_b);
  }
}

TEST(Altered, transposes_a_square_alone) {
  const Case square{.m = 8, .n = 5, .k = 8, .lda = {3}};
  Operands all = make_operands(square, Placement::guarded, {4, 4, 4});
  const Image before = all[Operand::a];
  alter(all, Altered::transposed_a, square);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t j = 0; j < 8; ++j)
      EXPECT_EQ(all[Operand::a].row(i)[j], before.row(j)[i]) << i << ", " << j;
  EXPECT_FALSE(change_by(Altered::transposed_b, square).is_in_b) << "8 x 5";
}

TEST(Altered, swaps_neighbours_or_changes_one_element) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Case c{.m = 9, .n = 11, .k = 13, .seed = seed};
    const Change element = change_by(Altered::element_of_b, c);
    EXPECT_TRUE(element.is_in_b && element.rows.size() == 1 && element.columns.size() == 1);
    const Change of_row = change_by(Altered::row_of_a, c);
    EXPECT_TRUE(of_row.is_in_a && of_row.rows.size() == 1 && of_row.columns.size() == 2);
    const Change columns = change_by(Altered::columns_of_b, c);
    EXPECT_TRUE(columns.rows.size() == 13 && columns.columns.size() == 2);
    EXPECT_TRUE(distance(columns.columns) == 1 || distance(columns.columns) == 10) << "in a ring";
  }
}

}  // namespace
