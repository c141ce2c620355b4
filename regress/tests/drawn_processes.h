// Processes whose truth is known, and a gate's three stages over them.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <random>
#include <vector>

#include "regress/decide/decide.h"

namespace assay {
inline void PrintTo(CellOutcome outcome, std::ostream* out) { *out << to_string(outcome); }
}  // namespace assay

namespace assay_test {

using Random = std::mt19937_64;

// The truth of a cell in logarithms, and how far processes scatter around it.
struct Truth {
  double step = 0;
  double spread = 0;
  std::optional<double> anchor;
  double control = 0;
};

inline assay::Replicate process(double step, double control = 0,
                                std::optional<double> anchor = std::nullopt) {
  return {.to_baseline = step, .to_anchor = anchor, .to_twin = control, .head_us = 30};
}

inline std::vector<assay::Replicate> processes(Random& random, const Truth& t, int count) {
  std::normal_distribution<double> noise;
  std::vector<assay::Replicate> drawn;
  for (int i = 0; i < count; ++i) {
    drawn.push_back(
        process(t.step + t.spread * noise(random), t.control + t.spread * noise(random)));
    if (t.anchor) drawn.back().to_anchor = *t.anchor + t.spread * noise(random);
  }
  return drawn;
}

// A run of the gate: `draw(cell, count)` gives the processes of one batch. What is not proven
// unchanged is not screened.
template <class Draw>
void measure_in_stages(std::vector<assay::CellBatches>& cells, Draw&& draw,
                       const assay::DecisionRule& rule = {}) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].unchanged) cells[i].screen = draw(i, rule.screen_processes);
  }
  for (std::size_t i : assay::to_confirm(cells, rule))
    cells[i].confirm = draw(i, rule.confirm_processes);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].unchanged) cells[i].confirm = draw(i, rule.confirm_processes);
  }
  const int more = assay::processes_to_repeat(cells, rule);
  for (std::size_t i : assay::to_repeat(cells, rule)) cells[i].extra = draw(i, more);
}

inline std::vector<assay::CellVerdict> run_gate(Random& random, const std::vector<Truth>& truths) {
  std::vector<assay::CellBatches> cells(truths.size());
  measure_in_stages(cells, [&](std::size_t i, int n) { return processes(random, truths[i], n); });
  return assay::decide(cells);
}

// A cell that went straight to confirmation.
inline assay::CellBatches confirmed(Random& random, const Truth& t, int count = 12) {
  return {.confirm = processes(random, t, count)};
}

inline assay::CellVerdict decide_one(const assay::CellBatches& cell) {
  return assay::decide({cell}).front();
}

}  // namespace assay_test
