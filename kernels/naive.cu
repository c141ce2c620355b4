// One thread computes one element of C, straight from global memory.
//
// threadIdx.x walks the rows of C, on purpose: lanes that run together then read A, and write C, at
// addresses a whole row apart, and each of them moves a sector of 32 bytes for 4 useful ones.
//
// Assumes nothing.
// Wins never, except in being obvious: it is the bottom of the ladder.
// Loses against `coalesced`, which differs from it in two letters, once rows outgrow the caches.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr int T = 16;  // T x T threads for T x T elements
constexpr Tile tile = {T, T, 1};

__global__ void naive(Gemm g) {
  // Blocks are numbered row by row, `across` of them to a row of tiles.
  const auto across = static_cast<unsigned>(ceil_div(g.n, T));
  const std::int64_t row = std::int64_t{blockIdx.x / across} * T + threadIdx.x;
  const std::int64_t col = std::int64_t{blockIdx.x % across} * T + threadIdx.y;
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
  return launch_tiles<tile>(naive, dim3(T, T), g, stream);
}

const Registrar registrar{{
    .name = "naive",
    .idea = "One thread per element; neighbouring threads work a row apart, so nothing coalesces.",
    .launch = launch_naive,
    .order = Order::one_fma_chain,
    .tile = tile,
}};

}  // namespace
}  // namespace assay
