// Eigen's product, on the host: what a good CPU library makes of the same problem.
//
// Assumes that memory is the host's.
// Wins against `cpu_loop` by blocking for the caches and by using the vector unit.
// Loses to it in predictability: Eigen chooses its own order of summation.
#include <Eigen/Core>

#include "kernels/gemm.h"

namespace assay {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;
using Operand = Eigen::Map<const RowMajor, Eigen::Unaligned, Stride>;
using Result = Eigen::Map<RowMajor, Eigen::Unaligned, Stride>;

cudaError_t launch_eigen(const Gemm& g, cudaStream_t) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  Result c(g.c, g.m, g.n, Stride(g.ldc));
  if (g.beta == 0) {
    c.setZero();  // C may hold NaN, which a multiplication by 0 would keep
  } else {
    c *= g.beta;
  }
  if (depth(g) == 0) return cudaSuccess;
  const Operand a(g.a, g.m, g.k, Stride(g.lda));
  const Operand b(g.b, g.k, g.n, Stride(g.ldb));
  // Not in C itself: there, each of many small products would be rounded as C is.
  const RowMajor product = a * b;
  c += g.alpha * product;
  return cudaSuccess;
}

const Registrar registrar{
    {
        .name = "eigen",
        .idea = "Eigen's single precision product on the host.",
        .launch = launch_eigen,
    },
    Backend::host,
};

}  // namespace
}  // namespace assay
