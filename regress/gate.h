// The timing gate: head against its executable baseline, screened and then confirmed on fresh
// processes; and the acceptance of what is there now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "regress/decide/decide.h"
#include "regress/store/baseline.h"
#include "regress/timing.h"

namespace assay {

struct GateOptions {
  std::vector<std::string> variants;  // empty means all that have a baseline
  std::string baselines;              // the folder
  std::string cell;                   // only this one, "VARIANT CASE"
  bool remeasure_unchanged = false;   // times also what is proven unchanged
  std::uint64_t seed = 0;
  DecisionRule rule;
  TimeInProcesses time;  // processes_started_with(..), or what stands in for it
};

struct GateLine {
  std::string variant, problem;
  CellVerdict verdict;
  CellData data;                        // every number behind it
  bool wrong = false;                   // head's result was wrong: verdict.reason says how
  double head_us = 0, baseline_us = 0;  // median over processes; 0 where it was not timed
  double clock_mhz = 0;
  std::string cause;  // what is known of why: code, registers, spills, launch recipe
  std::vector<std::vector<Round>> rounds;  // of every process, as measured
};

struct GateReport {
  std::map<std::string, std::string> device;
  std::vector<GateLine> lines;             // one for each cell
  std::vector<std::string> new_variants;   // that have no baseline yet
  std::vector<std::string> not_gated;      // "VARIANT: why its launch cannot be stored"
  std::vector<std::string> gone_variants;  // that have a baseline, and are no more
  std::string unfit;                       // why the measurement as a whole is void; exit 4
  std::map<std::string, double> canaries;
  int screened = 0, confirmed = 0, proven_unchanged = 0, controls = 0;
  double detectable = 0;  // the smallest slowdown that every measured cell would have shown
  double seconds = 0;
};

// Throws NoBaseline, BadInput.
GateReport gate_time(const GateOptions&, const TimingProgress& = {});

struct AcceptOptions {
  std::vector<std::string> variants;  // empty means all
  std::string baselines;
  std::string reason;
  bool move_anchor = false;
  bool measured = true;  // or only what would be launched, for a gate to compare with
  int processes = 12;
  std::uint64_t seed = 0;
  Provenance provenance;  // commit, harness, compiler and flags; the rest is filled in here
  TimeInProcesses time;   // processes_started_with(..), or what stands in for it
};

struct AcceptReport {
  std::string folder;                 // that was written
  std::vector<std::string> accepted;  // variants
  std::vector<std::string> left_out;  // "VARIANT: why"
  // "VARIANT CASE" of what could not be measured well enough, or is watched no more though it was.
  std::vector<std::string> lost;
  int cells = 0;
  bool wrong = false;  // something was left out because its result is wrong
  std::string unfit;   // why nothing was written; exit 4
  double seconds = 0;
};

// Writes the baseline of this GPU as a whole, or nothing. What is wrong is not accepted.
AcceptReport accept_time(const AcceptOptions&, const TimingProgress& = {});

}  // namespace assay
