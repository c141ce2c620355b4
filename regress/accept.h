// Makes what is there now the baseline: times every cell that the gate would watch, and stores it.
#pragma once

#include <string>
#include <vector>

#include "regress/store/baseline.h"
#include "regress/timing.h"

namespace assay {

struct AcceptOptions {
  std::vector<std::string> variants;  // empty means all
  std::string baselines;
  std::string reason;
  bool move_anchor = false;
  bool measured = true;  // or only what would be launched, for a gate to compare with
  int processes = 12;
  std::uint64_t seed = 0;
  Provenance provenance;  // commit, harness, compiler and flags; accept_time adds the rest
  TimeInProcesses time;
};

struct AcceptReport {
  std::string folder;                 // that was written
  std::vector<std::string> accepted;  // variants
  std::vector<std::string> left_out;  // "VARIANT: why", or "VARIANT CASE: why"
  std::vector<Cell> lost;  // could not be measured well enough, or were watched and no longer are
  int cells = 0;
  bool wrong = false;  // a cell was left out because its result is wrong
  std::string unfit;   // why nothing was written; exit 4
  double seconds = 0;
};

// Writes the baseline of this GPU as a whole, or nothing. Never accepts a wrong result.
AcceptReport accept_time(const AcceptOptions&, const TimingProgress& = {});

}  // namespace assay
