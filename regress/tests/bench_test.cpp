// What bench makes of the answers of a laboratory.
#include "regress/bench.h"

#include "regress/tests/laboratory.h"

namespace {

using namespace assay;

BenchReport bench_with(int processes) {
  Laboratory lab;
  lab.canaries["arithmetic_tflops"] = 60;
  return bench({.variants = {"lab_a"},
                .problems = {parse_case("m=1000 n=1000 k=1000")},
                .processes = processes,
                .time = lab.time()});
}

TEST(Bench, tells_the_time_that_one_process_measured) {
  const BenchReport report = bench_with(1);
  ASSERT_EQ(report.lines.size(), 1u);
  const BenchLine& line = report.lines[0];
  EXPECT_NEAR(line.time_us.value, 48, 0.5);
  EXPECT_DOUBLE_EQ(line.time_us.low, line.time_us.value) << "one number has no interval";
  EXPECT_DOUBLE_EQ(line.time_us.high, line.time_us.value);
  EXPECT_NEAR(line.tflops, 2e9 / 48e-6 * 1e-12, 0.5);
  EXPECT_NEAR(line.percent_of_peak, 100 * line.tflops / 60, 1e-9);
  EXPECT_LT(line.percent_of_roofline, 100);
}

TEST(Bench, has_an_interval_of_several_processes) {
  const BenchLine line = bench_with(4).lines.at(0);
  EXPECT_NEAR(line.time_us.value, 48, 0.5);
  EXPECT_LT(line.time_us.low, line.time_us.value);
  EXPECT_GT(line.time_us.high, line.time_us.value);
}

TEST(Ratio, is_of_nothing_without_numbers_and_a_number_with_one) {
  EXPECT_EQ(ratio_of({}), Ratio{});
  EXPECT_EQ(ratio_of({0.0}), (Ratio{1, 1, 1, 1}));
  const Ratio two = ratio_of({-0.01, 0.01});
  EXPECT_DOUBLE_EQ(two.value, 1);
  EXPECT_LT(two.low, 0.99);
  EXPECT_GT(two.high, 1.01);
}

}  // namespace
