// For C of a few rows, where a block that computes a tile leaves most of its threads idle. Every
// element of B, the large matrix, is loaded once, so that memory sets the speed.
//
// A block has a strip of 32 or 64 columns, and its warps share k:
//
//   B, k x n:   | strip 0 | strip 1 | ...   a lane has a column, or two that lie 32 apart; warp w
//   has
//                                           rows w, w + Warps, and so on
//   A, m x k:   a piece of all rows at a time, transposed, in shared memory
//   C, m x n:   each warp has a sum for every element of the strip
//
// Eight rows of B are on their way in each warp while the eight before are multiplied. At the end
// the sums are added up in the order of the warps, through shared memory, up to four rows at a
// time.
//
// Takes any alignment: neighbouring lanes load neighbouring floats. Streaming loads tell the caches
// that B is not read again.
//
// Wins over every stage that computes tiles. Loses to split sums where n is below some 2000 and k
// is long: then there are too few strips for all multiprocessors.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr int Lanes = 32;
constexpr int MostRows = 16;
constexpr int RowsAtOnce = 8;  // of B, that a warp has on their way

template <int Rows, int Warps, int Cols>  // of C, of the block, and of a lane
struct FewRows {
  static constexpr int Strip = Lanes * Cols, Threads = Warps * Lanes;
  static constexpr int Step = Warps * RowsAtOnce;  // of k, that the block multiplies at a time
  static constexpr int Piece = Rows <= 2 ? 4 * Step : Rows <= 8 ? 2 * Step : Step;  // of A
  static constexpr int Stride = Rows % 4 == 0 ? Rows + 4 : Rows;  // spreads the banks of a write
  static constexpr int Together = Rows < 4 ? Rows : 4;            // rows of C added up at a time
  static constexpr Tile tile = {Rows, Strip, Step};
  static_assert(Piece * Rows % Threads == 0 && Together * Strip <= Threads);

  struct Shared {
    alignas(16) float a_piece[Piece][Stride];
    float parts[Warps][Together][Strip];
  };
};

template <int Rows, int Warps, int Cols>
__global__ void __launch_bounds__(Warps* Lanes) few_rows(Gemm g) {
  using F = FewRows<Rows, Warps, Cols>;
  auto& [a_piece, parts] = *dynamic_shared<typename F::Shared>();
  const int thread = threadIdx.x, warp = thread / Lanes, lane = thread % Lanes;
  const std::int64_t corner = block_corner<F::tile>(g).col, col = corner + lane;
  const std::int64_t k = depth(g);
  const bool whole = corner + F::Strip <= g.n;

  float b[RowsAtOnce][Cols];
  const auto fetch = [&](std::int64_t p0) {
    const std::int64_t first = p0 + warp;
    const float* from = g.b + first * g.ldb + col;
    const bool inside = whole && p0 + F::Step <= k;
#pragma unroll
    for (int i = 0; i < RowsAtOnce; ++i) {
#pragma unroll
      for (int j = 0; j < Cols; ++j) {
        const bool exists = inside || (first + i * Warps < k && col + j * Lanes < g.n);
        b[i][j] = exists ? __ldcs(from + i * Warps * g.ldb + j * Lanes) : 0.0f;
      }
    }
  };

  float sum[Rows][Cols] = {};
  fetch(0);
  for (std::int64_t p0 = 0; p0 < k; p0 += F::Piece) {
    __syncthreads();  // nobody reads the piece before any more
#pragma unroll
    for (int i = 0; i < F::Piece * Rows / F::Threads; ++i) {
      const int e = i * F::Threads + thread, row = e / F::Piece, p = e % F::Piece;
      a_piece[p][row] = row < g.m && p0 + p < k ? g.a[row * g.lda + p0 + p] : 0.0f;
    }
    __syncthreads();
    for (int q = 0; q < F::Piece && p0 + q < k; q += F::Step) {
      float now[RowsAtOnce][Cols];
#pragma unroll
      for (int i = 0; i < RowsAtOnce; ++i) {
#pragma unroll
        for (int j = 0; j < Cols; ++j) now[i][j] = b[i][j];
      }
      fetch(p0 + q + F::Step);
#pragma unroll
      for (int i = 0; i < RowsAtOnce; ++i) {
        const float* a = a_piece[q + i * Warps + warp];
#pragma unroll
        for (int row = 0; row < Rows; ++row) {
#pragma unroll
          for (int j = 0; j < Cols; ++j) sum[row][j] = fmaf(a[row], now[i][j], sum[row][j]);
        }
      }
    }
  }

#pragma unroll
  for (int first = 0; first < Rows; first += F::Together) {
    __syncthreads();  // nobody reads the parts before any more
#pragma unroll
    for (int i = 0; i < F::Together; ++i) {
#pragma unroll
      for (int j = 0; j < Cols; ++j) parts[warp][i][j * Lanes + lane] = sum[first + i][j];
    }
    __syncthreads();
    const int i = thread / F::Strip, j = thread % F::Strip;
    if (i < F::Together && first + i < g.m && corner + j < g.n) {
      float total = 0;
      for (int w = 0; w < Warps; ++w) total += parts[w][i][j];
      float* c = g.c + (first + i) * g.ldc + corner + j;
      *c = blend(g, total, c);
    }
  }
}

template <int Rows, int Warps, int Cols>
cudaError_t launch_rows(const Gemm& g, cudaStream_t stream) {
  using F = FewRows<Rows, Warps, Cols>;
  return launch_tiles<F::tile>(few_rows<Rows, Warps, Cols>, dim3(F::Threads), g, stream,
                               sizeof(typename F::Shared));
}

// Wide strips where there are enough of them for every multiprocessor.
template <int Rows>
cudaError_t launch_strips(const Gemm& g, cudaStream_t stream) {
  return g.n >= 8192 ? launch_rows<Rows, 16, 2>(g, stream) : launch_rows<Rows, 32, 1>(g, stream);
}

cudaError_t launch_few_rows(const Gemm& g, cudaStream_t stream) {
  if (g.m <= 1) return launch_strips<1>(g, stream);
  if (g.m <= 2) return launch_strips<2>(g, stream);
  if (g.m <= 4) return launch_strips<4>(g, stream);
  if (g.m <= 8) return launch_strips<8>(g, stream);
  return launch_strips<MostRows>(g, stream);
}

const Registrar registrar{{
    .name = "few_rows",
    .idea = "A block computes a strip of a C of few rows, its warps share k, and B is loaded once.",
    .launch = launch_few_rows,
    .needs = {.m_most = MostRows},
    .tile = FewRows<MostRows, 32, 1>::tile,
}};

}  // namespace
}  // namespace assay
