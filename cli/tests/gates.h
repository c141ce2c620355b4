// Reports of the timing gate, made up.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cli/gate/gate.h"

namespace assay::tests {

inline Replicate replicate(double ratio) {
  return {.to_baseline = std::log(ratio),
          .to_twin = 0.0,
          .head_us = 100 * ratio,
          .clock_mhz = 1980,
          .clock_apart = 0.0001,
          .rounds = 20,
          .dropped = 2};
}

// A cell that was confirmed with this outcome.
inline GateLine cell(const std::string& variant, CellOutcome outcome, double ratio = 1) {
  GateLine line{.cell = {variant, parse_case("m=64 n=32 k=16")}};
  line.verdict = {.outcome = outcome,
                  .reason = std::string("made up as ") + to_string(outcome),
                  .ratio = ratio,
                  .interval = {ratio - 0.002, ratio + 0.003},
                  .p = 1e-6,
                  .spread = 0.0004,
                  .detectable = 0.009,
                  .processes = 12};
  line.batches = {.screen = {replicate(ratio)}, .confirm = {replicate(ratio), replicate(ratio)}};
  line.head_us = 100 * ratio;
  line.baseline_us = 100;
  line.clock_mhz = 1980;
  line.rounds = {{Round{Sample{100 * ratio, 1980, 0}, Sample{}, Sample{100, 1980, 0}, Sample{}}}};
  return line;
}

inline GateLine slower(const std::string& variant = "warptiled") {
  GateLine line = cell(variant, CellOutcome::slower, 1.0312);
  line.cause = "registers 128 -> 168";
  return line;
}

inline GateLine wrong(const std::string& variant = "naive") {
  GateLine line = cell(variant, CellOutcome::wrong);
  line.verdict.reason = "its result is wrong: 3 elements";
  return line;
}

inline GateLine without_baseline(const std::string& variant = "tiled_4") {
  GateLine line{.cell = {variant, parse_case("m=64 n=32 k=16")}};
  line.verdict = {.outcome = CellOutcome::no_baseline, .reason = "no baseline"};
  return line;
}

inline GateResult gate(std::vector<GateLine> lines) {
  GateResult result;
  result.report.device = {{"name", "NVIDIA H200"}, {"key", "h200"}};
  result.report.lines = std::move(lines);
  result.report.proven_unchanged = 90;
  result.report.confirmed = 28;
  result.report.processes = 12;
  result.report.controls = 5;
  result.report.detectable = 0.011;
  result.report.seconds = 85;
  result.request.baselines = ASSAY_BASELINES_PATH;
  return result;
}

}  // namespace assay::tests
