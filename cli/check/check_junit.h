// A check as JUnit XML: a suite for each variant on each backend, a test case for each claim.
#pragma once

#include <string>

#include "cli/check/check_report.h"

namespace assay {

std::string junit_of(const CheckReport&);

}  // namespace assay
