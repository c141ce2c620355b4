// Sums of products, in the shapes in which a vectoriser may find several at once.
#include "simt/tests/fused.h"

namespace simt_test {
namespace {

__global__ void quads_kernel(const float* a, const float* b, int k, float* out) {
  float4 sum = {0, 0, 0, 0};
  for (int p = 0; p < k; ++p) {
    const float4 row = *reinterpret_cast<const float4*>(b + 4 * p);
    sum.x += a[p] * row.x;
    sum.y += a[p] * row.y;
    sum.z += a[p] * row.z;
    sum.w += a[p] * row.w;
  }
  *reinterpret_cast<float4*>(out) = sum;
}

__global__ void array_kernel(const float* a, const float* b, int k, float* out) {
  float sums[4] = {};
  for (int p = 0; p < k; ++p) {
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[j] += a[p] * b[4 * p + j];
  }
  for (int j = 0; j < 4; ++j) out[j] = sums[j];
}

__global__ void two_rows_kernel(const float* a, const float* b, int k, float* out) {
  float sums[2][2] = {};
  for (int p = 0; p < k; ++p) {
    const float row[2] = {b[4 * p], b[4 * p + 1]}, next[2] = {b[4 * p + 2], b[4 * p + 3]};
    sums[0][0] += a[p] * row[0], sums[0][1] += a[p] * row[1];
    sums[1][0] += a[p] * next[0], sums[1][1] += a[p] * next[1];
  }
  out[0] = sums[0][0], out[1] = sums[0][1], out[2] = sums[1][0], out[3] = sums[1][1];
}

}  // namespace

cudaError_t sum_quads(const float* a, const float* b, int k, float* out) {
  return go(quads_kernel, 1, 1, 0, a, b, k, out);
}
cudaError_t sum_array(const float* a, const float* b, int k, float* out) {
  return go(array_kernel, 1, 1, 0, a, b, k, out);
}
cudaError_t sum_two_rows(const float* a, const float* b, int k, float* out) {
  return go(two_rows_kernel, 1, 1, 0, a, b, k, out);
}

}  // namespace simt_test
