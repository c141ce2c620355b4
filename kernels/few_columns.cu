// For C of a few columns, where a block that computes a tile leaves most of its threads idle. Every
// element of A, the large matrix, is loaded once, so that memory sets the speed.
//
// A warp has a row of A, and its lanes share k:
//
//   A, a row:   | lane 0 | lane 1 | ... | lane 31 | lane 0 | ...
//   B, k x n:   a piece of all columns at a time, transposed, in shared memory
//
// At the end the lanes add their sums up by exchanges, always in the same tree.
//
// Takes any alignment: neighbouring lanes load neighbouring floats. Streaming loads tell the caches
// that A is not read again.
//
// Wins over every stage that computes tiles. Loses to split sums where m is below some 2000 and k
// is long: then there are too few rows for all multiprocessors.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr int Lanes = 32;
constexpr int MostColumns = 8;
constexpr int RowsOfBlock = 16;  // a warp for each
constexpr int Threads = RowsOfBlock * Lanes;
constexpr int PieceOfB = 1024;  // of k

template <int Cols>
constexpr Tile tile_of = {RowsOfBlock, Cols, PieceOfB};
template <int Cols>
struct Shared {
  float b_piece[Cols][PieceOfB + 1];  // one more: lanes write to different banks
};

template <int Cols>
__global__ void __launch_bounds__(Threads) few_columns(Gemm g) {
  auto& [b_piece] = *dynamic_shared<Shared<Cols>>();
  const int thread = threadIdx.x, lane = thread % Lanes;
  const std::int64_t row = block_corner<tile_of<Cols>>(g).row + thread / Lanes, k = depth(g);
  const float* a = g.a + row * g.lda;

  float sum[Cols] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += PieceOfB) {
    __syncthreads();  // nobody reads the piece before any more
#pragma unroll
    for (int i = 0; i < PieceOfB * Cols / Threads; ++i) {
      const int e = i * Threads + thread, col = e % Cols, p = e / Cols;
      b_piece[col][p] = col < g.n && p0 + p < k ? g.b[(p0 + p) * g.ldb + col] : 0.0f;
    }
    __syncthreads();
    const int there = k - p0 < PieceOfB ? static_cast<int>(k - p0) : PieceOfB;
    if (row >= g.m) continue;
#pragma unroll 4
    for (int p = lane; p < there; p += Lanes) {
      const float factor = __ldcs(a + p0 + p);
#pragma unroll
      for (int col = 0; col < Cols; ++col) sum[col] = fmaf(factor, b_piece[col][p], sum[col]);
    }
  }
#pragma unroll
  for (int col = 0; col < Cols; ++col) {
#pragma unroll
    for (int distance = Lanes / 2; distance > 0; distance /= 2) {
      sum[col] += __shfl_xor_sync(0xffffffff, sum[col], distance);
    }
    float* c = g.c + row * g.ldc + col;
    if (lane == col && row < g.m && col < g.n) *c = blend(g, sum[col], c);
  }
}

template <int Cols>
cudaError_t launch_columns(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile_of<Cols>>(few_columns<Cols>, dim3(Threads), g, stream,
                                     sizeof(Shared<Cols>));
}

cudaError_t launch_few_columns(const Gemm& g, cudaStream_t stream) {
  if (g.n <= 1) return launch_columns<1>(g, stream);
  if (g.n <= 4) return launch_columns<4>(g, stream);
  return launch_columns<MostColumns>(g, stream);
}

const Registrar registrar{{
    .name = "few_columns",
    .idea = "A warp computes a row of a C of few columns, its lanes share k, and A is loaded once.",
    .launch = launch_few_columns,
    .needs = {.n_most = MostColumns},
    .tile = tile_of<MostColumns>,
}};

}  // namespace
}  // namespace assay
