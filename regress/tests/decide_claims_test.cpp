// What must hold of the decision whatever was measured.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>

#include "regress/decide/decide.h"
#include "regress/tests/drawn_processes.h"

namespace {

using namespace assay;
using namespace assay_test;

constexpr std::array batches = {&CellBatches::screen, &CellBatches::confirm, &CellBatches::extra};

// Three thousand cases of each claim. The failing one is printed, shrunk, with how to replay it.
template <class Claim>
void expect_always(Claim&& claim) {
  auto params = rc::detail::configuration().testParams;
  params.maxSuccess = 3000;
  const auto result = rc::detail::checkTestable(claim, rc::detail::TestMetadata{}, params);
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>())
      << message.str() << "\nseed " << params.seed;
}

// Steps and scatter in hundredths of a percent, where the rule's own numbers lie.
double some_step() { return *rc::gen::inRange(-300, 301) / 1e4; }
double some_spread() { return *rc::gen::inRange(0, 150) / 1e4; }

Random some_random() { return Random(*rc::gen::arbitrary<std::uint64_t>()); }

// Cells of all kinds; those with an extra batch were given it whether they needed it or not.
std::vector<CellBatches> some_run(bool with_extra, bool with_anchor = true) {
  Random random = some_random();
  std::vector<CellBatches> cells(*rc::gen::inRange<std::size_t>(1, 9));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Truth t{.step = some_step(), .spread = some_spread()};
    if (with_anchor && *rc::gen::arbitrary<bool>()) t.anchor = t.step + some_step();
    cells[i] = {.screen = processes(random, t, 3)};
    if (*rc::gen::inRange(0, 4) == 0) continue;
    cells[i].confirm = processes(random, t, *rc::gen::inRange(8, 15));
    if (with_extra && *rc::gen::arbitrary<bool>()) cells[i].extra = processes(random, t, 12);
  }
  return cells;
}

// Adds `step` to what every process saw, as a slower head would.
void slow_down(CellBatches& cell, double step) {
  for (auto batch : batches) {
    for (Replicate& r : cell.*batch) {
      *r.to_baseline += step;
      if (r.to_anchor) *r.to_anchor += step;
    }
  }
}

void expect_alike(const CellVerdict& a, const CellVerdict& b) {
  RC_ASSERT(a.outcome == b.outcome);
  RC_ASSERT(a.crept == b.crept);
  RC_ASSERT(std::abs(a.ratio - b.ratio) < 1e-9);
  RC_ASSERT(std::abs(a.anchor_ratio - b.anchor_ratio) < 1e-9);
  RC_ASSERT(std::abs(a.p - b.p) < 1e-6);
  RC_ASSERT(a.processes == b.processes);
}

TEST(Claim, swapping_the_arms_inverts_the_ratio_and_swaps_slower_with_faster) {
  expect_always([] {
    const auto cells = some_run(false, false);
    auto swapped = cells;
    for (CellBatches& cell : swapped) {
      for (auto batch : batches) {
        for (Replicate& r : cell.*batch) *r.to_baseline = -*r.to_baseline;
      }
    }
    const auto before = decide(cells), after = decide(swapped);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      RC_ASSERT(std::abs(before[i].ratio * after[i].ratio - (before[i].ratio != 0)) < 1e-9);
      RC_ASSERT((before[i].outcome == CellOutcome::slower) ==
                (after[i].outcome == CellOutcome::faster));
      RC_ASSERT((before[i].outcome == CellOutcome::faster) ==
                (after[i].outcome == CellOutcome::slower));
      RC_ASSERT((before[i].outcome == CellOutcome::invalid) ==
                (after[i].outcome == CellOutcome::invalid));
    }
  });
}

using Rounds = std::vector<Round>;

// The rounds of the processes of one cell, and what becomes of them.
std::vector<Rounds> some_rounds(Random& random, int count) {
  std::normal_distribution<double> normal;
  const double step = some_step(), spread = some_spread();
  std::vector<Rounds> all;
  for (int i = 0; i < count; ++i) {
    const double luck = std::exp(step + spread * normal(random));
    Rounds rounds(2 * *rc::gen::inRange<std::size_t>(5, 10));
    for (Round& r : rounds) {
      for (Sample& s : r) s = {25 * std::exp(0.002 * normal(random)), 1980, 0};
      r[static_cast<std::size_t>(Arm::head)].time_us *= luck;
      r[static_cast<std::size_t>(Arm::twin)].time_us *= luck;
    }
    all.push_back(std::move(rounds));
  }
  return all;
}

