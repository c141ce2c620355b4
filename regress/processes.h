// Times in fresh processes of this program, one after the other on each GPU, which it talks to in
// JSON.
#pragma once

#include <string>
#include <vector>

#include "regress/timing.h"

namespace assay {

// Starts `processes` copies of this program with `arguments`. A GPU that is unfit, or not of the
// first GPU's model, leaves its share to the others. A process that dies, or stays silent for too
// long, returns a timing whose `unfit` says so; if it was the first, its timing is the only one.
std::vector<ProcessTiming> time_in_processes(const TimingJob&, int processes,
                                             const std::vector<std::string>& arguments,
                                             const TimingProgress& = {}, int gpus = 1);

// The same on all GPUs of this machine.
TimeInProcesses processes_started_with(const std::vector<std::string>& arguments);

// What the two say to each other.
std::string to_text(const TimingJob&);
std::string to_text(const ProcessTiming&);

// Throw std::exception for any text that the functions above did not write.
TimingJob job_of(const std::string& text);
ProcessTiming timing_of(const std::string& text);

}  // namespace assay
