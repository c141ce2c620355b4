// Checks every CUDA call of the harness itself: a failure is the harness's, not the variant's.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace assay {

struct NoDeviceMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void cuda_check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  // By hand, as nvcc does not take fmt's format strings.
  const std::string text =
      std::string(what) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")";
  if (error == cudaErrorMemoryAllocation) throw NoDeviceMemory(text);
  throw std::runtime_error(text);
}

// After the harness launched a kernel of its own.
inline void launch_check(const char* kernel) { cuda_check(cudaGetLastError(), kernel); }

}  // namespace assay
