// The timing gate: times the code now against its executable baseline. What changed is timed in
// many processes at once; some of what did not change is timed in a few, as a control.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "regress/decide/decide.h"
#include "regress/store/baseline.h"
#include "regress/timing.h"
#include "regress/watched.h"

namespace assay {

struct GateOptions {
  std::vector<std::string> variants;  // empty means all that have a baseline
  std::string baselines;              // the folder of what is compared with

  // Where a change is judged, the folders of what was accepted before it and is with it.
  std::string before, after;
  std::optional<Cell> cell;          // only this one
  bool remeasure_unchanged = false;  // times also what is proven unchanged
  std::uint64_t seed = 0;
  std::string compiler;  // of the code now, as baselines name theirs
  DecisionRule rule;
  TimeInProcesses time;
};

struct GateLine {
  Cell cell;
  CellVerdict verdict;
  CellBatches batches;                  // every number behind it
  double head_us = 0, baseline_us = 0;  // median over processes; 0 where it was not timed
  double clock_mhz = 0;
  double accepted_us = 0, accepted_to_anchor = 0;  // as they were stored; 0 where they were not
  std::string anchor_commit;
  std::string cause;                       // how code and launch recipe differ from the baseline's
  std::vector<std::vector<Round>> rounds;  // of every process, as measured
};

struct GateReport {
  std::map<std::string, std::string> device;
  std::optional<Cell> only;                // the one cell that the gate was asked about
  std::vector<GateLine> lines;             // one for each cell
  std::vector<std::string> new_variants;   // that have no baseline yet
  std::vector<std::string> not_gated;      // "VARIANT: why its launch cannot be stored"
  std::vector<std::string> gone_variants;  // that have a baseline, and no longer exist
  Unwatched unwatched;                     // of the tree's own baselines
  // "VARIANT: how many cells, how far, when and why", of anchors that moved over the budget of
  // creep
  std::vector<std::string> moved_anchors;
  std::string other_compiler;  // that every cell changed with the compiler; empty if not
  std::vector<std::string> accepted_here;  // what the change accepts, a line for each cell
  std::string unfit;                       // why the measurement as a whole is void; exit 4
  std::map<std::string, double> canaries;
  bool at_power_limit = false;             // where clocks were, in some sample
  int confirmed = 0;                       // cells that were timed again
  int processes = 0;                       // that timed each of these
  int proven_unchanged = 0, controls = 0;  // and of those, timed all the same
  double detectable = 0;  // the smallest slowdown that every measured cell would have shown
  double seconds = 0;
};

// Throws NoBaseline, and BadInput for a cell that was never accepted.
GateReport gate_time(const GateOptions&, const TimingProgress& = {});

int count(const GateReport&, CellOutcome);

// The cells that are not `same`, the worst first.
std::vector<const GateLine*> noteworthy(const GateReport&);

// Throws BadInput that suggests the near ones, for a cell that was not accepted though its variant
// was.
void check_cell(const Cell&, const Baseline&);

}  // namespace assay
