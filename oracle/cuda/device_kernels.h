// The harness's own kernels. Each function only enqueues, and throws std::runtime_error if it
// cannot.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/gemm.h"

namespace assay {

// Occupies one thread for this time.
void enqueue_spin(long long nanoseconds, cudaStream_t);

// Keeps every multiprocessor and the memory busy for a while.
void enqueue_bustle(float* memory, std::int64_t floats, int rounds, cudaStream_t);

// Doubles every number, and leaves every NaN as it is.
void enqueue_double_numbers(float* image, std::int64_t floats, cudaStream_t);

// Packs a matrix as double, or its absolute values.
void enqueue_widen(const float* first, std::int64_t ld, std::int64_t rows, std::int64_t columns,
                   bool absolute, double* packed, cudaStream_t);

// What enqueue_product_check found in a product whose C was poisoned with NaN.
struct ProductCheck {
  unsigned long long wrong = 0;
  unsigned long long first_wrong = ~0ull;  // row * n + column
  unsigned long long guard_changes = 0;    // floats around C that are no longer NaN
};

// Compares every element of packed C = alpha * A * B with its sum in double, for small k; it may be
// off by `relative_bound` times |alpha| |A| |B|. Also checks that the `guard_floats` before and
// after C are still NaN. Adds its counts to *found.
void enqueue_product_check(const Gemm&, std::int64_t guard_floats, double relative_bound,
                           ProductCheck* found, cudaStream_t);

}  // namespace assay
