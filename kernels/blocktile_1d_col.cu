// Each thread computes a strip of TM elements in one column of C and keeps their sums in registers:
// it takes an element of B from shared memory once and multiplies it with TM elements of A.
//
// A warp spans 32 columns of the same rows. It reads 32 neighbours of B, and elements of A that all
// its lanes share, so that one wide load can bring those for four steps of p.
//
// Assumes nothing.
// Wins against `tiled` when C has many 64 x 64 tiles: 9 shared loads for 8 multiplications, and
// in 8 of them the whole warp reads one address.
// Loses against the two-dimensional register tiles, which reuse both operands, and on small C.
#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int BM = 64, BN = 64, BK = 8;  // of a block
constexpr int TM = 8;                    // of a thread
constexpr int Threads = BM / TM * BN;
constexpr Tile tile = {BM, BN, BK};

// Two blocks for each multiprocessor: that leaves 64 registers to a thread.
__global__ void __launch_bounds__(Threads, 2) blocktile_1d_col(Gemm g) {
  __shared__ float a_tile[BM][BK];
  __shared__ float b_tile[BK][BN];
  const Corner corner = block_corner<tile>(g);
  const int thread = threadIdx.x;
  const int x = thread % BN;       // the column
  const int y = thread / BN * TM;  // the first row of the strip

  const std::int64_t k = depth(g);
  float sum[TM] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += BK) {
    load_slice<Threads>(g, corner, p0, thread, a_tile, b_tile);
    __syncthreads();
#pragma unroll 4  // 8 would keep too much of A in registers for the two blocks asked for above
    for (int p = 0; p < BK; ++p) {
      const float b = b_tile[p][x];
#pragma unroll
      for (int i = 0; i < TM; ++i) sum[i] = fmaf(a_tile[y + i][p], b, sum[i]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const std::int64_t row = corner.row + y + i;
    const std::int64_t col = corner.col + x;
    if (row >= g.m || col >= g.n) continue;
    float* c = &g.c[row * g.ldc + col];
    *c = blend(g, sum[i], c);
  }
}

cudaError_t launch_blocktile_1d_col(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(blocktile_1d_col, dim3(Threads), g, stream);
}

const Registrar registrar{{
    .name = "blocktile_1d_col",
    .idea = "Each thread keeps a column strip of 8 sums in registers and reuses each element of B.",
    .launch = launch_blocktile_1d_col,
    .order = Order::one_fma_chain,
    .tile = tile,
}};

}  // namespace
}  // namespace assay
