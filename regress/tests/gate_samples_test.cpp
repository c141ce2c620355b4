// What the rule promises, asserted of the gate's own samples: each process of A/A runs of
// `assay gate time --all` on real cards is drawn again, with replacement, into whole runs of the
// gate, which are decided again. regress/tools/replay-corpus makes the corpus. What is planted is
// synthetic: a factor on a real ratio, outliers with heavy tails, a second state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>

#include "regress/decide/decide.h"
#include "regress/tests/recorded_samples.h"

namespace {

using namespace assay;
using namespace assay_test;

// Adds to a process what it did not measure.
using Spoil = void (*)(Random&, Replicate&);

void nothing(Random&, Replicate&) {}

// One process in twenty is off by 0.3 % and more, with a tail that has no variance.
void heavy_tails(Random& random, Replicate& process) {
  std::uniform_real_distribution<double> uniform;
  for (auto* ratio : {&process.to_baseline, &process.to_twin}) {
    if (uniform(random) >= 0.05) continue;
    const double outlier = 0.003 * std::pow(1 - uniform(random), -1 / 1.5);
    **ratio += uniform(random) < 0.5 ? outlier : -outlier;
  }
}

// Each arm settles in a state that is 4 % slower in a third of the processes.
void two_states_of_each_arm(Random& random, Replicate& process) {
  std::bernoulli_distribution is_slow(1.0 / 3);
  const double head = 0.04 * is_slow(random);
  *process.to_baseline += head - 0.04 * is_slow(random);
  *process.to_twin += head - 0.04 * is_slow(random);
}

struct Noise {
  const char* what;
  Spoil spoil;
};
constexpr Noise as_recorded = {"as recorded", nothing},
                with_tails = {"heavy tails (synthetic)", heavy_tails},
                with_states = {"two states of each arm (synthetic)", two_states_of_each_arm};

// Power is promised by the time of a launch.
struct Promise {
  const char* cells;
  double from_us, below_us, slowdown;
};
constexpr std::array promises = {Promise{"20 us and more", 20, HUGE_VAL, 0.010},
                                 Promise{"less than 20 us", 0, 20, 0.015}};

class GateSamples : public testing::Test {
 protected:
  void SetUp() override {
    try {
      for (const auto& [card, cells] : read_samples(false)) cards.push_back(cells);
    } catch (const std::exception& e) {
      FAIL() << samples_file.string() << ": " << e.what();
    }
  }

  std::vector<Replicate> draw(const Recorded& cell, int count, double slower, const Noise& noise) {
    std::uniform_int_distribution<std::size_t> any(0, cell.processes.size() - 1);
    std::vector<Replicate> batch;
    for (int i = 0; i < count; ++i) {
      Replicate process = cell.processes[any(random)];
      noise.spoil(random, process);
      *process.to_baseline += std::log1p(slower);
      if (process.to_anchor) *process.to_anchor += std::log1p(slower);
      batch.push_back(process);
    }
    return batch;
  }

  // One run over some cells that changed: the first of them is slower.
  std::vector<CellVerdict> run(const std::vector<const Recorded*>& changed, double slower,
                               const Noise& noise) {
    std::vector<CellBatches> cells(changed.size());
    measure_in_stages(cells, [&](std::size_t i, int count) {
      return draw(*changed[i], count, i == 0 ? slower : 0, noise);
    });
    return decide(cells);
  }

  static std::vector<const Recorded*> all(const std::vector<Recorded>& card) {
    std::vector<const Recorded*> cells;
    for (const Recorded& cell : card) cells.push_back(&cell);
    return cells;
  }
  // Those of one cell's variant, itself the first: what a change of one kernel file touches.
  static std::vector<const Recorded*> beside(const Recorded& cell,
                                             const std::vector<Recorded>& card) {
    std::vector<const Recorded*> cells = {&cell};
    for (const Recorded& other : card) {
      if (&other != &cell && other.cell.variant == cell.cell.variant) cells.push_back(&other);
    }
    return cells;
  }

