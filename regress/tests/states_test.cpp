// Kernels that settle in one of two states for as long as a process lives.
#include "regress/decide/states.h"

#include <gtest/gtest.h>

#include <cmath>

#include "regress/tests/drawn_processes.h"

namespace {

using namespace assay;
using namespace assay_test;

TEST(TwoStates, are_told_with_how_many_processes_were_in_each) {
  std::vector<double> ratios = {0.001, 0.002, -0.001, 0, 0.001, 0.0005, 0.002, 0.001};
  EXPECT_FALSE(two_states(ratios));
  for (const double slow : {0.095, 0.0953, 0.096, 0.0951}) ratios.push_back(slow);
  const auto found = two_states(ratios);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slow, 4);
  EXPECT_EQ(found->fast, 8);
  EXPECT_NEAR(found->slow_ratio, 1.1, 0.001);
  EXPECT_NEAR(found->fast_ratio, 1.001, 0.001);
  EXPECT_FALSE(two_states({0, 0, 0.1})) << "three processes show nothing";
  EXPECT_FALSE(two_states({}));
}

TEST(TwoStates, are_hardly_ever_seen_in_one) {
  Random random(7);
  int told = 0;
  for (int run = 0; run < 10000; ++run) {
    std::vector<double> ratios(12);
    for (double& ratio : ratios) ratio = std::normal_distribution<double>(0, 0.01)(random);
    told += two_states(ratios).has_value();
  }
  EXPECT_LE(told, 10);
}

// Three processes met the faster state alone in 30 of 100 runs, and were believed.
TEST(TwoStates, are_rarely_called_the_same_and_always_told) {
  Random random(11);
  int same = 0, told = 0;
  for (int run = 0; run < 2000; ++run) {
    std::vector<CellBatches> cells(1);
    measure_in_stages(cells, [&](std::size_t, int count) {
      auto batch = processes(random, {.spread = 0.001}, count);
      for (Replicate& one : batch) {
        if (std::uniform_int_distribution(0, 2)(random) == 0) *one.to_baseline += std::log1p(0.1);
      }
      return batch;
    });
    const CellVerdict verdict = decide(cells).front();
    same += verdict.outcome == CellOutcome::same;
    told += verdict.reason.find(" processes it is 10.") != std::string::npos ||
            verdict.reason.find(" processes it is 9.") != std::string::npos;
  }
  EXPECT_LE(same, 40) << "2 of 100";
  EXPECT_GE(told + same, 2000) << "one of two states, or both are told";
}

}  // namespace
