// What is accepted, and what is not, on a laboratory.
#include "regress/tests/laboratory.h"

namespace {

using namespace assay;

TEST_F(GateFlow, writes_the_anchor_once_and_moves_it_when_told) {
  Laboratory lab;
  accept(lab);
  const std::string first = text_of("anchor/lab_a.json");
  ASSERT_FALSE(first.empty());
  for (std::size_t i = 0; i < 10; ++i) lab.cells[cell("lab_a", i)].now = 7;
  accept(lab);
  EXPECT_EQ(text_of("anchor/lab_a.json"), first);
  EXPECT_NE(text_of("lab_a.json"), first);
  accept(lab, true);
  EXPECT_NE(text_of("anchor/lab_a.json"), first);
}

TEST_F(GateFlow, accepts_nothing_wrong_slow_or_unfit) {
  Laboratory lab;
  lab.cells[cell("lab_a", 1)].wrong = true;
  lab.cells[cell("lab_b", 2)].time_us = 9000;
  const AcceptReport report = accept(lab);
  EXPECT_EQ(report.cells, 47);
  ASSERT_EQ(report.left_out.size(), 3u);
  const auto told = [&](const std::string& text) {
    return std::any_of(report.left_out.begin(), report.left_out.end(),
                       [&](const std::string& line) { return line.find(text) != line.npos; });
  };
  EXPECT_TRUE(told(cell("lab_a", 1) + ": head: 3 of 256 elements are wrong"));
  EXPECT_TRUE(report.wrong);
  EXPECT_TRUE(told(cell("lab_b", 2) + ": one launch takes 9.0 ms"));

  const std::string before = text_of("lab_a.json");
  lab.unfit = "throttled";
  EXPECT_EQ(accept(lab).unfit, "throttled");
  EXPECT_EQ(text_of("lab_a.json"), before);
}

}  // namespace
