// For C of few tiles: a block for each would leave multiprocessors idle, and so several blocks
// share the sum of a tile. The copies run ahead as in `pipelined` (kernels/copy_ahead.h).
//
//   k:           | part 0 | part 1 | part 2 | ...     a block for each part of each tile
//   workspace:   | C of part 0 | C of part 1 | ...    m x n each, packed
//   then         C = alpha * (part 0 + part 1 + ...) + beta * C, in a kernel of its own
//
// The parts of an element are always added in the same order, so that it has the same bits every
// time, which atomic additions to C would not give.
//
// Takes any alignment. Where there are tiles enough, or k is short, there is one part: it goes to
// C, and no workspace is taken.
#include "kernels/add_parts.h"
#include "kernels/copy_ahead.h"

namespace assay {
namespace {

using Wide = CopyAhead<WarpTiles<64, 128, 16, 32, 32, 4>, 4, 4>;
using Square = CopyAhead<WarpTiles<64, 64, 16, 32, 32, 4>, 4, 4>;
using Short = CopyAhead<WarpTiles<32, 64, 16, 16, 32, 4>, 4, 4>;

// How many parts: one block for each multiprocessor of an H200, or two if parts stay long enough to
// pay for their addition. Another GPU loses speed by it, no more.
template <class S>
std::int64_t parts_of(const Gemm& g) {
  constexpr std::int64_t Multiprocessors = 132, LongPart = 16, ShortestPart = 2;  // in slices
  if (g.m == 0 || g.n == 0) return 1;
  const std::int64_t slices = ceil_div(depth(g), S::BK);
  const auto parts_for = [&](std::int64_t blocks) {
    return blocks / ceil_div(g.m, S::BM) / ceil_div(g.n, S::BN);
  };
  if (parts_for(Multiprocessors * 3 / 4) == 0) return 1;  // tiles enough
  std::int64_t parts = parts_for(2 * Multiprocessors);
  if (slices < parts * LongPart) parts = parts_for(Multiprocessors);
  if (slices < parts * ShortestPart) parts = slices / ShortestPart;
  return parts > 1 ? parts : 1;
}

template <class S, int Piece>
__global__ void __launch_bounds__(S::Threads) multiply_part(Gemm g) {
  start_early();
  const std::int64_t part = blockIdx.y, parts = gridDim.y, slices = ceil_div(depth(g), S::BK);
  g.c += part * g.m * g.n;
  multiply_slices<S, Piece>(g, block_corner<S::tile>(g), part * slices / parts,
                            (part + 1) * slices / parts);
}

template <class S, int Piece>
cudaError_t launch_parts(const Gemm& g, int parts, cudaStream_t stream) {
  constexpr int Bytes = S::SharedBytes;
  const cudaError_t failed = cudaFuncSetAttribute(
      multiply_part<S, Piece>, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles_early<S::tile>(multiply_part<S, Piece>, dim3(S::Threads), g, stream, Bytes,
                                     parts);
}

template <class S>
cudaError_t launch_shape(const Gemm& g, cudaStream_t stream, void* workspace) {
  const int parts = static_cast<int>(parts_of<S>(g));
  auto* const sums = static_cast<float*>(workspace);
  const Gemm part = parts == 1 ? g : problem_of_parts(g, sums);
  const cudaError_t failed = b_in_quads(g) ? launch_parts<S, 4>(part, parts, stream)
                                           : launch_parts<S, 1>(part, parts, stream);
  if (failed != cudaSuccess || parts == 1) return failed;
  return launch_sum_of_parts(g, sums, parts, stream);
}

// Calls `with` for the tile that suits a problem.
template <class With>
auto with_shape_for(const Gemm& g, const With& with) {
  const double products =
      static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  if (g.m <= Short::BM) return with(Short{});
  return g.n <= Square::BN || products <= 0x1p26 ? with(Square{}) : with(Wide{});
}

cudaError_t launch_split_k(const Gemm& g, cudaStream_t stream, void* workspace) {
  return with_shape_for(
      g, [&](auto shape) { return launch_shape<decltype(shape)>(g, stream, workspace); });
}

std::int64_t workspace_of_split_k(const Gemm& g) {
  const std::int64_t parts =
      with_shape_for(g, [&](auto shape) { return parts_of<decltype(shape)>(g); });
  return bytes_of_parts(g, parts);
}

const Registrar registrar{{
    .name = "split_k",
    .idea = "Several blocks share the sum of a tile of C, and their parts are added in order.",
    .launch = launch_split_k,
    .needs = {.compute_capability = 80},
    .tile = Wide::tile,
    .workspace = workspace_of_split_k,
}};

}  // namespace
}  // namespace assay
