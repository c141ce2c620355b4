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
  std::string move_anchor;  // why the anchor moves with the baseline; empty if it stays
  bool upgrade = false;     // the card's canaries and facts are stored anew
  bool only_new = false;    // only what has no record yet; all that has one stays as it is
  bool measured = true;     // or only what would be launched, for a gate to compare with
  int processes = 12;
  std::uint64_t seed = 0;
  std::vector<std::string> libraries;  // with the machine code; empty means this program
  Provenance provenance;  // commit, harness, compiler and flags; accept_time adds the rest
  TimeInProcesses time;
};

// What was measured of a cell beside what was accepted before.
struct AcceptLine {
  Cell cell;
  Ratio to_baseline, to_anchor;
  std::string refusal;  // why it was not accepted; empty if it was
};

struct AcceptReport {
  std::string folder;                  // that was written
  std::vector<std::string> accepted;   // variants
  std::vector<std::string> refused;    // variants, with a cell that cannot be accepted
  std::vector<std::string> not_gated;  // "VARIANT: why its launch cannot be stored", or "CELL: why"
  std::vector<AcceptLine> lines;       // one for each cell
  std::vector<std::string> removed;    // "GPU: VARIANT" or "GPU: CELL", that were given up
  bool wrong = false;                  // a variant was refused because a result is wrong
  std::string unfit;                   // why nothing was written; exit 4
  double seconds = 0;

  int cells() const;  // that were accepted
};

// Accepts each variant as a whole or not at all, and writes its files and no others. Refuses a
// variant with a cell that is wrong; that is over the budget of creep, unless the anchor moves; or
// that was watched and no longer would be. Is unfit where the canaries are not those of this card's
// first baseline.
AcceptReport accept_time(const AcceptOptions&, const TimingProgress& = {});

}  // namespace assay
