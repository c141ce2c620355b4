// The triple loop, on one core of the host: the definition of the product.
//
// Assumes that memory is the host's.
// Wins in being beyond doubt: every stage of the ladder promises its order of operations.
// Loses in speed against everything.
#include <cmath>

#include "kernels/gemm.h"

namespace assay {
namespace {

cudaError_t launch_cpu_loop(const Gemm& g, cudaStream_t) {
  const std::int64_t k = depth(g);
  for (std::int64_t row = 0; row < g.m; ++row) {
    for (std::int64_t col = 0; col < g.n; ++col) {
      float sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum = std::fma(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
      }
      float* c = &g.c[row * g.ldc + col];
      *c = blend(g, sum, c);
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
