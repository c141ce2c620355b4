// As `vectorized`, with one level more: the tile of the block is split into a tile of WM x WN for
// each warp, and that into tiles of TM x TN for its threads. Until now a warp was two rows of 16
// threads over the whole width of the block tile; in a compact shape it needs less of A and B.
//
// A warp of 4 x 8 threads covers 32 x 32 elements in one step, and takes 2 x 2 steps. So a thread
// has four tiles of 8 x 4, 128 sums in all, for which it loads 6 quads at each p. A shared load of
// the warp touches 128 bytes or fewer, and a store fills 128 bytes in each of 4 rows.
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

__global__ void __launch_bounds__(Threads) warptiled(Gemm g) {
  // A lies transposed; 4 floats more in a row let a warp write to it without bank conflicts.
  alignas(16) __shared__ float a_tile[BK][BM + 4];
  alignas(16) __shared__ float b_tile[BK][BN];
  const Corner corner = block_corner<tile>(g);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int x = warp % (BN / WN) * WN + lane % LanesAcross * TN;  // of this thread's first tile
  const int y = warp / (BN / WN) * WM + lane / LanesAcross * TM;

  Quads<BM, BK, 2, Threads> a_quads(thread);
  Quads<BK, BN, BN / 4, Threads> b_quads(thread);

  const std::int64_t k = depth(g);
  float sum[StepsM * TM][StepsN * TN] = {};
  for (std::int64_t p0 = 0; p0 < k; p0 += BK) {
    a_quads.load(window_of_a(g, corner.row, p0));
    b_quads.load(window_of_b(g, p0, corner.col));
    a_quads.store_transposed(a_tile);
    b_quads.store(b_tile);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BK; ++p) {
      alignas(16) float a[StepsM * TM], b[StepsN * TN];
#pragma unroll
      for (int i = 0; i < StepsM * TM; i += 4) {
        copy_quad(&a[i], &a_tile[p][y + i / TM * StepM + i % TM]);
      }
#pragma unroll
      for (int j = 0; j < StepsN * TN; j += 4) {
        copy_quad(&b[j], &b_tile[p][x + j / TN * StepN + j % TN]);
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
