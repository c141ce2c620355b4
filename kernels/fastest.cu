// The stage to call where the others are to learn from: it chooses the one among them that suits
// the shape of C.
//
//   m or n up to 32                     few_rows, few_columns      load the large matrix once
//   fewer than 100 tiles of 64 x 128    split_k                    for all multiprocessors
//   waves of 128 x 256 take less time   tma_hybrid_128x256         of k up to 64 pipelined_128x256
//   those of 64 x 128 do                tma_hybrid_64x128          of k up to 64 split_k
//
// Where rows are not in quads, which the copy engine takes, warp_specialized stands in for
// tma_hybrid. So it takes any problem and any alignment, and the workspace of the stage that it
// chose. It has no kernels of its own, and calls those that the files of the other stages have
// registered.
//
// The rule is for an H200: docs/measured.md has the measurements behind it, and tells of what there
// are none.
#include "kernels/gemm.h"

namespace assay {
namespace {

std::int64_t tiles(const Gemm& g, const Variant& stage) {
  return ceil_div(g.m, stage.tile.m) * ceil_div(g.n, stage.tile.n);
}

// How often an H200 is filled with tiles, the last time perhaps not wholly.
double waves(const Gemm& g, const Variant& stage) {
  constexpr std::int64_t Multiprocessors = 132;
  return static_cast<double>(ceil_div(tiles(g, stage), Multiprocessors));
}

// As the copy engine takes A and B.
bool are_in_quads(const Gemm& g) {
  const auto address = [](const float* p) { return reinterpret_cast<std::uintptr_t>(p); };
  return (g.k | g.lda | g.ldb) % 4 == 0 && (address(g.a) | address(g.b)) % 16 == 0;
}

const Variant& choice(const Gemm& g) {
  static const Variant few_rows = registered("few_rows"), few_columns = registered("few_columns"),
                       split_k = registered("split_k"),
                       small_tiles = registered("warp_specialized_64x128"),
                       large_tiles = registered("warp_specialized_128x256"),
                       small_tiles_in_quads = registered("tma_hybrid_64x128"),
                       large_tiles_in_quads = registered("tma_hybrid_128x256"),
                       large_tiles_short_k = registered("pipelined_128x256");
  constexpr double WaveOfLarge = 3.7;  // in waves of small tiles: four have its elements
  constexpr std::int64_t Enough = 100, ShortK = 64;

  if (g.m <= few_rows.needs.m_most && g.m <= g.n) return few_rows;
  if (g.n <= few_columns.needs.n_most) return few_columns;
  if (tiles(g, small_tiles) < Enough) return split_k;
  if (waves(g, large_tiles) * WaveOfLarge > waves(g, small_tiles)) {
    if (g.k <= ShortK) return split_k;
    return are_in_quads(g) ? small_tiles_in_quads : small_tiles;
  }
  if (g.k <= ShortK) return large_tiles_short_k;
  return are_in_quads(g) ? large_tiles_in_quads : large_tiles;
}

cudaError_t launch_fastest(const Gemm& g, cudaStream_t stream, void* workspace) {
  return choice(g).launch(g, stream, workspace);
}

std::int64_t workspace_of_fastest(const Gemm& g) {
  const Variant& chosen = choice(g);
  return chosen.workspace == nullptr ? 0 : chosen.workspace(g);
}

const Registrar registrar{{
    .name = "fastest",
    .idea = "Chooses the stage that suits the shape of C.",
    .launch = launch_fastest,
    .needs = {.compute_capability = 90},
    .tile = {128, 256, 32},
    .workspace = workspace_of_fastest,
}};

}  // namespace
}  // namespace assay
