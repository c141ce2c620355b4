// One thread computes one element of C, and threadIdx.x walks the columns: lanes that run together
// read neighbours of B, write neighbours of C, and share one element of A.
//
// Assumes nothing.
// Wins against `naive` several times over, for the price of swapping x and y.
// Loses against anything that uses shared memory when k is large: every thread of a row of C still
// fetches the same row of A, and every thread of a column the same column of B.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr int T = 16;  // T x T threads for T x T elements
constexpr Tile tile = {T, T, 1};

__global__ void coalesced(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y;
  const std::int64_t col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;

  const std::int64_t k = depth(g);
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) {
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  }
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}

cudaError_t launch_coalesced(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(coalesced, dim3(T, T), g, stream);
}

const Registrar registrar{{
    .name = "coalesced",
    .idea = "One thread per element; neighbouring threads work on neighbouring columns.",
    .launch = launch_coalesced,
    .order = Order::one_fma_chain,
    .tile = tile,
}};

}  // namespace
}  // namespace assay
