// Against published values, against simulation, and where nothing can be computed.
#include "regress/decide/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

using namespace assay;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Median, of_odd_and_even_counts_and_of_nothing) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Summary, has_the_mean_and_the_deviation_of_a_sample) {
  const Summary s = summarize(std::vector{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0});
  EXPECT_EQ(s.count, 8);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(32.0 / 7));
  EXPECT_EQ(summarize(std::vector<double>{}).count, 0);
  EXPECT_EQ(summarize(std::vector{3.0}).deviation, 0);
}

// The columns of any printed table of Student's t.
TEST(Student, agrees_with_the_printed_table) {
  struct Row {
    int degrees;
    double confidence, t;
  };
  for (const Row& row : {Row{2, 0.90, 1.886}, Row{2, 0.95, 2.920}, Row{2, 0.995, 9.925},
                         Row{11, 0.95, 1.796}, Row{11, 0.99, 2.718}, Row{23, 0.995, 2.807}}) {
    const Summary s{row.degrees + 1, 10, std::sqrt(row.degrees + 1)};  // standard error 1
    EXPECT_NEAR(upper_bound(s, row.confidence), 10 + row.t, 6e-4);
    EXPECT_NEAR(lower_bound(s, row.confidence), 10 - row.t, 6e-4);
    EXPECT_NEAR(p_above(s, 10 - row.t), 1 - row.confidence, 1e-4);
    EXPECT_NEAR(p_below(s, 10 + row.t), 1 - row.confidence, 1e-4);
  }
}

TEST(Student, says_the_same_by_bound_and_by_p) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 2000; ++i) {
    const Summary s{3 + i % 20, normal(random), std::abs(normal(random))};
    EXPECT_EQ(lower_bound(s, 0.9) > 0.1, p_above(s, 0.1) < 0.1);
    EXPECT_EQ(upper_bound(s, 0.9) < 0.1, p_below(s, 0.1) < 0.1);
  }
}

TEST(Student, takes_a_spread_of_zero_for_certain) {
  const Summary s{3, 0.01, 0};
  EXPECT_EQ(p_above(s, 0.005), 0);
  EXPECT_EQ(p_above(s, 0.01), 1);
  EXPECT_EQ(p_above(s, 0.02), 1);
  EXPECT_EQ(p_below(s, 0.02), 0);
  EXPECT_EQ(upper_bound(s, 0.95), 0.01);
  EXPECT_EQ(lower_bound(s, 0.95), 0.01);
}

TEST(Student, argues_for_nothing_where_nothing_can_be_computed) {
  for (const Summary& s :
       {Summary{}, Summary{1, 5, 0}, Summary{12, nan, 1}, Summary{12, 5, nan},
        Summary{12, infinity, 1}, Summary{12, 5, infinity}, Summary{12, 5, -1}}) {
    EXPECT_EQ(p_above(s, 0), 1);
    EXPECT_EQ(p_below(s, 10), 1);
    EXPECT_EQ(upper_bound(s, 0.95), infinity);
    EXPECT_EQ(lower_bound(s, 0.95), -infinity);
  }
}

TEST(Holm, multiplies_by_the_hypotheses_left_and_never_steps_back) {
  const auto adjusted = holm({0.01, 0.04, 0.03, 0.005});
  const std::vector expected = {0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12);
  EXPECT_EQ(holm({0.9, 0.8}), (std::vector{1.0, 1.0}));
  EXPECT_TRUE(holm({}).empty());
}

TEST(DetectableMean, is_called_with_the_power_that_it_promises) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (const auto& [count, p] : {std::pair{3, 0.1}, {12, 0.01}, {12, 0.01 / 120}, {24, 0.005}}) {
    constexpr double bound = 0.005, spread = 0.002;
    const double truth = detectable_mean(count, spread, bound, p, 0.95);
    constexpr int tries = 20000;
    int called = 0;
    for (int i = 0; i < tries; ++i) {
      std::vector<double> values;
      for (int j = 0; j < count; ++j) values.push_back(truth + spread * normal(random));
      called += p_above(summarize(values), bound) < p;
    }
    EXPECT_NEAR(static_cast<double>(called) / tries, 0.95, 0.006) << count << " at " << p;
  }
  EXPECT_EQ(detectable_mean(12, 0, 0.005, 0.01, 0.95), 0.005);
  EXPECT_EQ(detectable_mean(1, 0.1, 0.005, 0.01, 0.95), infinity);
  EXPECT_EQ(detectable_mean(12, nan, 0.005, 0.01, 0.95), infinity);
}

TEST(CountNeeded, is_enough_and_one_less_is_not_much_less) {
  for (double gap : {0.01, 0.003, 0.001, 0.0003}) {
    constexpr double spread = 0.004, p = 0.001;
    const int count = count_needed(spread, gap, p, 0.95);
    EXPECT_NEAR(detectable_mean(count, spread, 0, p, 0.95) / gap, 1, 0.15) << gap;
  }
  EXPECT_EQ(count_needed(0, 0.01, 0.01, 0.95), 2);
  EXPECT_EQ(count_needed(0.01, 0, 0.01, 0.95), 1'000'000);
  EXPECT_EQ(count_needed(0.01, -1, 0.01, 0.95), 1'000'000);
  EXPECT_EQ(count_needed(0.01, nan, 0.01, 0.95), 1'000'000);
}

}  // namespace
