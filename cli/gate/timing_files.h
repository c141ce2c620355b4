// What was timed and decided, as files that programs and reviewers read.
#pragma once

#include <string>

#include "cli/accept/accept_report.h"
#include "cli/bench/bench_report.h"
#include "cli/gate/gate_report.h"

namespace assay {

std::string json_of(const BenchResult&, const Conclusion&);
std::string json_of(const AcceptResult&, const Conclusion&);

// With every number that each process measured; the rounds themselves only of cells that are not
// the same, and of one that was to be explained.
std::string json_of(const GateResult&, const Conclusion&);

// The verdict, what is not the same, and all cells folded away.
std::string markdown_of(const GateResult&, const Conclusion&);

// A test suite for each variant, a test case for each cell. Slower and wrong are failures;
// undecided and invalid are errors, for the test could not be made.
std::string junit_of(const GateResult&);

}  // namespace assay
