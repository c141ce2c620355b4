// One thread computes one element of C, straight from global memory.
//
// threadIdx.x walks the rows of C, on purpose: lanes that run together then read A, and write C, at
// addresses a whole row apart, and for 4 useful bytes each of them moves a sector of 32.
//
// Assumes nothing.
// Wins never, except in being obvious: it is the bottom of the ladder.
// Loses against `coalesced`, which differs from it in two letters, once rows outgrow the caches.
#include <cuda_runtime.h>

#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr int T = 16;  // T x T threads for T x T elements

__global__ void naive(Gemm g) {
  const Corner corner = block_corner<T, T>(g);
  const std::int64_t row = corner.row + threadIdx.x;
  const std::int64_t col = corner.col + threadIdx.y;
  if (row >= g.m || col >= g.n) return;

  const std::int64_t k = depth(g);
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) {
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  }
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}

cudaError_t launch_naive(const Gemm& g, cudaStream_t stream) {
  return launch_tiles(naive, {T, T, 1}, dim3(T, T), g, stream);
}

const Registrar registrar{{
    .name = "naive",
    .idea = "One thread per element; neighbouring threads work a row apart, so nothing coalesces.",
    .launch = launch_naive,
    .order = Order::one_fma_chain,
    .tile = {T, T, 1},
}};

}  // namespace
}  // namespace assay
