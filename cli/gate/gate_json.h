// The timing gate as JSON, with every number that each process measured. Only cells that are not
// the same, and the one to be explained, have their rounds.
#pragma once

#include <string>

#include "cli/gate/gate_report.h"

namespace assay {

std::string json_of(const GateResult&, const Conclusion&);

}  // namespace assay
