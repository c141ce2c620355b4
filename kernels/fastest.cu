// The stage to call where the others are to learn from: it chooses the one among them that suits
// the shape of C.
//
//   m up to 16, n up to 32            few_rows, few_columns   load the large matrix once
//   of these, n over 16, k over 64, and over 2^28 products: stream_k, whose tiles are as thin
//   up to 132 strips of 8 x 32, k up to 1024      few_rows    needs no second kernel
//   k up to 64                        split_k, and pipelined_128x256 where its waves are shorter
//   up to 2^28 products, or 24 tiles  split_k                 has the smallest tiles
//   one wave of 100 tiles of 64 x 128 or more     tma_hybrid_64x128
//   all others                        stream_k                leaves no multiprocessor idle
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

constexpr std::int64_t Multiprocessors = 132;  // of an H200

std::int64_t tiles(const Gemm& g, const Variant& stage) {
  return ceil_div(g.m, stage.tile.m) * ceil_div(g.n, stage.tile.n);
}

// How often an H200 is filled with tiles, the last time perhaps not wholly.
double waves(const Gemm& g, const Variant& stage) {
  return static_cast<double>(ceil_div(tiles(g, stage), Multiprocessors));
}

// As the copy engine takes A and B.
bool are_in_quads(const Gemm& g) {
  const auto address = [](const float* p) { return reinterpret_cast<std::uintptr_t>(p); };
  return (g.lda | g.ldb) % 4 == 0 && (address(g.a) | address(g.b)) % 16 == 0;
}

// Whether the strips of `few_rows` for more than 32 rows fill an H200 once at most: two have room
// on each multiprocessor.
bool is_one_wave_of_strips(const Gemm& g) {
  return ceil_div(g.m, 8) * ceil_div(g.n, 32) <= 2 * Multiprocessors;
}

double products(const Gemm& g) {
  return static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}

const Variant& choice(const Gemm& g) {
  static const Variant few_rows = registered("few_rows"), few_columns = registered("few_columns"),
                       split_k = registered("split_k"), stream_k = registered("stream_k"),
                       small_tiles = registered("warp_specialized_64x128"),
                       small_tiles_in_quads = registered("tma_hybrid_64x128"),
                       large_tiles_short_k = registered("pipelined_128x256");
  constexpr double WaveOfLarge = 3.7;  // in waves of small tiles: four have its elements
  constexpr std::int64_t FewRows = 16, FewColumns = 16, ShortK = 64, FewTiles = 24,
                         NearlyAWave = 100, ManyRows = 32, LongestOfStrips = 1024;
  constexpr double FewProducts = 0x1p28;

  if (g.m <= FewRows && g.m <= g.n) return few_rows;
  if (g.n <= few_columns.needs.n_most) {
    const bool many = g.n > FewColumns && g.k > ShortK && products(g) > FewProducts;
    return many ? stream_k : few_columns;
  }
  if (g.m > ManyRows && g.k <= LongestOfStrips && is_one_wave_of_strips(g)) return few_rows;
  if (g.k <= ShortK) {
    const bool large = waves(g, large_tiles_short_k) * WaveOfLarge <= waves(g, small_tiles);
    return large ? large_tiles_short_k : split_k;
  }
  if (products(g) <= FewProducts || tiles(g, small_tiles) < FewTiles) return split_k;
  if (tiles(g, small_tiles) >= NearlyAWave && waves(g, small_tiles) == 1)
    return are_in_quads(g) ? small_tiles_in_quads : small_tiles;
  return stream_k;
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
