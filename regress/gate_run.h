// One run of the gate on its way: what its steps hand on, and what it tells beside its verdicts.
#pragma once

#include <string>
#include <vector>

#include "regress/gate.h"

namespace assay {

// One cell on its way through the gate.
struct CellRun {
  CellJob job;
  bool anchor_is_baseline = false;
  CellTiming survey = {};      // what it would launch now
  double launch_to_empty = 1;  // of a host's time, as it was accepted
  CellBatches batches = {};
  std::vector<CellTiming> timings = {};  // of all batches
};

// What stays the same while a gate runs.
struct Session {
  const GateOptions& options;
  const TimingProgress& progress;
  const Baseline& baseline;
};

bool is_wanted(const std::string& variant, const GateOptions&);

// A cell of each variant without a baseline, to see whether its launch could be stored. Variants
// that were given up, or take none of the problems, go to `not_gated`, with the reason.
std::vector<CellJob> cells_without_baseline(const Session&, std::vector<std::string>& not_gated);

// Without those that the change removes with a reason: they are listed among what it changes.
std::vector<std::string> gone_variants(const Session&, const Baseline& after);

// Of each variant whose anchor was moved over the budget.
std::vector<std::string> moved_anchors(const Session&);

// That all code changed at once, though nobody need have touched it.
std::string other_compiler(const std::vector<CellRun>&, const Session&);

// What was accepted over the budget stays over it, though nothing changed since.
void recall_creep(GateLine&, const CellRun&, const Baseline&);

// So that a result of what was not timed tells its speed too.
void add_accepted(GateLine&, const CellRun&, const Baseline&);

}  // namespace assay
