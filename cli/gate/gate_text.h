// The timing gate as people read it. Every text ends with a line break.
#pragma once

#include <string>

#include "cli/gate/gate_report.h"
#include "cli/out/table.h"

namespace assay {

// All of it: the verdict first if there is something to do, then each cell that is not the same,
// the variants without a baseline, what this run could have seen, and the verdict.
std::string gate_text(const GateResult&, const Conclusion&, const Screen&);

// Every number behind the verdict on one cell.
std::string explanation_text(const GateLine&, const Screen&);

}  // namespace assay
