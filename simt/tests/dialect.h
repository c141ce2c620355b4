// Kernels in the words of CUDA: what they say must compile, and mean what it means on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "simt/tests/go.h"

namespace simt_test {

EXPORT cudaError_t aligned_shared(std::uintptr_t* out);              // seven addresses
EXPORT cudaError_t mixed_atomics(unsigned* u, float* f, double* d);  // of four, three and one
EXPORT cudaError_t extremes(const float* in, float* out);            // of two: min, min, max, max
EXPORT cudaError_t mixed_extremes(int minus_one, double* out);
EXPORT cudaError_t words(float* out, const float* in);  // thirteen of {NaN, 1, infinity, 4}
EXPORT cudaError_t count(int* out);                     // 64 times 1
EXPORT cudaError_t wrap_around(unsigned* up, unsigned* down, int threads);
EXPORT cudaError_t print(int ever);
EXPORT cudaError_t assert_below(int limit);  // of threads 0 to 7

}  // namespace simt_test
