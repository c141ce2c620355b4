// The launches of fused.cu: out[j] = the sum of a[p] * b[4 * p + j] over p < k, for four j.
#pragma once

#include "simt/tests/go.h"

namespace simt_test {

EXPORT cudaError_t sum_quads(const float* a, const float* b, int k, float* out);
EXPORT cudaError_t sum_array(const float* a, const float* b, int k, float* out);
EXPORT cudaError_t sum_two_rows(const float* a, const float* b, int k, float* out);

}  // namespace simt_test
