// From the samples of one process to its one number for each pair of arms.
#include "regress/decide/replicate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace {

using namespace assay;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Sample& at(Round& round, Arm arm) { return round[static_cast<std::size_t>(arm)]; }

// Head takes 102 us, its twin 102, the baseline 100 and the anchor 99.
std::vector<Round> quiet(int rounds = 20) {
  Round r;
  at(r, Arm::head) = {102, 1980, 0};
  at(r, Arm::twin) = {102, 1980, 0};
  at(r, Arm::baseline) = {100, 1980, 0};
  at(r, Arm::anchor) = {99, 1980, 0};
  return std::vector<Round>(static_cast<std::size_t>(rounds), r);
}

void expect_fault(const std::vector<Round>& rounds, const std::string& words) {
  const Replicate r = reduce(rounds);
  EXPECT_NE(r.fault.find(words), std::string::npos) << "'" << r.fault << "' should say: " << words;
  EXPECT_FALSE(r.to_baseline || r.to_anchor || r.to_twin) << "a fault leaves nothing to use";
}

TEST(Reduce, gives_one_log_ratio_for_each_pair_of_arms) {
  const Replicate r = reduce(quiet());
  EXPECT_EQ(r.fault, "");
  EXPECT_NEAR(r.to_baseline.value(), std::log(1.02), 1e-12);
  EXPECT_NEAR(r.to_anchor.value(), std::log(102.0 / 99), 1e-12);
  EXPECT_NEAR(r.to_twin.value(), 0, 1e-12);
  EXPECT_EQ(r.head_us, 102);
  EXPECT_EQ(r.clock_mhz, 1980);
  EXPECT_EQ(r.clock_apart, 0);
  EXPECT_EQ(r.rounds, 20);
  EXPECT_EQ(r.dropped, 0);
}

// Within a round the card gets slower from arm to arm; the mirror runs them the other way.
TEST(Reduce, cancels_an_even_drift_by_the_mirror) {
  auto rounds = quiet();
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      const double place = static_cast<double>(i % 2 == 0 ? arm : arms.size() - 1 - arm);
      rounds[i][arm].time_us *= std::exp(0.03 * place);
    }
  }
  EXPECT_NEAR(reduce(rounds).to_baseline.value(), std::log(1.02), 1e-12);
}

TEST(Reduce, takes_the_median_over_pairs) {
  auto rounds = quiet();
  at(rounds[4], Arm::head).time_us = 1000;
  at(rounds[9], Arm::head).time_us = 5;
  at(rounds[11], Arm::baseline).time_us = 1000;
  EXPECT_NEAR(reduce(rounds).to_baseline.value(), std::log(1.02), 1e-12);
}

// A card that always runs there gives verdicts; what reaches it in one arm is dropped.
TEST(Reduce, keeps_pairs_that_ran_at_the_power_limit_as_a_whole) {
  auto rounds = quiet(12);
  for (Round& round : rounds) {
    for (const Arm arm : arms) at(round, arm).throttled = 4;
  }
  EXPECT_EQ(reduce(rounds).dropped, 0);
  EXPECT_TRUE(reduce(rounds).at_power_limit);
  EXPECT_NEAR(reduce(rounds).to_baseline.value(), std::log(1.02), 1e-12);
  at(rounds[3], Arm::twin).throttled = 4 | 32;  // too hot, too
  EXPECT_EQ(reduce(rounds).dropped, 2);
  at(rounds[3], Arm::twin).throttled = 0;
  EXPECT_EQ(reduce(rounds).dropped, 2);
  for (Round& round : rounds) at(round, Arm::baseline).throttled = 0;
  expect_fault(rounds, "only 0 of 6 pairs of rounds are left, 6 were throttled");
  EXPECT_FALSE(reduce(quiet()).at_power_limit);
}

