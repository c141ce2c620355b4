// The report as one file of HTML that needs nothing else: no network, no other file.
#pragma once

#include <string>

#include "report/report.h"

namespace assay::report {

std::string html_of(const Report&);

}  // namespace assay::report
