// What the rule promises, asserted of recorded runs in which slowdowns were really planted, by
// launches that were not counted. Their samples are longer than the gate's: gate_samples_test has
// those. Processes of a real card are drawn again, with replacement, into whole runs of the gate,
// which are decided again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "regress/decide/decide.h"
#include "regress/tests/drawn_processes.h"

namespace {

using namespace assay;
using namespace assay_test;

constexpr std::size_t cells_of_a_run = 120;

// The log-ratios of one cell, one for each process.
struct Recorded {
  std::string name;
  double time_us = 0;
  std::map<double, std::vector<double>> planted;  // head to baseline, by the slowdown in percent
  std::vector<double> control;                    // head to twin
};

const std::filesystem::path file = std::filesystem::path(ASSAY_REGRESS_DATA) / "h200-replay.json";

std::vector<double> log_ratios(const nlohmann::json& list, const std::string& of) {
  auto values = list.get<std::vector<double>>();
  if (values.size() < 20) {
    throw BadInput(fmt::format("{} has {} processes, too few to draw from: record 24 or more", of,
                               values.size()));
  }
  return values;
}

std::vector<Recorded> read_recording() {
  std::ifstream in(file);
  if (!in) throw BadInput("is missing, and without recorded runs nothing is known of the rule");
  const auto json = nlohmann::json::parse(in);
  if (json.at("schema") != 1) throw BadInput("schema is not 1, the one known here");
  std::vector<Recorded> cells;
  for (const auto& from : json.at("cells")) {
    Recorded cell{.name = from.at("name"), .time_us = from.at("time_us")};
    for (const auto& [percent, list] : from.at("planted").items())
      cell.planted[std::stod(percent)] = log_ratios(list, cell.name + " planted " + percent);
    if (!cell.planted.contains(0)) throw BadInput(cell.name + " has no planted 0");
    cell.control = log_ratios(from.at("control"), cell.name + " control");
    cells.push_back(std::move(cell));
  }
  if (cells.empty()) throw BadInput("cells is empty");
  return cells;
}

// Power is promised by the time of a launch: 1 % from 20 us on, 2 % from 5 us on.
struct Promise {
  const char* cells;
  double from_us, below_us;
  double slowdown;  // in percent; 0 for none
};
constexpr std::array promises = {Promise{"20 us and more", 20, HUGE_VAL, 1},
                                 Promise{"5 to 20 us", 5, 20, 2},
                                 Promise{"less than 5 us", 0, 5, 0}};

double draw(Random& random, const std::vector<double>& from) {
  return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
}

std::vector<Replicate> draw(Random& random, const Recorded& cell, double planted, int count) {
  const auto& step = cell.planted.at(planted);
  const auto& same = cell.planted.at(0);
  std::vector<Replicate> batch;
  for (int i = 0; i < count; ++i) {
    const double to_baseline = draw(random, step);
    // The anchor is the same code as the baseline: it was accepted just now.
    batch.push_back(process(to_baseline, draw(random, cell.control), draw(random, same)));
  }
  return batch;
}

class Replay : public testing::Test {
 protected:
  void SetUp() override {
    try {
      recording = read_recording();
    } catch (const std::exception& e) {
      FAIL() << file.string() << ": " << e.what();
    }
  }

  // A run of unchanged kernels through all stages; of one of them `planted` percent slower, if any.
  std::vector<CellBatches> run(const Recorded* slow = nullptr, double planted = 0) {
    std::vector<CellBatches> cells(cells_of_a_run);
    measure_in_stages(cells, [&](std::size_t i, int count) {
      if (slow && i == 0) return draw(random, *slow, planted, count);
      return draw(random, recording[i % recording.size()], 0, count);
    });
    return cells;
  }

  std::vector<Recorded> recording;
  Random random{20};
};

TEST_F(Replay, at_most_one_run_in_a_hundred_of_unchanged_kernels_raises_an_alarm) {
  constexpr int runs = 2000;
  int alarmed = 0, confirmed = 0;
  std::map<CellOutcome, int> seen;
  std::map<std::string, int> by_cell;
  for (int i = 0; i < runs; ++i) {
    const auto cells = run();
    const auto verdicts = decide(cells);
    bool alarm = false;
    for (std::size_t j = 0; j < cells.size(); ++j) {
      confirmed += !cells[j].confirm.empty();
      ++seen[verdicts[j].outcome];
      if (verdicts[j].outcome != CellOutcome::slower) continue;
      alarm = true;
      ++by_cell[recording[j % recording.size()].name];
    }
    alarmed += alarm;
  }
  fmt::print("{} runs of {} unchanged cells: {} with a false alarm; per run {:.2f} confirmed", runs,
             cells_of_a_run, alarmed, double(confirmed) / runs);
  for (const auto& [change, count] : seen)
    fmt::print(", {:.3f} {}", double(count) / runs, to_string(change));
  fmt::print("\n");
  for (const auto& [name, count] : by_cell) fmt::print("  {} false alarms: {}\n", count, name);
  EXPECT_LE(alarmed, runs / 100);
}

TEST_F(Replay, nineteen_of_twenty_promised_slowdowns_are_called) {
  for (const Promise& promise : promises) {
    std::map<double, std::vector<double>> powers;
    for (const Recorded& cell : recording) {
      if (!(cell.time_us >= promise.from_us && cell.time_us < promise.below_us)) continue;
      for (const auto& [planted, list] : cell.planted) {
        if (planted == 0) continue;
        const int tries = planted == promise.slowdown ? 100 : 25;
        int called = 0;
        for (int i = 0; i < tries; ++i)
          called += decide(run(&cell, planted)).front().outcome == CellOutcome::slower;
        powers[planted].push_back(double(called) / tries);
        if (planted == promise.slowdown) {
          EXPECT_GE(powers[planted].back(), 0.95)
              << cell.name << " of " << cell.time_us << " us, " << planted << " % slower";
        }
      }
    }
    for (const auto& [planted, of_cells] : powers) {
      fmt::print("cells of {}, {} % slower: called {:.1f} % of the time in the worst of {} cells\n",
                 promise.cells, planted, 100 * *std::min_element(of_cells.begin(), of_cells.end()),
                 of_cells.size());
    }
    EXPECT_TRUE(promise.slowdown == 0 || powers.contains(promise.slowdown))
        << "no cell of " << promise.cells;
  }
}

}  // namespace
