// A check as JSON.
#pragma once

#include <string>

#include "cli/check/check_report.h"

namespace assay {

std::string json_of(const CheckReport&, const Conclusion&);

}  // namespace assay
