// Each thread computes a strip of TN elements in one row of C and keeps their sums in registers: it
// takes an element of A from shared memory once and multiplies it with TN elements of B.
//
// The elements of a strip are neighbours, so that one wide load can bring its part of b_tile. BN is
// 32, or 8 strips: a warp then covers 4 whole rows, and what it reads of b_tile is every bank once.
// The price is paid at the end: a store writes every fourth column of C, a quarter of each sector.
//
// Assumes nothing.
// Wins against `tiled`: 5 shared loads for 4 multiplications, and wide ones.
// Loses against `blocktile_1d_col` in reuse, 4 against 8, and by its stores when k is small.
#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int BM = 64, BN = 32, BK = 32;  // of a block
constexpr int TN = 4;                     // of a thread
constexpr int Threads = BM * (BN / TN);
constexpr Tile tile = {BM, BN, BK};

__global__ void __launch_bounds__(Threads) blocktile_1d_row(Gemm g) {
  // A warp reads four rows of a_tile at a time: 4 floats more in a row put them in different banks.
  __shared__ float a_tile[BM][BK + 4];
  __shared__ float b_tile[BK][BN];
  const Corner corner = block_corner<tile>(g);
  const int thread = threadIdx.x;
  const int x = thread % (BN / TN) * TN;  // the first column of the strip
  const int y = thread / (BN / TN);       // the row

  const std::int64_t k = depth(g);
  float sum[TN] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += BK) {
    load_slice<Threads>(g, corner, p0, thread, a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      const float a = a_tile[y][p];
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[j] = fmaf(a, b_tile[p][x + j], sum[j]);
    }
    __syncthreads();
  }

  finish_row<1, 1>(g, corner.row + y, corner.col + x, sum);
}

cudaError_t launch_blocktile_1d_row(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(blocktile_1d_row, dim3(Threads), g, stream);
}

const Registrar registrar{{
    .name = "blocktile_1d_row",
    .idea = "Each thread keeps a row strip of 4 sums in registers and reuses each element of A.",
    .launch = launch_blocktile_1d_row,
    .order = Order::one_fma_chain,
    .tile = tile,
}};

}  // namespace
}  // namespace assay
