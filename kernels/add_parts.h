// The second step of stages that share the sums of C out to several blocks: their parts lie one
// after the other in the workspace, each m x n and packed, and are added up into C. It starts early
// where the kernel of the parts lets it.
//
// Promises: the parts of an element are always added in the same order, so that it has the same
// bits every time, which atomic additions to C would not give. Takes a C of less than 2^32
// elements.
#pragma once

#include "kernels/early_start.h"

namespace assay {
// A kernel of each file that includes it: by its name alone the gate finds in which cubin it is.
namespace {

// Each element's parts are shared out to the rows of a block, whose totals are then added.
constexpr int AddThreads = 256, FewParts = 8;

template <int Rows>
__global__ void __launch_bounds__(AddThreads) add_parts(Gemm g, const float* sums, int parts) {
  constexpr int Elements = AddThreads / Rows;
  __shared__ float totals[Rows][Elements];
  const int x = threadIdx.x % Elements, y = threadIdx.x / Elements;
  const auto n = static_cast<unsigned>(g.n), all = static_cast<unsigned>(g.m) * n;
  const unsigned element = blockIdx.x * Elements + x;
  float total = 0;
  wait_for_kernel_ahead();
  if (element < all) {
    const int end = (y + 1) * parts / Rows;
#pragma unroll 8
    for (int p = y * parts / Rows; p < end; ++p) total += sums[std::int64_t{p} * all + element];
  }
  totals[y][x] = total;
  __syncthreads();
  if (y > 0 || element >= all) return;
  for (int i = 1; i < Rows; ++i) total += totals[i][x];
  float* const c = g.c + element / n * g.ldc + element % n;
  *c = blend(g, total, c);
}

template <int Rows>
cudaError_t launch_add(const Gemm& g, const float* sums, int parts, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div(g.m * g.n, AddThreads / Rows));
  return launch_early(add_parts<Rows>, dim3(blocks), dim3(AddThreads), 0, stream, g, sums, parts);
}

// The problem of a part, the product alone; block y then adds y * m * n to `c`.
Gemm problem_of_parts(const Gemm& g, float* sums) {
  Gemm part = g;
  part.alpha = 1, part.beta = 0, part.c = sums, part.ldc = g.n;
  return part;
}
std::int64_t bytes_of_parts(const Gemm& g, std::int64_t parts) {
  return parts == 1 ? 0 : parts * g.m * g.n * std::int64_t{sizeof(float)};
}
cudaError_t launch_sum_of_parts(const Gemm& g, const float* sums, int parts, cudaStream_t stream) {
  return parts > FewParts ? launch_add<8>(g, sums, parts, stream)
                          : launch_add<1>(g, sums, parts, stream);
}

}  // namespace
}  // namespace assay
