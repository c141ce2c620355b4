// The triple loop, on one core of the host: the definition of the product. It sums a few columns of
// a row side by side, because one column alone would wait for memory at each of its products.
//
// Assumes that memory is the host's.
// Wins in being beyond doubt: every stage of the ladder promises its order of operations.
// Loses in speed against everything.
#include <cmath>

#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr std::int64_t columns = 64;  // summed side by side

cudaError_t launch_cpu_loop(const Gemm& g, cudaStream_t) {
  const std::int64_t k = depth(g);
  for (std::int64_t row = 0; row < g.m; ++row) {
    for (std::int64_t first = 0; first < g.n; first += columns) {
      const std::int64_t width = g.n - first < columns ? g.n - first : columns;
      float sums[columns] = {};
      for (std::int64_t p = 0; p < k; ++p) {
        const float a = g.a[row * g.lda + p];
        const float* b = &g.b[p * g.ldb + first];
        for (std::int64_t i = 0; i < width; ++i) sums[i] = std::fma(a, b[i], sums[i]);
      }
      float* c = &g.c[row * g.ldc + first];
      for (std::int64_t i = 0; i < width; ++i) c[i] = blend(g, sums[i], &c[i]);
    }
  }
  return cudaSuccess;
}

const Registrar registrar{
    {
        .name = "cpu_loop",
        .idea = "The sequential triple loop on one core of the host.",
        .launch = launch_cpu_loop,
        .order = Order::one_fma_chain,
    },
    Backend::host,
};

}  // namespace
}  // namespace assay
