// What the compiler made of kernels, and how it compares with the baselines, as JSON.
#pragma once

#include <string>

#include "cli/codegen/codegen_report.h"

namespace assay {

std::string json_of(const CodegenResult&, const Conclusion&);

}  // namespace assay
