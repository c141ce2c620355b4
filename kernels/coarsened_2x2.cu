// As `tiled`, but with a quarter of the threads: each computes a 2 x 2 patch of the tile of C. The
// two elements of A and two of B that it takes from shared memory serve four multiplications, so
// there is one shared load for each multiplication instead of two.
//
// The elements of a patch are not neighbours, but lie half a tile apart, down and across. Lanes
// that run together thus still own neighbouring columns: their reads of b_tile meet no bank twice,
// and their stores to C fill whole sectors. True neighbours would make both go in strides of 2.
//
// Assumes nothing.
// Wins against `tiled` where C is large enough to fill the GPU: half the waiting for shared memory.
// Loses on small C, where fewer threads have less to do while they wait for global memory.
#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int T = 32;        // side of the tile of C, and depth of a slice of k
constexpr int Half = T / 2;  // side of the block of threads, and distance within a patch
constexpr int Threads = Half * Half;
constexpr Tile tile = {T, T, T};

__global__ void __launch_bounds__(Threads) coarsened_2x2(Gemm g) {
  // A warp reads two rows of a_tile at a time: 4 floats more in a row put them in different banks.
  __shared__ float a_tile[T][T + 4];
  __shared__ float b_tile[T][T];
  const Corner corner = block_corner<tile>(g);
  const int x = threadIdx.x, y = threadIdx.y;
  const int thread = y * Half + x;

  const std::int64_t k = depth(g);
  float sum[2][2] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += T) {
    load_slice<Threads>(g, corner, p0, thread, a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < T; ++p) {
      const float a[2] = {a_tile[y][p], a_tile[y + Half][p]};
      const float b[2] = {b_tile[p][x], b_tile[p][x + Half]};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 2; ++i) {
    finish_row<1, Half>(g, corner.row + y + i * Half, corner.col + x, sum[i]);
  }
}

cudaError_t launch_coarsened_2x2(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(coarsened_2x2, dim3(Half, Half), g, stream);
}

const Registrar registrar{{
    .name = "coarsened_2x2",
    .idea = "A shared memory tile in which each thread computes four elements instead of one.",
    .launch = launch_coarsened_2x2,
    .order = Order::one_fma_chain,
    .tile = tile,
}};

}  // namespace
}  // namespace assay
