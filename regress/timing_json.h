// Jobs and timings as JSON: how a program talks to the copies of itself that it times in.
#pragma once

#include <string>

#include "regress/timing.h"

namespace assay {

std::string to_text(const TimingJob&);
std::string to_text(const ProcessTiming&);

// Throw std::exception for anything that the functions above did not write.
TimingJob job_of(const std::string& text);
ProcessTiming timing_of(const std::string& text);

}  // namespace assay
