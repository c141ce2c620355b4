// As `blocktile_2d_8x8`, but data moves four floats at a time: in global loads, in shared loads,
// and in stores to C where possible. A is transposed on its way into shared memory: a thread needs
// 8 rows of A at one p, and only in a transposed tile are those neighbours.
//
// Assumes what a float4 load asks of its address: A and B start at a multiple of 16 bytes, and so
// does each of their rows, that is, lda and ldb are multiples of 4. Nothing else, though often
// m, n and k are required to be multiples of 4 as well:
//   - k % 4 and n % 4 stand in for the above where matrices are packed and lda is k, ldb is n. With
//     distances of their own, sizes are free: a quad cut off by the end of a row is read singly.
//   - m % 4 is never needed: no quad runs down a column. A row exists as a whole or not at all.
//   - ldc % 4 and alignment of C: a quad of C that is cut off or not aligned is written singly.
//
// Wins on large C: with a quarter of the load instructions, there is more room for arithmetic.
// Loses where 8 x 8 loses, and to it where k is so small that most quads are cut off.
#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int BM = 128, BN = 128, BK = 16;       // of a block
constexpr int TM = 8, TN = 8;                    // of a thread, in quads
constexpr int Down = BM / TM, Across = BN / TN;  // threads
constexpr int Threads = Down * Across;
constexpr Tile tile = {BM, BN, BK};

// Two blocks for each multiprocessor: that leaves 128 registers to a thread.
__global__ void __launch_bounds__(Threads, 2) vectorized(Gemm g) {
  // A lies transposed; 4 floats more in a row let a warp write to it without bank conflicts.
  alignas(16) __shared__ float a_tile[BK][BM + 4];
  alignas(16) __shared__ float b_tile[BK][BN];
  const Corner corner = block_corner<tile>(g);
  const int thread = threadIdx.x;
  const int x = thread % Across * 4, y = thread / Across * 4;  // the first quads of this thread

  Quads<BM, BK, 2, Threads> a_quads(thread);
  Quads<BK, BN, BN / 4, Threads> b_quads(thread);

  const std::int64_t k = depth(g);
  float sum[TM][TN] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += BK) {
    a_quads.load(window_of_a(g, corner.row, p0));
    b_quads.load(window_of_b(g, p0, corner.col));
    a_quads.store_transposed(a_tile);
    b_quads.store(b_tile);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      alignas(16) float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) copy_quad(&a[i], &a_tile[p][y + i * Down]);
#pragma unroll
      for (int j = 0; j < TN; j += 4) copy_quad(&b[j], &b_tile[p][x + j * Across]);
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