  // In how many of these runs, spread over the cards, an unchanged cell is called slower.
  int alarms(int runs, const Noise& noise) {
    int alarmed = 0;
    std::map<CellOutcome, int> seen;
    for (int i = 0; i < runs; ++i) {
      const auto verdicts = run(all(cards[static_cast<std::size_t>(i) % cards.size()]), 0, noise);
      bool alarm = false;
      for (const CellVerdict& verdict : verdicts) {
        ++seen[verdict.outcome];
        alarm = alarm || verdict.outcome == CellOutcome::slower;
      }
      alarmed += alarm;
    }
    fmt::print(
        "{}: {} runs, all cells of a card changed and none is slower: {} with a false alarm; per "
        "run",
        noise.what, runs, alarmed);
    for (const auto& [outcome, count] : seen)
      fmt::print(" {:.2f} {}", double(count) / runs, to_string(outcome));
    fmt::print("\n");
    return alarmed;
  }

  // What became of one cell in runs in which it was slower.
  struct Fate {
    const Recorded* cell;
    std::map<CellOutcome, double> shares;
    double called() const {
      const auto slower = shares.find(CellOutcome::slower);
      return slower == shares.end() ? 0 : slower->second;
    }
  };

  // Of each cell that a promise is about, those first that are called least often.
  std::vector<Fate> fates(const Promise& promise, double slower, int tries, const Noise& noise) {
    std::vector<Fate> found;
    for (const auto& card : cards) {
      for (const Recorded& cell : card) {
        if (!(cell.time_us >= promise.from_us && cell.time_us < promise.below_us)) continue;
        Fate& fate = found.emplace_back(&cell);
        for (int i = 0; i < tries; ++i)
          fate.shares[run(beside(cell, card), slower, noise).front().outcome] += 1.0 / tries;
      }
    }
    std::ranges::sort(found, {}, &Fate::called);
    return found;
  }

