// How a block brings slices of A and B into shared memory, float by float or by fours, and how a
// thread writes its part of a row of C.
//
// Promises: together the threads of a block write every element of a tile once, 0 where the matrix
// has ended. Nothing outside a matrix is read or written, not even between its rows. Neighbouring
// threads read neighbouring addresses, the lanes of a warp write to different banks of shared
// memory, and all reads are under way before the first one is waited for.
// Refuses to synchronise: the caller puts a barrier before and after the use of the tiles.
#pragma once

#include "kernels/gemm.h"

namespace assay {

// What a matrix has from one element on, down and to the right. Counts end where no tile reaches.
struct Window {
  const float* first;
  std::int64_t ld;
  int rows, cols;
  __device__ bool has(int tile_rows, int tile_cols) const {
    return rows >= tile_rows && cols >= tile_cols;
  }
};
__device__ inline int enough(std::int64_t count) {
  constexpr int LargestTile = 1024;
  return count < LargestTile ? static_cast<int>(count) : LargestTile;
}
__device__ inline Window window_of_a(const Gemm& g, std::int64_t row, std::int64_t p) {
  return {g.a + row * g.lda + p, g.lda, enough(g.m - row), enough(g.k - p)};
}
__device__ inline Window window_of_b(const Gemm& g, std::int64_t p, std::int64_t col) {
  return {g.b + p * g.ldb + col, g.ldb, enough(g.k - p), enough(g.n - col)};
}

// One tile, float by float. A `whole` tile is known to lie inside its matrix.
template <int Cols, int Threads, int Rows, int Stride>
__device__ inline void load_tile(bool whole, const Window& from, int thread,
                                 float (&tile)[Rows][Stride]) {
  constexpr int RowsAtOnce = Threads / Cols;
  static_assert(Threads % Cols == 0 && Rows % RowsAtOnce == 0 && Cols <= Stride);
  const int row = thread / Cols, col = thread % Cols;
  const float* source = from.first + row * from.ld + col;
#pragma unroll
  for (int i = 0; i < Rows; i += RowsAtOnce) {
    tile[row + i][col] = whole || from.has(row + i + 1, col + 1) ? source[i * from.ld] : 0.0f;
  }
}

// The slices of A and B from p0 on. Only at an edge does anybody look where the matrices end.
template <int Threads, int BM, int BN, int BK, int Stride>
__device__ inline void load_slice(const Gemm& g, const Corner& corner, std::int64_t p0, int thread,
                                  float (&a_tile)[BM][Stride], float (&b_tile)[BK][BN]) {
  const Window a = window_of_a(g, corner.row, p0), b = window_of_b(g, p0, corner.col);
  if (a.has(BM, BK) && b.has(BK, BN)) {
    load_tile<BK, Threads>(true, a, thread, a_tile);
    load_tile<BN, Threads>(true, b, thread, b_tile);
  } else {
    load_tile<BK, Threads>(false, a, thread, a_tile);
    load_tile<BN, Threads>(false, b, thread, b_tile);
  }
}

// A quad is four neighbours of one row, at an address that 16 divides, moved by one instruction.
__device__ inline void copy_quad(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// The quad at `from`, of which `count` elements exist: if not all do, they are read one by one.
__device__ inline float4 load_quad(const float* from, int count) {
  if (count >= 4) return *reinterpret_cast<const float4*>(from);
  float4 quad = {0, 0, 0, 0};
  if (count > 0) quad.x = from[0];
  if (count > 1) quad.y = from[1];
  if (count > 2) quad.z = from[2];
  return quad;
}

// The quads of a Rows x Cols tile that one thread carries from global to shared memory. `Lanes`
// threads in turn take neighbouring quads of one row, the next ones those of the row below.
// Asks that the window start at a multiple of 16 bytes and that its ld be a multiple of 4.
template <int Rows, int Cols, int Lanes, int Threads>
class Quads {
 public:
  __device__ explicit Quads(int thread) : row_(thread / Lanes), col_(thread % Lanes * 4) {}

  __device__ void load(const Window& from) {
    const float* source = from.first + row_ * from.ld + col_;
    const bool whole = from.has(Rows, Cols);
#pragma unroll
    for (int i = 0; i < Down; ++i) {
#pragma unroll
      for (int j = 0; j < Across; ++j) {
        const float* p = source + i * StepDown * from.ld + j * StepAcross;
        if (whole) {
          quads_[i][j] = *reinterpret_cast<const float4*>(p);
        } else {
          const bool row_exists = row_ + i * StepDown < from.rows;
          quads_[i][j] = load_quad(p, row_exists ? from.cols - col_ - j * StepAcross : 0);
        }
      }
    }
  }

  template <int Stride>
  __device__ void store(float (&tile)[Rows][Stride]) const {
#pragma unroll
    for (int i = 0; i < Down; ++i) {
#pragma unroll
      for (int j = 0; j < Across; ++j) {
        float* to = &tile[row_ + i * StepDown][col_ + j * StepAcross];
        *reinterpret_cast<float4*>(to) = quads_[i][j];
      }
    }
  }

  // Rows become columns. With 2 lanes, and rows of the tile 4 floats longer than a multiple of 32,
  // the floats that a warp writes at once fall into 32 different banks.
  template <int Stride>
  __device__ void store_transposed(float (&tile)[Cols][Stride]) const {
    static_assert(Lanes == 2 && Stride % 32 == 4);
#pragma unroll
    for (int i = 0; i < Down; ++i) {
#pragma unroll
      for (int j = 0; j < Across; ++j) {
        const int r = row_ + i * StepDown, c = col_ + j * StepAcross;
        tile[c + 0][r] = quads_[i][j].x;
        tile[c + 1][r] = quads_[i][j].y;
        tile[c + 2][r] = quads_[i][j].z;
        tile[c + 3][r] = quads_[i][j].w;
      }
    }
  }

 private:
  static constexpr int StepDown = Threads / Lanes, StepAcross = Lanes * 4;
  static constexpr int Down = Rows / StepDown, Across = Cols / StepAcross;
  static_assert(Rows % StepDown == 0 && Cols % StepAcross == 0 && Threads % Lanes == 0);
  const int row_, col_;
  float4 quads_[Down][Across];
};

// Finishes what a thread has of one row of C, as far as it exists: groups of Width neighbours, the
// first at `col`, the others Step apart. All old elements are read before a new one is written.
template <int Width, int Step, int Count>
__device__ inline void finish_row(const Gemm& g, std::int64_t row, std::int64_t col,
                                  const float (&sums)[Count]) {
  if (row >= g.m) return;
  float* c = g.c + row * g.ldc + col;
  const int cols = enough(g.n - col);
  float old[Count] = {};
  if (g.beta != 0) {
#pragma unroll
    for (int j = 0; j < Count; ++j) {
      const int at = j / Width * Step + j % Width;
      if (at < cols) old[j] = c[at];
    }
  }
#pragma unroll
  for (int j = 0; j < Count; ++j) {
    const int at = j / Width * Step + j % Width;
    if (at < cols) c[at] = blend(g, sums[j], &old[j]);
  }
}

// The same for groups of 4, by quads if none is cut off and C happens to be aligned.
template <int Step, int Count>
__device__ inline void finish_row_by_quads(const Gemm& g, std::int64_t row, std::int64_t col,
                                           const float (&sums)[Count]) {
  float* c = g.c + row * g.ldc + col;
  const bool whole = row < g.m && col + (Count / 4 - 1) * Step + 4 <= g.n;
  if (!whole || reinterpret_cast<std::uintptr_t>(c) % sizeof(float4) != 0) {
    return finish_row<4, Step>(g, row, col, sums);
  }
  float4 old[Count / 4] = {};
  if (g.beta != 0) {
#pragma unroll
    for (int q = 0; q < Count / 4; ++q) old[q] = *reinterpret_cast<float4*>(c + q * Step);
  }
#pragma unroll
  for (int q = 0; q < Count / 4; ++q) {
    const float* sum = &sums[q * 4];
    *reinterpret_cast<float4*>(c + q * Step) = {
        blend(g, sum[0], &old[q].x), blend(g, sum[1], &old[q].y), blend(g, sum[2], &old[q].z),
        blend(g, sum[3], &old[q].w)};
  }
}

}  // namespace assay
