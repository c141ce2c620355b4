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

TEST(Bench, tells_what_it_knows_a_few_problems_at_a_time) {
  Laboratory lab;
  lab.canaries["arithmetic_tflops"] = 60;
  BenchOptions options = {.variants = {"lab_a", "lab_b"}, .processes = 2, .time = lab.time()};
  for (int size = 1; size <= 9; ++size)
    options.problems.push_back(parse_case(fmt::format("m={0} n={0} k={0}", 100 * size)));
  std::vector<std::size_t> lines;
  std::vector<int> left;
  double share = 0;
  const auto advance = [&](const std::string&, double done) {
    EXPECT_GE(done, share);
    share = done;
  };
  const BenchReport report = bench(options, advance, [&](const BenchReport& so_far) {
    lines.push_back(so_far.lines.size());
    left.push_back(so_far.problems_left);
    EXPECT_GT(so_far.lines.back().time_us.value, 0);
  });
  EXPECT_EQ(lines, (std::vector<std::size_t>{8, 16, 18}));
  EXPECT_EQ(left, (std::vector{5, 1, 0}));
  ASSERT_EQ(report.lines.size(), 18u);
  for (std::size_t i = 0; i < report.lines.size(); ++i)
    EXPECT_EQ(report.lines[i].cell, (Cell{options.variants[i % 2], options.problems[i / 2]}));
}

TEST(Bench, leaves_out_what_would_take_too_long_going_by_smaller_problems) {
  Laboratory lab;
  lab.canaries["arithmetic_tflops"] = 60;
  BenchOptions options = {.variants = {"lab_a"}, .processes = 1, .time = lab.time()};
  for (const int size : {100, 100, 100, 1000, 2000, 4000})  // four at a time, of 48 us each
    options.problems.push_back(parse_case(fmt::format("m={0} n={0} k={0}", size)));
  const auto left_out = [&](double longest_us) {
    options.longest_us = longest_us;
    std::vector<std::string> why;
    for (const BenchLine& line : bench(options).lines) why.push_back(line.why_not);
    return std::vector(why.end() - 2, why.end());
  };
  const std::string nothing;
  EXPECT_EQ(left_out(0), (std::vector{nothing, nothing}));
  EXPECT_EQ(left_out(8 * 50), (std::vector{nothing, std::string("a launch would take about 0.0031 s: "
                                                                "--problem times it all the same")}));
}

TEST(Bench, keeps_what_it_has_where_the_gpu_becomes_unfit) {
  Laboratory lab;
  lab.canaries["arithmetic_tflops"] = 60;
  int calls = 0;
  const auto time = [&](const TimingJob& job, int processes, const TimingProgress& progress) {
    auto timings = lab.time()(job, processes, progress);
    if (++calls == 2) timings.back().unfit = "throttled";
    return timings;
  };
  BenchOptions options = {.variants = {"lab_a"}, .processes = 2, .time = time};
  for (int size = 1; size <= 9; ++size)
    options.problems.push_back(parse_case(fmt::format("m={0} n={0} k={0}", 100 * size)));
  const BenchReport report = bench(options);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(report.unfit, "throttled");
  EXPECT_EQ(report.lines.size(), 4u);
  EXPECT_EQ(report.problems_left, 5);
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
