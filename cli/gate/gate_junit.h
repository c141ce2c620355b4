// The timing gate as JUnit XML: a suite for each variant, a test case for each cell. Slower and
// wrong are failures; undecided and invalid are errors, because nothing was shown.
#pragma once

#include <string>

#include "cli/gate/gate_report.h"

namespace assay {

std::string junit_of(const GateResult&);

}  // namespace assay
