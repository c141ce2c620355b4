// As `blocktile_2d` with T = 8, but data moves in quads, four floats at a time: in global loads, in
// shared loads, and in stores to C where possible. A is transposed on its way into shared memory: a
// thread needs 8 rows of A at one p, and only in a transposed tile are those neighbours.
//
// Who loads what of a slice, in quads, where t is the thread:
//   A, row r of 128:   | t = 2r | 2r + 1 | 2r | 2r + 1 |
//   B, row r of 16:    | t = 32r | 32r + 1 | ... | 32r + 31 |  in rows 8 to 15 with r - 8 for r
// Who computes what, in quads, with x = t % 16 and y = t / 16:
//   C, along a row:    | x = 0 | 1 | ... | 15 | 0 | 1 | ... | 15 |
//   C, down a column:  | y = 0 | 1 | ... | 15 | 0 | 1 | ... | 15 |
//
// Assumes what a float4 load asks of its address: A and B start at a multiple of 16 bytes, and so
// does each of their rows, that is, lda and ldb are multiples of 4. It assumes no more, though
// often m, n and k are required to be multiples of 4 as well:
//   - k % 4 and n % 4 stand in for the above where matrices are packed, so that lda is k and ldb is
//     n. Otherwise sizes are free: a quad that the end of a row cuts off is read float by float.
//   - m % 4 is never needed: no quad runs down a column.
//   - ldc % 4 and alignment of C: a quad of C that is cut off or not aligned is written float by
//     float.
//
// Wins on large C: with a quarter of the load instructions, there is more room for arithmetic.
// Loses where `blocktile_2d` loses, and to it where k is so small that most quads are cut off.
#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int BM = 128, BN = 128, BK = 16;       // of a block
constexpr int TM = 8, TN = 8;                    // of a thread, in quads
constexpr int Down = BM / TM, Across = BN / TN;  // threads
constexpr int Threads = Down * Across;
constexpr Tile tile = {BM, BN, BK};

// Brings the slices from p0 on into shared memory, and A transposed: there a warp stores elements
// of 16 rows and 2 columns at a time, the columns 4 apart. They all fall into different banks,
// because the rows of a_tile are 4 floats longer than BM.
__device__ void load_quads(const Gemm& g, const Corner& corner, std::int64_t p0, int thread,
                           float (&a_tile)[BK][BM + 4], float (&b_tile)[BK][BN]) {
  static_assert(BM * BK == 2 * 4 * Threads && BK * BN == 2 * 4 * Threads);
  const int a_row = thread / 2, a_col = thread % 2 * 4;    // of its first quad; the second is 8
  const int b_row = thread / 32, b_col = thread % 32 * 4;  // columns on in A, 8 rows down in B

  const Window a_slice = window_of_a(g, corner.row, p0), b_slice = window_of_b(g, p0, corner.col);
  const bool a_whole = a_slice.has(BM, BK), b_whole = b_slice.has(BK, BN);
  const float* a_from = a_slice.at(a_row, a_col);
  const float* b_from = b_slice.at(b_row, b_col);
  float4 a_quads[2], b_quads[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float* from = a_from + i * 8;
    a_quads[i] = a_whole ? quad(from) : cut_quad(from, a_slice.left(a_row, a_col + i * 8));
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float* from = b_from + i * 8 * g.ldb;
    b_quads[i] = b_whole ? quad(from) : cut_quad(from, b_slice.left(b_row + i * 8, b_col));
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int p = a_col + i * 8;
    a_tile[p + 0][a_row] = a_quads[i].x;
    a_tile[p + 1][a_row] = a_quads[i].y;
    a_tile[p + 2][a_row] = a_quads[i].z;
    a_tile[p + 3][a_row] = a_quads[i].w;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) quad(&b_tile[b_row + i * 8][b_col]) = b_quads[i];
}

// Two blocks for each multiprocessor: that leaves 128 registers to a thread.
__global__ void __launch_bounds__(Threads, 2) vectorized(Gemm g) {
  alignas(16) __shared__ float a_tile[BK][BM + 4];
  alignas(16) __shared__ float b_tile[BK][BN];
  const Corner corner = block_corner<tile>(g);
  const int thread = threadIdx.x;
  const int x = thread % Across * 4, y = thread / Across * 4;  // the first of this thread's quads

  const std::int64_t k = depth(g);
  float sum[TM][TN] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += BK) {
    load_quads(g, corner, p0, thread, a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      alignas(16) float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) quad(&a[i]) = quad(&a_tile[p][y + i * Down]);
#pragma unroll
      for (int j = 0; j < TN; j += 4) quad(&b[j]) = quad(&b_tile[p][x + j * Across]);
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
    const std::int64_t row = corner.row + y + i / 4 * 4 * Down + i % 4;
    finish_row_by_quads<4 * Across>(g, row, corner.col + x, sum[i]);
  }
}

cudaError_t launch_vectorized(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(vectorized, dim3(Threads), g, stream);
}

const Registrar registrar{{
    .name = "vectorized",
    .idea = "8 x 8 sums per thread, with A transposed in shared memory and every access a float4.",
    .launch = launch_vectorized,
    .needs = {.lda_multiple = 4, .ldb_multiple = 4, .a_alignment = 16, .b_alignment = 16},
    .order = Order::one_fma_chain,
    .tile = tile,
}};

}  // namespace
}  // namespace assay
