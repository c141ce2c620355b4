// What users of other performance gates complain about, so that nobody complains of it here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regress/decide/decide.h"
#include "regress/tests/drawn_processes.h"

namespace {

using namespace assay;
using namespace assay_test;

constexpr double usual_spread = 0.0015;

int count_of(const std::vector<CellVerdict>& verdicts, CellOutcome change) {
  return static_cast<int>(std::count_if(verdicts.begin(), verdicts.end(),
                                        [&](const auto& v) { return v.outcome == change; }));
}

// An exit code of "how many differ" is 0 for 256 of them.
TEST(Complaint, that_256_differences_passed) {
  Random random(7);
  const auto verdicts = run_gate(random, std::vector<Truth>(256, {0.03, usual_spread, {}, 0}));
  EXPECT_EQ(count_of(verdicts, CellOutcome::slower), 256);
}

TEST(Complaint, that_faster_kernels_failed) {
  Random random(8);
  const auto verdicts = run_gate(random, std::vector<Truth>(120, {-0.03, usual_spread, -0.05, 0}));
  EXPECT_EQ(count_of(verdicts, CellOutcome::faster), 120);
}

TEST(Complaint, that_a_gate_measured_nothing_and_passed) {
  EXPECT_TRUE(decide({}).empty());
  EXPECT_TRUE(to_confirm({}).empty());
  EXPECT_TRUE(to_repeat({}).empty());
  EXPECT_EQ(count_of(decide(std::vector<CellBatches>(5)), CellOutcome::invalid), 5);
}

// Twenty rounds of every arm; `head` scales head's time.
std::vector<Round> rounds_of(Random& random, double head, int count = 20, double noise = 0.001) {
  std::normal_distribution<double> normal;
  std::vector<Round> rounds(static_cast<std::size_t>(count));
  for (Round& r : rounds) {
    for (Sample& s : r) s = {30 * std::exp(noise * normal(random)), 1980, 0};
    r[static_cast<std::size_t>(Arm::head)].time_us *= head;
    r[static_cast<std::size_t>(Arm::twin)].time_us *= head;
  }
  return rounds;
}

// The card held only head back, and only its samples were dropped: the rest is not comparable.
TEST(Complaint, that_throttling_of_one_arm_made_it_slower) {
  Random random(9);
  CellBatches cell;
  for (int i = 0; i < 12; ++i) {
    auto rounds = rounds_of(random, 1);
    for (std::size_t j = 0; j < 10; ++j) {
      for (Sample& s : rounds[j]) s.time_us *= 1.3;
      rounds[j].front().throttled = j % 2;
      rounds[j].front().time_us *= 1.2;
    }
    cell.confirm.push_back(reduce(rounds));
    EXPECT_EQ(cell.confirm.back().dropped, 10);
  }
  EXPECT_EQ(decide_one(cell).outcome, CellOutcome::same) << decide_one(cell).reason;
}

TEST(Complaint, that_NaN_or_zero_times_passed) {
  Random random(10);
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), 0.0, -30.0}) {
    CellBatches cell;
    for (int i = 0; i < 12; ++i) {
      auto rounds = rounds_of(random, 1);
      rounds[3].front().time_us = bad;
      cell.confirm.push_back(reduce(rounds));
    }
    EXPECT_EQ(decide_one(cell).outcome, CellOutcome::invalid);
  }
}

// Launches of one process share its luck with addresses and clocks: many of them prove nothing.
TEST(Complaint, that_many_launches_of_one_process_were_taken_for_evidence) {
  Random random(11);
  std::normal_distribution<double> luck(0, 0.01);
  EXPECT_EQ(decide_one({.confirm = {reduce(rounds_of(random, 1.05, 20000))}}).outcome,
            CellOutcome::invalid);
  CellBatches cell;
  for (int i = 0; i < 12; ++i)
    cell.confirm.push_back(reduce(rounds_of(random, std::exp(luck(random)), 4000)));
  const auto v = decide_one(cell);
  EXPECT_GT(v.interval.high - v.interval.low, 0.008) << "however many rounds there were";
  EXPECT_EQ(v.processes, 12);
}

// A developer whose changes cost 0.3 % each. All are accepted that the gate lets pass.
int changes_accepted(Random& random, double spread, bool with_anchor) {
  const double step = std::log1p(0.003);
  for (int change = 1; change <= 12; ++change) {
    std::vector<Truth> truths(8, {0, spread, 0, 0});
    truths[0] = {step, spread, std::nullopt, 0};
    if (with_anchor) truths[0].anchor = change * step;
    if (run_gate(random, truths).front().outcome == CellOutcome::slower) return change - 1;
  }
  return 12;
}

TEST(Complaint, that_small_steps_added_up) {
  Random random(12);
  for (double spread : {0.001, 0.0015, 0.002}) {
    constexpr int chains = 400;
    int in_time = 0, too_early = 0, without_anchor = 0;
    for (int i = 0; i < chains; ++i) {
      const int accepted = changes_accepted(random, spread, true);
      in_time += std::pow(1.003, accepted) < 1.025 && std::pow(1.003, accepted + 1) < 1.025;
      too_early += accepted < 6;  // the sixth makes 1.8 %
      without_anchor += i < 40 && changes_accepted(random, spread, false) < 12;
    }
    EXPECT_GE(in_time, 0.98 * chains) << spread;
    EXPECT_LE(too_early, 0.02 * chains) << spread;
    EXPECT_LE(without_anchor, 4) << "a gate that looks one step back sees nothing";
    RecordProperty("stopped_in_time", in_time);
  }
}

}  // namespace
