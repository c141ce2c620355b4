// Each thread computes T x T elements of C and keeps their sums in registers: at each p it takes T
// elements of A and T of B from shared memory and multiplies each with each. With T = 4, 8 loads
// serve 16 multiplications; with T = 8, 16 loads serve 64.
//
// The rows of a thread lie Side apart, and so do its columns. Lanes that run together thus own
// neighbouring columns: their reads of b_tile meet no bank twice, and their stores fill sectors.
//
// Assumes nothing.
// Wins against the one-dimensional strips, which reuse only one operand, once C has tiles for all
// multiprocessors: of 64 x 64 elements with T = 4, of 128 x 128 with T = 8. On large C, 8 wins
// against 4: there at last arithmetic sets the pace and not shared memory.
// Loses on small C: with T = 8, 512 x 512 elements are 16 tiles, and most of a large GPU has
// nothing to do. It loses at edges too: a 129th row costs as much as 128 more.
#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int Side = 16;  // a block has Side x Side threads
constexpr int Threads = Side * Side;
constexpr int BK = 16;
template <int T>
constexpr Tile tile = {Side* T, Side* T, BK};

// With T = 8, two blocks for each multiprocessor, which leaves 128 registers to a thread. With T =
// 4 the compiler finds the better code when nothing is asked of it, which is what 0 says.
template <int T>
__global__ void __launch_bounds__(Threads, T == 8 ? 2 : 0) blocktile_2d(Gemm g) {
  constexpr int BM = Side * T, BN = Side * T;
  __shared__ float a_tile[BM][BK];
  __shared__ float b_tile[BK][BN];
  const Corner corner = block_corner<tile<T>>(g);
  const int thread = threadIdx.x;
  const int x = thread % Side, y = thread / Side;

  const std::int64_t k = depth(g);
  float sum[T][T] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += BK) {
    load_slice<Threads>(g, corner, p0, thread, a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      float a[T], b[T];
#pragma unroll
      for (int i = 0; i < T; ++i) a[i] = a_tile[y + i * Side][p];
#pragma unroll
      for (int j = 0; j < T; ++j) b[j] = b_tile[p][x + j * Side];
#pragma unroll
      for (int i = 0; i < T; ++i) {
#pragma unroll
        for (int j = 0; j < T; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < T; ++i) {
    finish_row<1, Side>(g, corner.row + y + i * Side, corner.col + x, sum[i]);
  }
}

template <int T>
cudaError_t launch_blocktile_2d(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile<T>>(blocktile_2d<T>, dim3(Threads), g, stream);
}

template <int T>
constexpr Variant variant(const char* name) {
  return {
      .name = name,
      .idea = "Each thread keeps a square tile of sums in registers and reuses both operands.",
      .launch = launch_blocktile_2d<T>,
      .order = Order::one_fma_chain,
      .tile = tile<T>,
  };
}

const Registrar registrar_4x4{variant<4>("blocktile_2d_4x4")};
const Registrar registrar_8x8{variant<8>("blocktile_2d_8x8")};

}  // namespace
}  // namespace assay
