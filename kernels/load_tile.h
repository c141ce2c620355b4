// What many kernels need at the edges of matrices: a block copies slices of A and B into shared
// memory, and a thread writes its part of a row of C.
//
// Promises: the threads of a block together write every element of a tile once, and 0 where the
// matrix has ended. Nothing outside a matrix is read or written, not even between its rows. In
// `load_slice`, neighbouring threads read neighbouring addresses, the lanes of a warp write to
// different banks of shared memory, and a thread starts all its reads before it waits for one.
// Refuses to synchronise: the caller puts a barrier before and after it uses the tiles.
#pragma once

#include "kernels/gemm.h"

namespace assay {

// The part of a matrix from one element on, down and to the right. Its counts of rows and columns
// stop at 1024, which is more than any tile has, and are negative where the matrix has ended.
struct Window {
  const float* first;
  std::int64_t ld;
  int rows, cols;
  __device__ const float* at(int row, int col) const { return first + row * ld + col; }
  __device__ bool has(int tile_rows, int tile_cols) const {
    return rows >= tile_rows && cols >= tile_cols;
  }
  // How many elements its row has from this one on; 0 or less if there is no such element.
  __device__ int left(int row, int col) const { return row < rows ? cols - col : 0; }
};
__device__ inline int clipped(std::int64_t count) {
  constexpr int Most = 1024;
  return count < Most ? static_cast<int>(count) : Most;
}
__device__ inline Window window_of_a(const Gemm& g, std::int64_t row, std::int64_t p) {
  return {g.a + row * g.lda + p, g.lda, clipped(g.m - row), clipped(g.k - p)};
}
__device__ inline Window window_of_b(const Gemm& g, std::int64_t p, std::int64_t col) {
  return {g.b + p * g.ldb + col, g.ldb, clipped(g.k - p), clipped(g.n - col)};
}

// Copies one tile, float by float. A `whole` tile is known to lie inside its matrix.
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

// Copies the slices of A and B from p0 on. Only a tile at an edge is compared, element by element,
// with the end of its matrix.
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

// A quad: four neighbours in a row, at an address that 16 divides. One instruction moves it.
__device__ inline float4& quad(float* p) {
  return *reinterpret_cast<float4*>(p);
}
__device__ inline const float4& quad(const float* p) {
  return *reinterpret_cast<const float4*>(p);
}

// The quad at `p`, of which only the first `count` elements exist. The others are 0.
__device__ inline float4 cut_quad(const float* p, int count) {
  if (count >= 4) return quad(p);
  float4 cut = {0, 0, 0, 0};
  if (count > 0) cut.x = p[0];
  if (count > 1) cut.y = p[1];
  if (count > 2) cut.z = p[2];
  return cut;
}

// Finishes a thread's elements of one row of C, as far as they exist: groups of Width neighbours,
// the first at `col`, the others Step apart. Reads all old elements before it writes a new one.
template <int Width, int Step, int Count>
__device__ inline void finish_row(const Gemm& g, std::int64_t row, std::int64_t col,
                                  const float (&sums)[Count]) {
  if (row >= g.m) return;
  float* c = g.c + row * g.ldc + col;
  const int cols = clipped(g.n - col);
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

// The same for groups of 4: by quads, if none is cut off and this row of C happens to be aligned.
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
    for (int q = 0; q < Count / 4; ++q) old[q] = quad(c + q * Step);
  }
#pragma unroll
  for (int q = 0; q < Count / 4; ++q) {
    const float* sum = &sums[q * 4];
    quad(c + q * Step) = {blend(g, sum[0], &old[q].x), blend(g, sum[1], &old[q].y),
                          blend(g, sum[2], &old[q].z), blend(g, sum[3], &old[q].w)};
  }
}

}  // namespace assay
