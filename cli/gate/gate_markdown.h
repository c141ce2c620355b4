// The timing gate as Markdown, for reviewers: the verdict, the cells that are not the same, and all
// cells folded away.
#pragma once

#include <string>

#include "cli/gate/gate_report.h"

namespace assay {

std::string markdown_of(const GateResult&, const Conclusion&);

}  // namespace assay