CellBatches reduced(const std::vector<Rounds>& all) {
  CellBatches cell;
  for (const Rounds& rounds : all) cell.confirm.push_back(reduce(rounds));
  return cell;
}

TEST(Claim, swapping_the_times_of_head_and_baseline_negates_their_log_ratio) {
  expect_always([] {
    Random random = some_random();
    auto rounds = some_rounds(random, 1).front();
    const double before = reduce(rounds).to_baseline.value();
    for (Round& r : rounds) {
      std::swap(r[static_cast<std::size_t>(Arm::head)], r[static_cast<std::size_t>(Arm::baseline)]);
    }
    RC_ASSERT(std::abs(before + reduce(rounds).to_baseline.value()) < 1e-12);
  });
}

TEST(Claim, a_drift_that_all_arms_share_changes_nothing) {
  expect_always([] {
    Random random = some_random();
    auto rounds = some_rounds(random, 12);
    const auto before = decide_one(reduced(rounds));
    std::uniform_real_distribution<double> drift(0.5, 2);
    for (Rounds& process : rounds) {
      for (Round& r : process) {
        const double factor = drift(random);
        for (Sample& s : r) s.time_us *= factor;
      }
    }
    expect_alike(before, decide_one(reduced(rounds)));
  });
}

TEST(Claim, scaling_all_times_changes_nothing) {
  expect_always([] {
    Random random = some_random();
    auto rounds = some_rounds(random, 12);
    const auto before = decide_one(reduced(rounds));
    const double factor = std::pow(10, *rc::gen::inRange(-6, 7));
    for (Rounds& process : rounds) {
      for (Round& r : process) {
        for (Sample& s : r) s.time_us *= factor;
      }
    }
    expect_alike(before, decide_one(reduced(rounds)));
  });
}

TEST(Claim, permuting_the_cells_permutes_the_verdicts) {
  expect_always([] {
    Random random = some_random();
    const auto cells = some_run(true);
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<CellBatches> shuffled;
    for (std::size_t i : order) shuffled.push_back(cells[i]);
    const auto before = decide(cells), after = decide(shuffled);
    for (std::size_t i = 0; i < order.size(); ++i) expect_alike(before[order[i]], after[i]);
    for (auto stage : {to_confirm, to_repeat}) {
      auto chosen = stage(shuffled, {});
      for (std::size_t& i : chosen) i = order[i];
      std::sort(chosen.begin(), chosen.end());
      RC_ASSERT(chosen == stage(cells, {}));
    }
  });
}

TEST(Claim, permuting_the_processes_changes_nothing) {
  expect_always([] {
    Random random = some_random();
    const auto cells = some_run(true);
    auto shuffled = cells;
    for (CellBatches& cell : shuffled) {
      for (auto batch : batches) std::shuffle((cell.*batch).begin(), (cell.*batch).end(), random);
    }
    const auto before = decide(cells), after = decide(shuffled);
    for (std::size_t i = 0; i < cells.size(); ++i) expect_alike(before[i], after[i]);
  });
}

int slowness(const CellVerdict& v) {
  switch (v.outcome) {
    case CellOutcome::faster: return 0;
    case CellOutcome::same: return 1;
    case CellOutcome::undecided: return 2;
    default: return 3;
  }
}

TEST(Claim, more_slowdown_never_makes_it_less_slow) {
  expect_always([] {
    auto cells = some_run(false);
    const auto at = *rc::gen::inRange<std::size_t>(0, cells.size());
    const auto before = decide(cells)[at];
    slow_down(cells[at], *rc::gen::inRange(1, 500) / 1e4);
    const auto after = decide(cells)[at];
    RC_ASSERT((before.outcome == CellOutcome::invalid) == (after.outcome == CellOutcome::invalid));
    // One that was only screened is not decided while it waits for its confirmation.
    if (!cells[at].confirm.empty()) RC_ASSERT(slowness(after) >= slowness(before));
    if (!cells[at].confirm.empty()) RC_ASSERT(after.p <= before.p + 1e-12);
  });
}

