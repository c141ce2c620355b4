// The rule, stage by stage.
#include "regress/decide/decide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "regress/tests/drawn_processes.h"

namespace {

using namespace assay;
using namespace assay_test;
using Indices = std::vector<std::size_t>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool says(const CellVerdict& v, const std::string& words) {
  return v.reason.find(words) != std::string::npos;
}

// The same log-ratio from every process.
std::vector<Replicate> exactly(int count, double step) {
  return std::vector<Replicate>(static_cast<std::size_t>(count), process(step));
}

// Log-ratios of which mean and deviation are just these.
std::vector<Replicate> scattered(int count, double mean, double deviation) {
  auto batch = exactly(count, mean);
  for (int i = 0; i + 1 < count; i += 2) {
    const double half = deviation * std::sqrt((count - 1.0) / (count - count % 2));
    batch[static_cast<std::size_t>(i)].to_baseline = mean + half;
    batch[static_cast<std::size_t>(i + 1)].to_baseline = mean - half;
  }
  return batch;
}

TEST(Screen, sends_on_what_could_be_different) {
  const auto goes_on = [](double mean, double deviation) {
    return to_confirm({{.screen = scattered(3, mean, deviation)}}).size() == 1;
  };
  EXPECT_FALSE(goes_on(0, 0.001));
  EXPECT_FALSE(goes_on(0.0030, 0.001)) << "more than 0.25 %, but not for sure";
  EXPECT_TRUE(goes_on(0.0040, 0.001)) << "plausibly slower";
  EXPECT_TRUE(goes_on(-0.0040, 0.001)) << "plausibly faster";
  EXPECT_FALSE(goes_on(0.0020, 0)) << "surely below 0.25 %";
  EXPECT_TRUE(goes_on(0, 0.010)) << "too noisy to be shown the same";
}

TEST(Screen, sends_on_what_is_near_the_budget_of_creep) {
  auto cell = CellBatches{.screen = exactly(3, 0)};
  for (double anchor : {0.010, 0.019, 0.021}) {
    for (Replicate& r : cell.screen) r.to_anchor = anchor;
    EXPECT_EQ(to_confirm({cell}).size(), anchor > 0.0198 ? 1u : 0u) << anchor;
  }
  cell.screen[0].to_anchor = 0.016;
  cell.screen[1].to_anchor = 0.020;
  cell.screen[2].to_anchor = 0.018;
  EXPECT_EQ(to_confirm({cell}), Indices{0}) << "not shown to be within the budget";
  cell.unchanged = true;
  EXPECT_TRUE(to_confirm({cell}).empty()) << "it was accepted as it is";
}

TEST(Screen, sends_on_a_control_that_looks_off_and_a_batch_that_lost_a_process) {
  auto off = CellBatches{.screen = exactly(3, 0)};
  for (Replicate& r : off.screen) r.to_twin = 0.01;
  auto short_of_one = CellBatches{.screen = exactly(3, 0)};
  short_of_one.screen[1] = {.fault = "throttled"};
  EXPECT_EQ(to_confirm({off, short_of_one}), (Indices{0, 1}));
  EXPECT_EQ(decide_one(short_of_one).outcome, CellOutcome::invalid);
}

TEST(Screen, does_not_send_on_what_cannot_be_measured) {
  const CellBatches nothing, unchanged{.unchanged = true};
  const CellBatches faulty{.screen = {{.fault = "wrong"}, {.fault = "wrong"}, {.fault = "wrong"}}};
  const CellBatches without_baseline{.screen = {{.to_twin = 0}, {.to_twin = 0}, {.to_twin = 0}}};
  EXPECT_TRUE(to_confirm({nothing, unchanged, faulty, without_baseline}).empty());
}

TEST(Screen, alone_never_says_slower_or_faster) {
  for (double mean : {0.5, -0.5, 0.01}) {
    const auto v = decide_one({.screen = exactly(3, mean)});
    EXPECT_EQ(v.outcome, CellOutcome::undecided);
    EXPECT_TRUE(says(v, "was not confirmed")) << v.reason;
    EXPECT_EQ(v.processes_needed, 12);
  }
}

TEST(Confirm, throws_the_data_of_the_screen_away) {
  const auto alone = decide_one({.confirm = scattered(12, 0.006, 0.001)});
  for (double screened : {-0.5, 0.0, 0.5, nan}) {
    const auto v =
        decide_one({.screen = exactly(300, screened), .confirm = scattered(12, 0.006, 0.001)});
    EXPECT_EQ(v.outcome, alone.outcome);
    EXPECT_EQ(v.ratio, alone.ratio);
    EXPECT_EQ(v.p, alone.p);
    EXPECT_EQ(v.processes, 12);
  }
}

TEST(Confirm, says_slower_only_of_more_than_the_margin) {
  const auto change = [](double mean, double deviation) {
    return decide_one({.confirm = scattered(12, mean, deviation)}).outcome;
  };
  EXPECT_EQ(change(0.0100, 0.001), CellOutcome::slower);
  EXPECT_EQ(change(0.0045, 0.0001), CellOutcome::same) << "surely slower, by less than the margin";
  EXPECT_EQ(change(-0.0045, 0.0001), CellOutcome::same);
  EXPECT_EQ(change(-0.0100, 0.001), CellOutcome::faster);
  EXPECT_EQ(change(0.0080, 0.003), CellOutcome::slower);
  EXPECT_EQ(change(0.0080, 0.007), CellOutcome::same) << "not sure, and below 1.5 %";
  EXPECT_EQ(change(0.0080, 0.005), CellOutcome::undecided) << "and looks slower: once more";
  EXPECT_EQ(change(0.0080, 0.020), CellOutcome::undecided);
  EXPECT_EQ(change(0.0150, 0.013), CellOutcome::undecided);
}

// Student's t of 11 degrees is 3.106 at 99.5 %.
TEST(Confirm, tells_the_interval_that_99_percent_stay_between) {
  const auto v = decide_one({.confirm = scattered(12, 0.006, 0.001)});
  const double half = 3.105807 * 0.001 / std::sqrt(12);
  EXPECT_NEAR(std::log(v.interval.low), 0.006 - half, 1e-8);
  EXPECT_NEAR(std::log(v.interval.high), 0.006 + half, 1e-8);
}

TEST(Confirm, works_with_a_spread_of_exactly_zero) {
  for (const auto& [mean, change] : {std::pair{0.0, CellOutcome::same},
                                     {0.01, CellOutcome::slower},
                                     {-0.01, CellOutcome::faster}}) {
    const auto v = decide_one({.confirm = exactly(12, mean)});
    EXPECT_EQ(v.outcome, change);
    EXPECT_NEAR(v.ratio, std::exp(mean), 1e-12);
    EXPECT_NEAR(v.interval.high - v.interval.low, 0, 1e-12);
    EXPECT_TRUE(std::isfinite(v.detectable) && std::isfinite(v.p));
  }
}

// p of one cell is 0.0005: enough alone and among 12, too little among 40.
TEST(Confirm, pays_for_the_number_of_cells_confirmed) {
  const auto suspect = CellBatches{.confirm = scattered(12, 0.0063, 0.001)};
  EXPECT_EQ(decide_one(suspect).outcome, CellOutcome::slower);
  std::vector<CellBatches> cells(40, {.confirm = scattered(12, 0, 0.001)});
  cells.push_back(suspect);
  const auto verdicts = decide(cells);
  EXPECT_EQ(verdicts.back().outcome, CellOutcome::undecided) << "it looks slower all the same";
  EXPECT_GT(verdicts.back().detectable, decide_one(suspect).detectable);
  EXPECT_NEAR(verdicts.back().p, 41 * decide_one(suspect).p, 1e-9);
  for (CellBatches& quiet : cells) std::swap(quiet.screen, quiet.confirm);
  std::swap(cells.back().screen, cells.back().confirm);
  EXPECT_EQ(decide(cells).back().outcome, CellOutcome::slower)
      << "cells only screened do not count";
}

TEST(Extra, is_for_the_undecided_only) {
  const CellBatches slower{.confirm = exactly(12, 0.02)}, same{.confirm = exactly(12, 0)};
  const CellBatches noisy{.confirm = scattered(12, 0.008, 0.02)};
  CellBatches control = noisy, repeated = noisy;
  control.unchanged = true;
  repeated.extra = noisy.confirm;
  const CellBatches screened{.screen = exactly(3, 0.02)};
  EXPECT_EQ(to_repeat({slower, noisy, same, control, repeated, screened}), Indices{1});
}

TEST(Extra, takes_as_many_processes_as_the_noise_asks_for) {
  const auto more = [](double deviation) {
    return processes_to_repeat({{.confirm = scattered(12, 0.008, deviation)}});
  };
  EXPECT_EQ(more(0.003), 12) << "nothing is to be repeated";
  EXPECT_EQ(more(0.0055), 14);
  EXPECT_EQ(more(0.02), 36) << "three times as many, at most";
}

TEST(Extra, is_judged_together_with_the_confirmation_at_half_the_alpha) {
  const auto with = [](double mean, double deviation) {
    return decide_one(
        {.confirm = scattered(12, 0.008, 0.02), .extra = scattered(12, mean, deviation)});
  };
  EXPECT_EQ(with(0.060, 0.001).outcome, CellOutcome::slower);
  EXPECT_EQ(with(-0.200, 0.001).outcome, CellOutcome::faster);
  EXPECT_EQ(with(0.000, 0.001).outcome, CellOutcome::same);
  EXPECT_EQ(with(0.010, 0.020).outcome, CellOutcome::undecided);
  EXPECT_EQ(with(0.060, 0.001).processes, 24);
  EXPECT_NEAR(with(0.060, 0.001).ratio, std::exp(0.034), 1e-9);
  // Between half the alpha and all of it.
  const auto v =
      decide_one({.confirm = scattered(12, 0.017, 0.016), .extra = scattered(12, 0.0102, 0.016)});
  EXPECT_GT(v.p, 0.005);
  EXPECT_LT(v.p, 0.010);
  EXPECT_EQ(v.outcome, CellOutcome::undecided);
}

// The bound of the mean over 24 processes is 1.44 % with 95 %, and 1.54 % with 97.5 %.
TEST(Extra, shows_what_is_the_same_at_half_the_alpha) {
  const CellBatches noisy{.confirm = scattered(12, 0.010, 0.0127),
                          .extra = scattered(12, 0.010, 0.0127)};
  EXPECT_EQ(decide_one(noisy).outcome, CellOutcome::undecided);
  const CellBatches quiet{.confirm = scattered(12, 0.010, 0.0127),
                          .extra = scattered(12, 0.010, 0.0030)};
  EXPECT_EQ(decide_one(quiet).outcome, CellOutcome::same);
}

// It was chosen from among 41 by the data that the second look uses again.
TEST(Extra, still_pays_for_all_cells_that_were_confirmed) {
  const CellBatches lucky{.confirm = scattered(12, 0.013, 0.012),
                          .extra = scattered(12, 0.012, 0.012)};
  EXPECT_EQ(decide_one(lucky).outcome, CellOutcome::slower);
  std::vector<CellBatches> cells(40, {.confirm = exactly(12, 0)});
  cells.push_back(lucky);
  EXPECT_EQ(decide(cells).back().outcome, CellOutcome::undecided);
}

TEST(Extra, changes_nothing_that_was_settled) {
  for (double mean : {-0.02, 0.0, 0.02}) {
    const CellBatches settled{.confirm = exactly(12, mean)};
    CellBatches again = settled;
    again.extra = exactly(12, -mean + 0.1);
    EXPECT_EQ(decide_one(again).outcome, decide_one(settled).outcome);
    EXPECT_EQ(decide_one(again).ratio, decide_one(settled).ratio);
  }
}

TEST(Undecided, says_how_many_processes_would_settle_it) {
  Random random(5);
  for (double mean : {0.0, 0.003, 0.022}) {
    const auto v = decide_one({.confirm = scattered(12, mean, 0.03)});
    ASSERT_EQ(v.outcome, CellOutcome::undecided);
    ASSERT_GT(v.processes_needed, 12);
    EXPECT_TRUE(says(v, std::to_string(v.processes_needed) + " processes")) << v.reason;
    DecisionRule planned;
    planned.confirm_processes = v.processes_needed;
    int settled = 0;
    for (int i = 0; i < 200; ++i) {
      const auto cell = confirmed(random, {mean, 0.03, {}, 0}, v.processes_needed);
      settled += decide({cell}, planned).front().outcome != CellOutcome::undecided;
    }
    EXPECT_GE(settled, 180) << mean;
  }
}

TEST(Detectable, is_what_a_whole_run_calls_nineteen_times_in_twenty) {
  Random random(6);
  for (double spread : {0.001, 0.002, 0.003, 0.004, 0.008}) {
    const double detectable = decide_one({.confirm = scattered(12, 0, spread)}).detectable;
    constexpr int tries = 4000;
    int called = 0;
    for (int i = 0; i < tries; ++i) {
      const auto v = run_gate(random, {{std::log1p(detectable), spread, {}, 0}});
      called += v.front().outcome == CellOutcome::slower;
    }
    EXPECT_GE(called, 0.947 * tries) << 100 * detectable << " % at a spread of " << spread;
  }
}

TEST(Creep, is_stopped_though_the_last_step_is_small) {
  CellBatches cell{.confirm = exactly(12, 0.003)};
  for (Replicate& r : cell.confirm) r.to_anchor = 0.024;
  const auto v = decide_one(cell);
  EXPECT_EQ(v.outcome, CellOutcome::slower);
  EXPECT_TRUE(v.crept);
  EXPECT_NEAR(v.anchor_ratio, std::exp(0.024), 1e-9);
  EXPECT_TRUE(says(v, "added up to 2.43 % slower than the anchor")) << v.reason;
  for (Replicate& r : cell.confirm) r.to_anchor = 0.019;
  EXPECT_EQ(decide_one(cell).outcome, CellOutcome::same);
}

// Log-ratios to the anchor of which mean and deviation are just these.
CellBatches beside_anchor(int count, double mean, double deviation) {
  CellBatches cell{.confirm = exactly(count, 0)};
  const auto drawn = scattered(count, mean, deviation);
  for (std::size_t i = 0; i < drawn.size(); ++i) cell.confirm[i].to_anchor = drawn[i].to_baseline;
  return cell;
}

TEST(Creep, is_not_ruled_out_by_an_anchor_too_noisy_to_tell) {
  const auto change = [](double mean, double deviation) {
    return decide_one(beside_anchor(12, mean, deviation)).outcome;
  };
  EXPECT_EQ(change(0.015, 0.002), CellOutcome::same) << "shown to be within the budget";
  EXPECT_EQ(change(0.015, 0.020), CellOutcome::undecided);
  EXPECT_EQ(change(0.024, 0.010), CellOutcome::undecided)
      << "measured to be over it, but not surely";
  EXPECT_EQ(change(0.030, 0.002), CellOutcome::slower);

  const auto v = decide_one(beside_anchor(12, 0.024, 0.010));
  EXPECT_TRUE(says(v, "too noisy to tell whether small steps added up to more than 2.0 %"))
      << v.reason;
  EXPECT_GT(v.processes_needed, 12);
  EXPECT_LT(v.processes_needed, 200);
  EXPECT_EQ(to_repeat({beside_anchor(12, 0.024, 0.010)}), Indices{0});
}

TEST(Creep, is_ruled_out_by_the_second_look_at_half_the_alpha) {
  CellBatches cell = beside_anchor(12, 0.015, 0.0127);
  ASSERT_EQ(decide_one(cell).outcome, CellOutcome::undecided);
  cell.extra = cell.confirm;
  EXPECT_EQ(decide_one(cell).outcome, CellOutcome::undecided)
      << "between half the alpha and all of it";
  cell.extra = beside_anchor(12, 0.010, 0.001).confirm;
  EXPECT_EQ(decide_one(cell).outcome, CellOutcome::same);
}

TEST(Creep, is_not_said_of_a_step_that_is_slower_or_faster_itself) {
  for (const auto& [step, change] :
       {std::pair{0.03, CellOutcome::slower}, {-0.03, CellOutcome::faster}}) {
    CellBatches cell{.confirm = exactly(12, step)};
    for (Replicate& r : cell.confirm) r.to_anchor = 0.04;
    EXPECT_EQ(decide_one(cell).outcome, change);
    EXPECT_FALSE(decide_one(cell).crept);
  }
}

TEST(Unchanged, is_same_without_being_measured) {
  const auto v = decide_one({.unchanged = true});
  EXPECT_EQ(v.outcome, CellOutcome::same);
  EXPECT_EQ(v.reason, "proven unchanged: same machine code and launch recipe");
}

TEST(Unchanged, and_measured_is_a_live_control) {
  for (double step : {-0.02, 0.02}) {
    const auto v = decide_one({.unchanged = true, .confirm = exactly(12, step)});
    EXPECT_EQ(v.outcome, CellOutcome::invalid);
    EXPECT_TRUE(says(v, "identical machine code")) << v.reason;
  }
  EXPECT_EQ(decide_one({.unchanged = true, .confirm = exactly(12, 0)}).outcome, CellOutcome::same);
  EXPECT_EQ(decide_one({.unchanged = true, .screen = exactly(3, 0)}).outcome, CellOutcome::same);
  EXPECT_EQ(decide_one({.unchanged = true, .screen = exactly(1, 0)}).outcome, CellOutcome::invalid);
  EXPECT_EQ(decide_one({.unchanged = true, .screen = exactly(3, 0.02)}).outcome,
            CellOutcome::undecided);
}

TEST(Invalid, if_the_control_differs_from_itself) {
  for (double off : {-0.02, 0.02}) {
    CellBatches cell{.confirm = exactly(12, 0)};
    for (Replicate& r : cell.confirm) r.to_twin = off;
    const auto v = decide_one(cell);
    EXPECT_EQ(v.outcome, CellOutcome::invalid);
    EXPECT_TRUE(says(v, "control")) << v.reason;
  }
}

TEST(Invalid, without_the_data_that_it_takes) {
  const auto expect_invalid = [](const CellBatches& cell, const std::string& words) {
    const auto v = decide_one(cell);
    EXPECT_EQ(v.outcome, CellOutcome::invalid) << words;
    EXPECT_TRUE(says(v, words)) << v.reason;
  };
  expect_invalid({}, "nothing was measured");
  expect_invalid({.confirm = exactly(8, 0)}, "only 8 of 12 processes gave usable data");
  expect_invalid({.screen = exactly(2, 0)}, "only 2 of 3 processes gave usable data");
  EXPECT_EQ(decide_one({.confirm = exactly(9, 0)}).outcome, CellOutcome::same);

  CellBatches cell{.confirm = exactly(12, 0)};
  for (std::size_t i = 0; i < 3; ++i) cell.confirm[i] = {.fault = "the result was wrong"};
  EXPECT_EQ(decide_one(cell).outcome, CellOutcome::same);
  EXPECT_TRUE(says(decide_one(cell), "3 of 12 processes left out: the result was wrong"));
  cell.confirm[3] = {.fault = "throttled"};
  expect_invalid(cell, "only 8 of 12 processes gave usable data: the result was wrong");
  cell.confirm = exactly(12, 0);
  for (std::size_t i = 0; i < 3; ++i) cell.confirm[i].to_baseline = 0.5;
  for (std::size_t i = 0; i < 3; ++i) cell.confirm[i].fault = "the result was wrong";
  EXPECT_EQ(decide_one(cell).ratio, 1) << "whatever a faulty process measured";
  for (Replicate& r : cell.confirm) r = {.fault = "throttled"};
  expect_invalid(cell, "no process gave usable data: throttled");

  for (auto part : {&Replicate::to_baseline, &Replicate::to_anchor, &Replicate::to_twin}) {
    for (double bad : {nan, infinity, -infinity}) {
      cell.confirm = exactly(12, 0);
      cell.confirm[5].*part = bad;
      expect_invalid(cell, "not a finite number");
    }
  }
  cell.confirm = exactly(12, 0);
  for (Replicate& r : cell.confirm) r.to_twin.reset();
  expect_invalid(cell, "no process gave usable data: the control was not timed");
  cell.confirm = exactly(12, 0);
  cell.confirm[0].to_anchor = 0;
  expect_invalid(cell, "only 1 of 12 processes gave usable data: the anchor was not timed");
  cell.confirm = exactly(12, 0);
  for (Replicate& r : cell.confirm) r.to_baseline.reset();
  EXPECT_EQ(decide_one(cell).outcome, CellOutcome::no_baseline);
  EXPECT_EQ(decide_one(cell).reason, "no baseline");
}

}  // namespace
