// Jobs and timings as JSON: the text that a program and its timing processes exchange.
#pragma once

#include <string>

#include "regress/timing.h"

namespace assay {

std::string to_text(const TimingJob&);
std::string to_text(const ProcessTiming&);

// Throw std::exception for any text that the functions above did not write.
TimingJob job_of(const std::string& text);
ProcessTiming timing_of(const std::string& text);

}  // namespace assay
