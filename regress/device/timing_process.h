// The measuring half of a timing process: takes a job, times its cells on the first visible GPU.
#pragma once

#include "regress/timing.h"

namespace assay {

// Of the variants in these libraries, which are loaded; without any, of this program. Throws
// std::runtime_error where the harness itself cannot go on.
ProcessTiming time_here(const TimingJob&, const std::vector<std::string>& libraries);

// Reads a job from stdin, times it and writes the result to stdout: all that a fresh process does.
// Returns its exit code.
int serve_timing(const std::vector<std::string>& libraries = {});

}  // namespace assay
