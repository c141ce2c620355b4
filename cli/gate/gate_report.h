// The timing gate as people and programs read it. Every text ends with a line break.
#pragma once

#include <string>

#include "cli/gate/gate.h"

namespace assay {

// All of it: the verdict first if there is something to do, then each cell that is not the same,
// the variants without a baseline, what this run could have seen, and the verdict.
std::string gate_text(const GateResult&, const Conclusion&, const Screen&);

// Every number behind the verdict on one cell.
std::string explanation_text(const GateLine&, const Screen&);

// With every number that each process measured. Only cells that are not the same, and the one to be
// explained, have their rounds.
std::string json_of(const GateResult&, const Conclusion&);

// A suite for each variant, a test case for each cell. Slower and wrong are failures; undecided and
// invalid are errors, because nothing was shown.
std::string junit_of(const GateResult&);

// For reviewers: the verdict, the cells that are not the same, and all cells folded away.
std::string markdown_of(const GateResult&, const Conclusion&);

}  // namespace assay
