// Each thread computes TM x TN = 8 x 8 elements of C: at each p it takes 8 elements of A and 8 of B
// from shared memory and multiplies each with each, in registers. 16 loads, 64 multiplications.
//
// The layout is that of `blocktile_2d_4x4`: rows BM / TM apart and columns BN / TN apart, for reads
// without bank conflicts and stores of whole sectors.
//
// Assumes nothing.
// Wins on large C, where at last arithmetic sets the pace and not shared memory.
// Loses on small C: 512 x 512 elements are 16 tiles, and most of a large GPU has nothing to do. So
// it does at edges: a 129th row costs as much as 128 more.
#include <cuda_runtime.h>

#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int BM = 128, BN = 128, BK = 16;       // of a block
constexpr int TM = 8, TN = 8;                    // of a thread
constexpr int Down = BM / TM, Across = BN / TN;  // threads, and distance within a register tile
constexpr int Threads = Down * Across;

// Two blocks for each multiprocessor: that leaves 128 registers to a thread.
__global__ void __launch_bounds__(Threads, 2) blocktile_2d_8x8(Gemm g) {
  __shared__ float a_tile[BM][BK];
  __shared__ float b_tile[BK][BN];
  const Corner corner = block_corner<BM, BN>(g);
  const int thread = threadIdx.x;
  const int x = thread % Across, y = thread / Across;

  const std::int64_t k = depth(g);
  float sum[TM][TN] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += BK) {
    load_slice<Threads>(g, corner, p0, thread, a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = a_tile[y + i * Down][p];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = b_tile[p][x + j * Across];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    finish_row<1, Across>(g, corner.row + y + i * Down, corner.col + x, sum[i]);
  }
}

cudaError_t launch_blocktile_2d_8x8(const Gemm& g, cudaStream_t stream) {
  return launch_tiles(blocktile_2d_8x8, {BM, BN, BK}, dim3(Threads), g, stream);
}

const Registrar registrar{{
    .name = "blocktile_2d_8x8",
    .idea = "Each thread keeps an 8 x 8 tile of sums in registers and reuses both operands.",
    .launch = launch_blocktile_2d_8x8,
    .order = Order::one_fma_chain,
    .tile = {BM, BN, BK},
}};

}  // namespace
}  // namespace assay
