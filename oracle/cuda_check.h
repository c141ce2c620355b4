// Every CUDA call of the harness itself goes through this: its failure is the harness's, not the
// variant's.
#pragma once

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <stdexcept>

namespace assay {

inline void cuda_check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    throw std::runtime_error(
        fmt::format("{}: {} ({})", what, cudaGetErrorName(error), cudaGetErrorString(error)));
  }
}

}  // namespace assay
