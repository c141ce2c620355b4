// A check as people read it. Every text ends with a line break.
#pragma once

#include <string>

#include "cli/check/check_report.h"
#include "cli/out/table.h"

namespace assay {

// "assay check: 15 variants, 10 claims, 100 cases each, seed 0"
std::string header_text(const CheckReport&);

// A row for each variant on each backend, those of a variant together, and a column for each claim
// that applies to any. Below them, why a cell is no number and which claims have no column.
std::string table_text(const CheckReport&, const Screen&);

// Of each variant on each backend the failure that names its fault best in full, the others by
// name.
std::string failures_text(const CheckReport&, const Screen&);

}  // namespace assay
