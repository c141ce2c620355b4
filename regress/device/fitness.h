// The card that measures: what it is, whether it is fit to measure on now, and the most it can do.
#pragma once

#include <map>
#include <string>

#include "oracle/cuda/nvml.h"
#include "regress/device/stopwatch.h"

namespace assay {

// Facts by name. "key" is the model with its memory and power class, and names the baseline; the
// others are recorded and never compared.
std::map<std::string, std::string> describe_card(const Card&);

std::int64_t l2_bytes();
int architecture();  // 90 stands for sm_90

// Runs arithmetic until the clock no longer moves, at most three seconds.
void warm_up(Stopwatch&);

// "arithmetic_tflops", "arithmetic_flops_per_cycle", "memory_gb_s", "cache_gb_s", "launch_us".
std::map<std::string, double> measure_canaries(Stopwatch&, const DeviceArray<float>& memory);

// Why no measurement made here now can be trusted; empty if it can.
std::string why_unfit(const Card&);

}  // namespace assay
