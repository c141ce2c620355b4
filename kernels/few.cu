// For C of a few rows or of a few columns, where a block that computes a tile leaves most of its
// threads idle: every element of the large matrix is loaded once, so that memory sets the speed.
//
// `few_rows`, m <= 16: a block has a strip of 32 or 64 columns; its warps share k. B is the large
// one.
//
//   B, k x n:    | strip 0     | strip 1     | ...     a lane has a column, or two 32 apart; warp w
//                                                      takes rows w, w + Warps, ... of the strip
//   A, m x k:    pieces of all rows, transposed, in shared memory: every warp reads every element
//
// The sums of the warps are added in the order of the warps, through shared memory, for up to four
// rows at a time. Eight rows of B are on their way in each warp while the eight before are
// multiplied.
//
// `few_columns`, n <= 8: a warp has a row of A, the large one, and its lanes share k.
//
//   A, a row:    | lane 0 | lane 1 | ... | lane 31 | lane 0 | ...
//   B, k x n:    pieces of all columns, transposed, in shared memory
//
// The sums of the lanes are added by exchanges between them, always in the same tree.
//
// Both take any alignment. Streaming loads tell the caches that the large matrix is not read again.
//
// Wins wherever it applies and the large matrix fills the card: some 4096 columns or rows. Loses to
// split sums where n, or m, is below some 2000 and k is long: then there are too few blocks.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr int Lanes = 32;

// Few rows.

constexpr int MostRows = 16;
constexpr int RowsAtOnce = 8;  // of B, that a warp has on their way

template <int Rows, int Warps, int Cols>  // a lane has so many columns
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

// Few columns.

constexpr int MostColumns = 8;
constexpr int RowsOfBlock = 16;  // a warp for each
constexpr int ThreadsOfRows = RowsOfBlock * Lanes;
constexpr int PieceOfB = 1024;  // of k

template <int Cols>
constexpr Tile tile_of = {RowsOfBlock, Cols, PieceOfB};
template <int Cols>
struct Columns {
  float b_piece[Cols][PieceOfB + 1];  // one more: lanes write to different banks
};

template <int Cols>
__global__ void __launch_bounds__(ThreadsOfRows) few_columns(Gemm g) {
  auto& [b_piece] = *dynamic_shared<Columns<Cols>>();
  const int thread = threadIdx.x, lane = thread % Lanes;
  const std::int64_t row = block_corner<tile_of<Cols>>(g).row + thread / Lanes, k = depth(g);
  const float* a = g.a + row * g.lda;

  float sum[Cols] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += PieceOfB) {
    __syncthreads();  // nobody reads the piece before any more
#pragma unroll
    for (int i = 0; i < PieceOfB * Cols / ThreadsOfRows; ++i) {
      const int e = i * ThreadsOfRows + thread, col = e % Cols, p = e / Cols;
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
  return launch_tiles<tile_of<Cols>>(few_columns<Cols>, dim3(ThreadsOfRows), g, stream,
                                     sizeof(Columns<Cols>));
}

cudaError_t launch_few_columns(const Gemm& g, cudaStream_t stream) {
  if (g.n <= 1) return launch_columns<1>(g, stream);
  if (g.n <= 4) return launch_columns<4>(g, stream);
  return launch_columns<MostColumns>(g, stream);
}

const Registrar rows{{
    .name = "few_rows",
    .idea = "A block computes a strip of a C of few rows, its warps share k, and B is loaded once.",
    .launch = launch_few_rows,
    .needs = {.m_most = MostRows},
    .tile = FewRows<MostRows, 32, 1>::tile,
}};
const Registrar columns{{
    .name = "few_columns",
    .idea = "A warp computes a row of a C of few columns, its lanes share k, and A is loaded once.",
    .launch = launch_few_columns,
    .needs = {.n_most = MostColumns},
    .tile = tile_of<MostColumns>,
}};

}  // namespace
}  // namespace assay
