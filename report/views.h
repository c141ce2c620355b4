// What the report is besides a page: a comment on a change, and files that CI servers and reviews
// show.
#pragma once

#include <string>

#include "report/report.h"

namespace assay::report {

// The verdict first, then only what is not fine; details are folded. Less than 60 KB.
std::string markdown_of(const Report&);

// One test for each variant, backend and claim, and for each cell of a gate.
std::string junit_of(const Report&);

// What needs attention, at the lines of source that it is about.
std::string sarif_of(const Report&);

// The same as GitHub's runners read it on stdout: "::error file=...".
std::string annotations_of(const Report&);

}  // namespace assay::report
