// The text form of a cell, and the order of cells.
#include "regress/cell.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "regress/timing.h"

namespace {

using namespace assay;

TEST(Cell, is_read_from_the_text_that_it_is_printed_as) {
  const Cell cell = {"tiled_32", {.m = 64, .n = 32, .k = 16, .alpha = 1.5, .seed = 7}};
  EXPECT_EQ(to_string(cell), "tiled_32 m=64 n=32 k=16 alpha=1.5 seed=7");
  EXPECT_EQ(parse_cell(to_string(cell)), cell);
  EXPECT_EQ(to_string(parse_cell("naive  k=1  n=2 m=3")), "naive m=3 n=2 k=1");
}

TEST(Cell, may_be_of_the_host_s_time) {
  const Cell cell = parse_cell("naive host m=1 n=2 k=3");
  EXPECT_TRUE(cell.host);
  EXPECT_EQ(to_string(cell), "naive host m=1 n=2 k=3");
  EXPECT_NE(cell, parse_cell("naive m=1 n=2 k=3"));
  EXPECT_LT(parse_cell("naive m=9 n=2 k=3"), cell) << "these come last";
}

TEST(Cell, differs_by_its_variant_and_by_its_problem) {
  const Cell cell = parse_cell("naive m=1 n=2 k=3");
  EXPECT_NE(cell, parse_cell("tiled m=1 n=2 k=3"));
  EXPECT_NE(cell, parse_cell("naive m=1 n=2 k=4"));
}

TEST(Cell, is_refused_in_one_line) {
  const auto complaint = [](const char* text) -> std::string {
    try {
      parse_cell(text);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  };
  for (const char* text : {"", "naive", " m=1 n=2 k=3"})
    EXPECT_TRUE(complaint(text).starts_with("a cell is a variant and a case")) << text;
  EXPECT_TRUE(complaint("naive m=1 n=2").starts_with("case: 'k' is missing"));
  EXPECT_TRUE(complaint("naive m=1 n=2 k=x").starts_with("case: 'k=x': k is"));
}

TEST(Cell, is_ordered_by_the_text_of_its_problem) {
  EXPECT_LT(parse_cell("b m=10 n=1 k=1"), parse_cell("a m=9 n=1 k=1"));
  EXPECT_LT(parse_cell("a m=9 n=1 k=1"), parse_cell("b m=9 n=1 k=1"));
  EXPECT_FALSE(parse_cell("a m=9 n=1 k=1") < parse_cell("a m=9 n=1 k=1"));
}

TEST(CellJobs, of_one_problem_stay_in_the_order_of_the_ladder) {
  std::vector<CellJob> jobs;
  for (const char* text : {"z m=9 n=1 k=1", "a m=9 n=1 k=1", "z m=10 n=1 k=1", "a m=10 n=1 k=1"})
    jobs.push_back({.cell = parse_cell(text)});
  sort_by_problem(jobs);
  std::string order;
  for (const CellJob& job : jobs) order += to_string(job.cell) + "; ";
  EXPECT_EQ(order, "z m=10 n=1 k=1; a m=10 n=1 k=1; z m=9 n=1 k=1; a m=9 n=1 k=1; ");
}

}  // namespace
