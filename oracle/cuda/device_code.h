// Device code that the harness's own kernels share.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace assay {

__device__ inline long long nanoseconds_now() {
  long long nanoseconds = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

__device__ inline std::int64_t index_of_thread() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t number_of_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

}  // namespace assay
