// Kernels in a library whose comparisons can be watched.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "simt/tests/go.h"

namespace simt_test {

EXPORT cudaError_t watched_branches(std::int64_t k, float beta, int* out, int threads);
EXPORT cudaError_t watched_endless();

}  // namespace simt_test
