// Each thread computes TM x TN = 4 x 4 elements of C: at each p it takes 4 elements of A and 4 of B
// from shared memory and multiplies each with each, in registers. 8 loads, 16 multiplications.
//
// The rows of a thread are BM / TM apart and its columns BN / TN: lanes that run together own
// neighbouring columns, so their reads of b_tile meet no bank twice and their stores fill sectors.
//
// Assumes nothing.
// Wins against the one-dimensional strips, which reuse only one operand, once there are 64 x 64
// tiles of C for all multiprocessors.
// Loses against 8 x 8 on larger C: there a shared load serves twice as many multiplications.
#include <cuda_runtime.h>

#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int BM = 64, BN = 64, BK = 16;         // of a block
constexpr int TM = 4, TN = 4;                    // of a thread
constexpr int Down = BM / TM, Across = BN / TN;  // threads, and distance within a register tile
constexpr int Threads = Down * Across;

__global__ void __launch_bounds__(Threads) blocktile_2d_4x4(Gemm g) {
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

cudaError_t launch_blocktile_2d_4x4(const Gemm& g, cudaStream_t stream) {
  return launch_tiles(blocktile_2d_4x4, {BM, BN, BK}, dim3(Threads), g, stream);
}

const Registrar registrar{{
    .name = "blocktile_2d_4x4",
    .idea = "Each thread keeps a 4 x 4 tile of sums in registers and reuses both operands.",
    .launch = launch_blocktile_2d_4x4,
    .order = Order::one_fma_chain,
    .tile = {BM, BN, BK},
}};

}  // namespace
}  // namespace assay
