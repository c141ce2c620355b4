// For C whose last column of tiles would have hardly a column of C: those few columns, up to 4, are
// summed by a kernel of their own, and no tile is computed for them.
//
// A block has 8 rows of them, and its threads share k: so that all of A that it needs is on its way
// at once. It starts early (kernels/early_start.h), beside the kernel of the tiles, for it needs
// nothing of it; that has waited for all before it. Multiprocessors without a tile compute it
// meanwhile.
//
// Promises to sum an element in an order that k alone decides. Takes any alignment.
#pragma once

#include "kernels/early_start.h"

namespace assay {
namespace {

constexpr int LastRows = 8, MostLast = 4, LastThreads = 256, LastWarps = LastThreads / 32;

__global__ void __launch_bounds__(LastThreads) last_columns(Gemm g) {
  __shared__ float totals[LastWarps][LastRows * MostLast];
  const std::int64_t row = std::int64_t{blockIdx.x} * LastRows;
  float sum[LastRows][MostLast] = {};
#pragma unroll 2
  for (std::int64_t p = threadIdx.x; p < depth(g); p += LastThreads) {
    float b[MostLast];
#pragma unroll
    for (int j = 0; j < MostLast; ++j) b[j] = j < g.n ? __ldg(g.b + p * g.ldb + j) : 0.0f;
#pragma unroll
    for (int i = 0; i < LastRows; ++i) {
      const float a = row + i < g.m ? __ldg(g.a + (row + i) * g.lda + p) : 0.0f;
#pragma unroll
      for (int j = 0; j < MostLast; ++j) sum[i][j] = fmaf(a, b[j], sum[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < LastRows * MostLast; ++i) {
    float total = sum[i / MostLast][i % MostLast];
    for (int lane = 16; lane > 0; lane /= 2) total += __shfl_xor_sync(~0u, total, lane);
    if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32][i] = total;
  }
  __syncthreads();
  const int i = threadIdx.x / MostLast, j = threadIdx.x % MostLast;
  if (i < LastRows && row + i < g.m && j < g.n) {
    float total = 0;
    for (int warp = 0; warp < LastWarps; ++warp) total += totals[warp][threadIdx.x];
    float* const c = g.c + (row + i) * g.ldc + j;
    *c = blend(g, total, c);
  }
  wait_for_kernel_ahead();  // so that who waits for this kernel has waited for the tiles too
}

// The columns from `first` on.
cudaError_t launch_last_columns(const Gemm& g, std::int64_t first, cudaStream_t stream) {
  const std::int64_t blocks = ceil_div(g.m, LastRows);
  if (blocks > std::numeric_limits<int>::max()) return cudaErrorInvalidConfiguration;
  Gemm last = g;
  last.n -= first, last.b += first, last.c += first;
  return launch_early(last_columns, dim3(static_cast<unsigned>(blocks)), dim3(LastThreads), 0,
                      stream, last);
}

}  // namespace
}  // namespace assay