TEST(Claim, what_is_slower_stays_slower_with_more_slowdown_also_after_an_extra_batch) {
  int was_slower = 0;
  expect_always([&] {
    auto cells = some_run(true);
    const auto at = *rc::gen::inRange<std::size_t>(0, cells.size());
    slow_down(cells[at], 0.02);
    const auto before = decide(cells)[at];
    slow_down(cells[at], *rc::gen::inRange(1, 500) / 1e4);
    RC_ASSERT(before.outcome != CellOutcome::slower ||
              decide(cells)[at].outcome == CellOutcome::slower);
    was_slower += before.outcome == CellOutcome::slower;
  });
  EXPECT_GE(was_slower, 150) << "too few cases that this speaks of";
}

// Each takes from a batch of twelve what one of its processes said.
using Loss = void (*)(Replicate&);
constexpr std::array<Loss, 6> losses = {
    [](Replicate& r) { r = {.fault = "throttled"}; },
    [](Replicate& r) { r = {}; },
    [](Replicate& r) { r.to_baseline.reset(); },
    [](Replicate& r) { r.to_twin.reset(); },
    [](Replicate& r) { r.to_baseline = std::numeric_limits<double>::quiet_NaN(); },
    [](Replicate& r) { r.to_twin = std::numeric_limits<double>::infinity(); },
};

TEST(Claim, too_little_is_invalid_and_never_same) {
  expect_always([] {
    Random random = some_random();
    const Truth quiet{.spread = 0.001};
    auto cells = some_run(true);
    const auto at = *rc::gen::inRange<std::size_t>(0, cells.size());
    const bool only_screened = *rc::gen::arbitrary<bool>();
    const int planned = only_screened ? 3 : 12, enough = only_screened ? 3 : 9;
    CellBatches cell;
    auto& batch = only_screened ? cell.screen : cell.confirm;
    batch = processes(random, quiet, planned);
    const auto lost = *rc::gen::inRange(planned - enough + 1, planned + 1);
    if (*rc::gen::arbitrary<bool>()) {
      batch.resize(static_cast<std::size_t>(planned - lost));
    } else {
      for (int i = 0; i < lost; ++i)
        losses[*rc::gen::inRange<std::size_t>(0, losses.size())](
            batch[static_cast<std::size_t>(i)]);
    }
    std::shuffle(batch.begin(), batch.end(), random);
    cells[at] = cell;
    const bool lacks_baseline =
        std::ranges::none_of(batch, [](const Replicate& r) { return r.to_baseline.has_value(); });
    const CellVerdict verdict = decide(cells)[at];
    RC_ASSERT(verdict.outcome == CellOutcome::invalid ||
              (lacks_baseline && verdict.outcome == CellOutcome::no_baseline));
    RC_ASSERT(!verdict.reason.empty());
  });
}

TEST(Claim, impossible_times_are_invalid_and_never_same) {
  expect_always([] {
    Random random = some_random();
    auto rounds = some_rounds(random, 12);
    const double bad = *rc::gen::element(0.0, -25.0, std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity());
    const int lost = *rc::gen::inRange(4, 13);
    const auto arm = static_cast<std::size_t>(*rc::gen::elementOf(arms));
    for (std::size_t i = 0; i < static_cast<std::size_t>(lost); ++i)
      rounds[i][*rc::gen::inRange<std::size_t>(0, rounds[i].size())][arm].time_us = bad;
    RC_ASSERT(decide_one(reduced(rounds)).outcome == CellOutcome::invalid);
  });
}

TEST(Claim, a_quiet_cell_more_makes_no_other_cell_slower) {
  expect_always([] {
    Random random = some_random();
    auto cells = some_run(true);
    const auto before = decide(cells);
    const auto at = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, cells.size()));
    const Truth quiet{.spread = some_spread(), .anchor = 0};
    CellBatches more{.screen = processes(random, quiet, 3)};
    if (*rc::gen::arbitrary<bool>()) more.confirm = processes(random, quiet, 12);
    cells.insert(cells.begin() + at, more);
    auto after = decide(cells);
    after.erase(after.begin() + at);
    for (std::size_t i = 0; i < before.size(); ++i) {
      RC_ASSERT(before[i].outcome == CellOutcome::slower ||
                after[i].outcome != CellOutcome::slower);
      RC_ASSERT(after[i].p >= before[i].p - 1e-12 || after[i].processes != before[i].processes);
    }
  });
}

}  // namespace