  std::vector<std::vector<Recorded>> cards;
  Random random{2026};
};

// More runs, for figures to publish: 10 makes ten times as many.
int effort() {
  const char* given = std::getenv("GATE_SAMPLES_EFFORT");
  return given == nullptr ? 1 : std::max(1, std::atoi(given));
}

TEST_F(GateSamples, raise_an_alarm_in_at_most_one_run_of_a_hundred) {
  EXPECT_LE(alarms(300 * effort(), as_recorded), 3 * effort());
  EXPECT_LE(alarms(100 * effort(), with_tails), effort());
  EXPECT_LE(alarms(100 * effort(), with_states), effort());
}

// Which noise a cell had on the card, that hides its slowdown.
std::string noise_of(const Recorded& cell) {
  std::vector<double> logs;
  for (const Replicate& process : cell.processes) logs.push_back(*process.to_baseline);
  const Summary s = summarize(logs);
  return fmt::format("{} of {:.0f} us: spread {:.2f} %, mean {:+.2f} %, {} processes",
                     to_string(cell.cell), cell.time_us, 100 * s.deviation, 100 * s.mean, s.count);
}

TEST_F(GateSamples, show_the_promised_slowdowns_in_all_but_one_cell_of_a_hundred) {
  for (const Noise& noise : {as_recorded, with_tails}) {
    for (const Promise& promise : promises) {
      for (const double slower : {0.010, 0.015, 0.020}) {
        const bool is_promised = slower == promise.slowdown && noise.spoil == nothing;
        const auto found = fates(promise, slower, (is_promised ? 20 : 4) * effort(), noise);
        ASSERT_FALSE(found.empty()) << promise.cells;
        double mean = 0;
        for (const Fate& fate : found) mean += fate.called() / static_cast<double>(found.size());
        const auto seldom =
            std::ranges::count_if(found, [](const Fate& fate) { return fate.called() < 0.949; });
        fmt::print(
            "{}, cells of {}, {:.1f} % slower (synthetic): called in {:.1f} % of runs; in 95 % or "
            "more of them for {} of {} cells; worst cell {:.0f} %\n",
            noise.what, promise.cells, 100 * slower, 100 * mean, std::ssize(found) - seldom,
            found.size(), 100 * found.front().called());
        if (!is_promised) continue;
        for (const Fate& fate : std::span(found).first(static_cast<std::size_t>(seldom))) {
          fmt::print("  {}:", noise_of(*fate.cell));
          for (const auto& [outcome, share] : fate.shares)
            fmt::print(" {:.0f} % {}", 100 * share, to_string(outcome));
          fmt::print("\n");
        }
        EXPECT_GE(mean, 0.99) << promise.cells;
        EXPECT_LE(seldom, std::ssize(found) / 70) << promise.cells;
      }
    }
  }
}

// The host's time of launches, which a few processes settle in most runs.
TEST_F(GateSamples, of_the_host_raise_an_alarm_in_at_most_one_run_of_a_hundred) {
  const DecisionRule rule = rule_for_host({});
  const auto recordings = read_samples(true);
  const int of_each = 200 * effort(), runs = of_each * static_cast<int>(recordings.size());
  for (const double slower : {0.0, 0.1, 0.16, 0.25}) {
    int alarmed = 0, confirmed = 0, cells = 0, called = 0;
    for (const auto& [card, recorded] : recordings) {
      for (int i = 0; i < of_each; ++i) {
        std::vector<CellBatches> batches;
        for (const Recorded& cell : recorded)
          batches.push_back({.screen = draw(cell, rule.screen_processes, slower, as_recorded)});
        for (const std::size_t j : to_confirm(batches, rule))
          batches[j].confirm = draw(recorded[j], rule.confirm_processes, slower, as_recorded);
        const int more = processes_to_repeat(batches, rule);
        for (const std::size_t j : to_repeat(batches, rule))
          batches[j].extra = draw(recorded[j], more, slower, as_recorded);
        int slow = 0;
        for (const CellVerdict& verdict : decide(batches, rule))
          slow += verdict.outcome == CellOutcome::slower;
        for (const CellBatches& batch : batches) confirmed += !batch.confirm.empty();
        alarmed += slow > 0;
        called += slow;
        cells += static_cast<int>(recorded.size());
      }
    }
    fmt::print(
        "launches {:.0f} % slower (synthetic): {} runs, {:.2f} cells confirmed in each; {} with a "
        "call, {:.1f} % of cells called\n",
        100 * slower, runs, double(confirmed) / runs, alarmed, 100.0 * called / cells);
    EXPECT_LE(alarmed, slower == 0 ? runs / 100 : runs);
  }
}

// 10 % slower in a third of its processes: three of them called it the same in 30 runs of 100.
TEST_F(GateSamples, hardly_ever_let_a_second_state_pass) {
  const Noise slower_in_a_third = {"10 % slower in a third of the processes (synthetic)",
                                   [](Random& random, Replicate& process) {
                                     if (std::bernoulli_distribution(1.0 / 3)(random))
                                       *process.to_baseline += std::log(1.1);
                                   }};
  std::map<CellOutcome, int> seen;
  constexpr int runs = 3000;
  for (int i = 0; i < runs; ++i) {
    const auto& card = cards[static_cast<std::size_t>(i) % cards.size()];
    const Recorded& cell = card[static_cast<std::size_t>(i) % card.size()];
    ++seen[run({&cell}, 0, slower_in_a_third).front().outcome];
  }
  fmt::print("{}: of {} runs", slower_in_a_third.what, runs);
  for (const auto& [outcome, count] : seen)
    fmt::print(" {:.1f} % {}", 100.0 * count / runs, to_string(outcome));
  fmt::print("\n");
  EXPECT_LE(seen[CellOutcome::same] + seen[CellOutcome::faster], 3 * runs / 100);
}

}  // namespace
