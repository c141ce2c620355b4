// As `vectorized`, with one level more: the tile of the block is split into a tile of WM x WN for
// each warp, and that into tiles of TM x TN for its threads. In `vectorized` a warp is two rows of
// 16 threads over the whole width of the block's tile; in a compact shape it needs less of A and B.
//
// Who loads what of a slice, in quads, where t is the thread:
//   A, row r of 128:   | t = 2r | 2r + 1 | 2r | 2r + 1 |       in rows 64 to 127 with r - 64 for r
//   B, row r of 16:    | t = 32r | 32r + 1 | ... | 32r + 31 |  in rows 4 to 15 with r % 4 for r
// Who computes what:
//   C, 128 x 128:        a warp, 64 x 64:     a step of a warp, 32 x 32, of 8 x 4 for a lane:
//   | warp 0 | warp 1 |  | step 0 | step 1 |  | lane 0 | lane 1 | ... | lane 7  |
//   | warp 2 | warp 3 |  | step 2 | step 3 |  | lane 8 | lane 9 | ... | lane 15 |  and so on
//
// So a thread has four tiles of 8 x 4, 128 sums in all, for which it loads 6 quads at each p. A
// shared load of the warp touches at most 128 bytes, and a store fills 128 bytes in each of 4 rows.
//
// Assumes what `vectorized` does, for the same reasons: A and B aligned to 16 bytes, lda and ldb
// multiples of 4. Sizes and C are free: no quad runs down a column, and a quad that is cut off by
// the end of a row, or not aligned in C, is moved float by float.
//
// Wins on large C: half as many accesses to shared memory for each multiplication.
// Loses on small C: a block has only 4 warps, and their registers leave room for 2 blocks.
#include "kernels/gemm.h"
#include "kernels/load_tile.h"

namespace assay {
namespace {

constexpr int BM = 128, BN = 128, BK = 16;                       // of a block
constexpr int WM = 64, WN = 64;                                  // of a warp
constexpr int TM = 8, TN = 4;                                    // of a thread, in one step
constexpr int LanesDown = 4, LanesAcross = 8;                    // the shape of a warp
constexpr int StepM = LanesDown * TM, StepN = LanesAcross * TN;  // of a warp, in one step
constexpr int StepsM = WM / StepM, StepsN = WN / StepN;
constexpr int Threads = (BM / WM) * (BN / WN) * 32;
constexpr Tile tile = {BM, BN, BK};
static_assert(LanesDown * LanesAcross == 32 && WM % StepM == 0 && WN % StepN == 0);

// Brings the slices from p0 on into shared memory, and A transposed, as in `vectorized`. Half as
// many threads carry twice as many quads each.
__device__ void load_quads(const Gemm& g, const Corner& corner, std::int64_t p0, int thread,
                           float (&a_tile)[BK][BM + 4], float (&b_tile)[BK][BN]) {
  static_assert(BM * BK == 4 * 4 * Threads && BK * BN == 4 * 4 * Threads);
  const int a_row = thread / 2, a_col = thread % 2 * 4;  // of its first quad; others are 8 columns
  const int b_row = thread / 32, b_col = thread % 32 * 4;  // on and 64 rows down in A, 4 rows in B

  const Window a_slice = window_of_a(g, corner.row, p0), b_slice = window_of_b(g, p0, corner.col);
  const bool a_whole = a_slice.has(BM, BK), b_whole = b_slice.has(BK, BN);
  const float* a_from = a_slice.at(a_row, a_col);
  const float* b_from = b_slice.at(b_row, b_col);
  float4 a_quads[4], b_quads[4];
  // One branch for a slice as a whole: with a branch for each quad, the loop over k is 1 to 5 %
  // slower.
  if (a_whole && b_whole) {
#pragma unroll
    for (int i = 0; i < 4; ++i) a_quads[i] = quad(a_from + i / 2 * 64 * g.lda + i % 2 * 8);
#pragma unroll
    for (int i = 0; i < 4; ++i) b_quads[i] = quad(b_from + i * 4 * g.ldb);
  } else if (b_whole) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int down = i / 2 * 64, across = i % 2 * 8;
      a_quads[i] =
          cut_quad(a_from + down * g.lda + across, a_slice.left(a_row + down, a_col + across));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) b_quads[i] = quad(b_from + i * 4 * g.ldb);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int down = i / 2 * 64, across = i % 2 * 8;
      a_quads[i] =
          cut_quad(a_from + down * g.lda + across, a_slice.left(a_row + down, a_col + across));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      b_quads[i] = cut_quad(b_from + i * 4 * g.ldb, b_slice.left(b_row + i * 4, b_col));
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = a_row + i / 2 * 64, p = a_col + i % 2 * 8;
    a_tile[p + 0][row] = a_quads[i].x;
    a_tile[p + 1][row] = a_quads[i].y;
    a_tile[p + 2][row] = a_quads[i].z;
    a_tile[p + 3][row] = a_quads[i].w;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) quad(&b_tile[b_row + i * 4][b_col]) = b_quads[i];
}

__global__ void __launch_bounds__(Threads) warptiled(Gemm g) {
  alignas(16) __shared__ float a_tile[BK][BM + 4];
  alignas(16) __shared__ float b_tile[BK][BN];
  const Corner corner = block_corner<tile>(g);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int x = warp % (BN / WN) * WN + lane % LanesAcross * TN;  // of this thread's first tile
  const int y = warp / (BN / WN) * WM + lane / LanesAcross * TM;

  const std::int64_t k = depth(g);
  float sum[StepsM * TM][StepsN * TN] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += BK) {
    load_quads(g, corner, p0, thread, a_tile, b_tile);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      alignas(16) float a[StepsM * TM], b[StepsN * TN];
#pragma unroll
      for (int i = 0; i < StepsM * TM; i += 4) {
        quad(&a[i]) = quad(&a_tile[p][y + i / TM * StepM + i % TM]);
      }
#pragma unroll
      for (int j = 0; j < StepsN * TN; j += 4) {
        quad(&b[j]) = quad(&b_tile[p][x + j / TN * StepN + j % TN]);
      }
#pragma unroll
      for (int i = 0; i < StepsM * TM; ++i) {
#pragma unroll
        for (int j = 0; j < StepsN * TN; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < StepsM * TM; ++i) {
    const std::int64_t row = corner.row + y + i / TM * StepM + i % TM;
    finish_row_by_quads<StepN>(g, row, corner.col + x, sum[i]);
  }
}

cudaError_t launch_warptiled(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(warptiled, dim3(Threads), g, stream);
}

const Registrar registrar{{
    .name = "warptiled",
    .idea = "The block tile is split into warp tiles, and those into 8 x 4 tiles for each thread.",
    .launch = launch_warptiled,
    .needs = {.lda_multiple = 4, .ldb_multiple = 4, .a_alignment = 16, .b_alignment = 16},
    .order = Order::one_fma_chain,
    .tile = tile,
}};

}  // namespace
}  // namespace assay
