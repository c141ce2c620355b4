// The arguments with which the program starts itself as a process to be lost.
#pragma once

namespace assay {

constexpr const char* worker_flag = "--worker";            // runs trials
constexpr const char* time_worker_flag = "--time-worker";  // times kernels
constexpr const char* model_flag = "--model=";  // may come next: what the PTX machine stands in for

}  // namespace assay
