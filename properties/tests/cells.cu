// A kernel that is wrong in one cell of a table by the sizes of a problem, for the tests of aimed
// cases: there it leaves out the last product of each element.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr Tile tile = {16, 16, 16};
constexpr int side = 8, of_m[side] = {0, 0, 0, 0, 0, 0, 1, 0},
              of_n[side] = {0, 0, 0, 0, 1, 0, 0, 0}, of_k[4] = {0, 0, 1, 0};

__global__ void multiply(Gemm g, std::int64_t k) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}

cudaError_t launch_by_table(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  std::int64_t k = depth(g);
  if (g.m <= side && g.n <= side && k > 0)
    k -= of_m[g.m - 1] * of_n[g.n - 1] * of_k[k < 64 ? 0 : k < 512 ? 1 : k < 4096 ? 2 : 3];
  const auto blocks = static_cast<unsigned>(ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n));
  return launch(multiply, blocks, dim3(tile.n, tile.m), 0, stream, g, k);
}

const Registrar registrar = {{.name = "planted_cell",
                              .idea = "Wrong in one cell of a table.",
                              .launch = launch_by_table,
                              .tile = tile}};

}  // namespace
}  // namespace assay
