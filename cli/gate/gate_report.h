// What the timing gate found, as a verdict on all of it and for each cell. What could not be judged
// never counts as passed, and a number of cells never becomes an exit code.
#pragma once

#include <string>
#include <vector>

#include "cli/gate/gate.h"
#include "cli/out/conclusion.h"
#include "regress/gate.h"

namespace assay {

// All that any view of a gate shows.
struct GateResult {
  GateReport report;
  GateRequest request;
  std::string why_not;      // nothing was measured here, because
  std::string no_baseline;  // nothing could be compared, because
};

// Where a cell stands, the worst first.
enum class Mark { wrong, slower, undecided, invalid, no_baseline, faster, same };

Mark mark_of(const GateLine&);
const char* to_string(Mark);
int count(const GateReport&, Mark);

std::string name_of(const GateLine&);  // "VARIANT CASE"

// Those that are not `same`, the worst first.
std::vector<const GateLine*> noteworthy(const GateReport&);

// The command that measures this cell again.
std::string repeat_line(const GateLine&, const GateRequest&);

// The command that gives these variants a baseline; all of them if there are none.
std::string accept_line(const std::vector<std::string>& variants);

// What to say where some variants are gone and others are new: a renamed one is both, and nothing
// is compared with its baseline. Empty where there is nothing to say.
std::string unmatched_variants(const GateResult&);

// The smallest slowdown that this run could have seen, and how many cells were looked at and how.
std::string reach(const GateReport&);

Conclusion conclude(const GateResult&);

// Throws BadInput, with the near ones, for a cell that is not among those of its variant that were
// accepted. Of a variant without a baseline there is nothing to say here.
void insist_on_cell(const std::string& name, const Baseline&);

}  // namespace assay
