// Parts of C that some blocks have written.
#include "oracle/part.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Image image(std::int64_t rows, std::int64_t columns) {
  Image its{.rows = rows, .columns = columns, .ld = columns + 1, .stride = columns + 1};
  its.floats.resize(static_cast<std::size_t>(rows * (columns + 1)));
  for (std::size_t i = 0; i < its.floats.size(); ++i) its.floats[i] = static_cast<float>(i);
  return its;
}

TEST(Parts, are_the_changed_columns_of_consecutive_rows) {
  const Image before = image(6, 9);
  EXPECT_TRUE(changed_parts(before, before).empty());
  Image after = before;
  for (const std::int64_t i : {1, 2, 3})
    for (const std::int64_t j : {0, 1, 6, 7}) after.row(i)[j] = -1;
  after.row(5)[0] = -1;
  const std::vector<Part> parts = changed_parts(before, after);
  ASSERT_EQ(parts.size(), 3u);
  std::int64_t elements = 0;
  for (const Part& part : parts) elements += part.rows * part.columns;
  EXPECT_EQ(elements, 13);
  EXPECT_EQ(parts[0].row, 1);
  EXPECT_EQ(parts[0].rows, 3);
  EXPECT_EQ(parts[1].column, 6);
  EXPECT_EQ(parts[1].columns, 2);
  EXPECT_EQ(parts[2].row, 5);
  EXPECT_EQ(parts[2].rows, 1);
}

TEST(Parts, have_the_rows_of_a_and_the_columns_of_b_that_they_are_the_product_of) {
  Operands all;
  all[Operand::a] = image(6, 4), all[Operand::b] = image(4, 9), all[Operand::c] = image(6, 9);
  const Part part{.row = 2, .rows = 3, .column = 5, .columns = 2};
  const Operands its = operands_of(all, part);
  EXPECT_EQ(its[Operand::a].row(1)[3], all[Operand::a].row(3)[3]);
  EXPECT_EQ(its[Operand::b].row(3)[1], all[Operand::b].row(3)[6]);
  EXPECT_EQ(its[Operand::c].row(2)[0], all[Operand::c].row(4)[5]);
  const Case c = case_of(parse_case("m=6 n=9 k=4 ldb=+7 seed=5"), part);
  EXPECT_EQ(to_string(c), "m=3 n=2 k=4 seed=5");
}

}  // namespace
}  // namespace assay