TEST(Reduce, drops_a_throttled_pair_for_all_arms) {
  for (Arm throttled : arms) {
    auto rounds = quiet();
    // Were the mirror or another arm kept, every ratio would move.
    for (std::size_t i : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
      for (Sample& s : rounds[i]) s.time_us *= 2;
    }
    for (std::size_t i : {0, 3, 4, 7, 8}) {
      at(rounds[i], throttled).throttled = 4;
      at(rounds[i], throttled).time_us = 800;
      at(rounds[i ^ 1], Arm::head).time_us = 700;
    }
    const Replicate r = reduce(rounds);
    EXPECT_EQ(r.fault, "");
    EXPECT_EQ(r.dropped, 10) << to_string(throttled);
    EXPECT_EQ(r.rounds, 20);
    EXPECT_EQ(r.head_us, 102);
    EXPECT_NEAR(r.to_baseline.value(), std::log(1.02), 1e-12);
    EXPECT_NEAR(r.to_anchor.value(), std::log(102.0 / 99), 1e-12);
    EXPECT_NEAR(r.to_twin.value(), 0, 1e-12);
  }
}

TEST(Reduce, finds_fault_with_fewer_than_five_pairs) {
  EXPECT_EQ(reduce(quiet(10)).fault, "");
  expect_fault(quiet(8), "only 4 of 4 pairs");
  auto rounds = quiet(12);
  at(rounds[0], Arm::twin).throttled = 1;
  EXPECT_EQ(reduce(rounds).fault, "");
  at(rounds[11], Arm::baseline).throttled = 1;
  expect_fault(rounds, "only 4 of 6 pairs of rounds are left, 2 were throttled");
}

TEST(Reduce, finds_fault_with_a_round_without_its_mirror) { expect_fault(quiet(11), "mirror"); }

TEST(Reduce, finds_fault_with_a_time_that_is_not_a_positive_number) {
  for (double bad : {nan, 0.0, -1.0, infinity, -infinity}) {
    for (Arm arm : arms) {
      auto rounds = quiet();
      at(rounds[7], arm).time_us = bad;
      expect_fault(rounds, std::string(to_string(arm)) + "'s time in round 7");
      at(rounds[7], arm).throttled = 1;
      expect_fault(rounds, "'s time in round 7");
    }
  }
}

TEST(Reduce, leaves_out_an_arm_that_was_not_run) {
  auto rounds = quiet();
  for (Round& r : rounds) at(r, Arm::anchor) = at(r, Arm::baseline) = {};
  const Replicate r = reduce(rounds);
  EXPECT_EQ(r.fault, "");
  EXPECT_FALSE(r.to_baseline || r.to_anchor);
  EXPECT_TRUE(r.to_twin);
  EXPECT_EQ(r.clock_apart, 0);
}

TEST(Reduce, finds_fault_with_a_head_that_was_not_run) {
  auto rounds = quiet();
  for (Round& r : rounds) at(r, Arm::head) = {};
  expect_fault(rounds, "head was not run");
  expect_fault({}, "head was not run");
}

TEST(Reduce, finds_fault_with_clocks_apart) {
  auto rounds = quiet();
  for (Round& r : rounds) at(r, Arm::anchor).clock_mhz = 1980 * 1.004;
  EXPECT_EQ(reduce(rounds).fault, "");
  EXPECT_NEAR(reduce(rounds).clock_apart, 0.004, 1e-9);
  for (double factor : {1.006, 0.994}) {
    for (Arm arm : {Arm::head, Arm::twin}) {
      rounds = quiet();
      for (Round& r : rounds) at(r, arm).clock_mhz *= factor;
      expect_fault(rounds, "MHz and head at");
    }
    // Other code may draw other power.
    rounds = quiet();
    for (Round& r : rounds) at(r, Arm::baseline).clock_mhz *= factor;
    EXPECT_EQ(reduce(rounds).fault, "");
    EXPECT_NEAR(reduce(rounds).clock_apart, 0.006, 1e-9);
  }
  for (double bad : {nan, -1.0, infinity}) {
    rounds = quiet();
    at(rounds[3], Arm::twin).clock_mhz = bad;
    expect_fault(rounds, "twin's clock in round 3");
  }
}

TEST(Reduce, does_without_clocks) {
  for (Arm arm : arms) {
    auto rounds = quiet();
    for (Round& r : rounds) at(r, arm).clock_mhz = 0;
    EXPECT_EQ(reduce(rounds).fault, "") << to_string(arm);
    EXPECT_TRUE(reduce(rounds).to_baseline);
  }
  auto rounds = quiet();
  at(rounds[5], Arm::head).clock_mhz = 0;
  EXPECT_EQ(reduce(rounds).clock_mhz, 1980) << "of the rounds in which it could be read";
}

}  // namespace
