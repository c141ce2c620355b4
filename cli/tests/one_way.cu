// Right kernels with a comparison that no case drives both ways, and one wrong behind a branch.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr Tile tile = {16, 16};

__device__ void finish(const Gemm& g, std::int64_t row, std::int64_t col) {
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  g.c[row * g.ldc + col] = blend(g, sum, &g.c[row * g.ldc + col]);
}

__global__ void one_way(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  if (g.m - g.k == std::int64_t{1} << 50) return;
  finish(g, row, col);
}

__global__ void accepted(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  // one way only: no matrix is as large
  if (g.m - g.k == std::int64_t{1} << 50) return;
  finish(g, row, col);
}

__global__ void behind_a_branch(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  finish(g, row, col);
  if (g.k >= 2048) g.c[row * g.ldc + col] += 1;
}

template <void (*kernel)(Gemm)>
cudaError_t launch_it(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(kernel, dim3(tile.n, tile.m), g, stream);
}

const Registrar registrars[] = {
    {{.name = "one_way", .idea = "Never leaves.", .launch = launch_it<one_way>, .tile = tile}},
    {{.name = "accepted", .idea = "Says so.", .launch = launch_it<accepted>, .tile = tile}},
    {{.name = "behind_a_branch",
      .idea = "Adds 1 to deep results.",
      .launch = launch_it<behind_a_branch>,
      .tile = tile}}};

}  // namespace
}  // namespace assay
