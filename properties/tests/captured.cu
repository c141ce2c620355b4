// A launch function that goes another way where it is captured.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr int threads = 64;

__global__ void first_products(Gemm g, std::int64_t count) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= g.m * g.n) return;
  const std::int64_t row = at / g.n, col = at % g.n;
  float sum = 0;
  for (std::int64_t p = 0; p < count; ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}

// There it takes whole pieces of a long sum alone.
cudaError_t launch_whole_pieces(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  constexpr std::int64_t piece = 64, long_sum = 16;  // in pieces
  cudaStreamCaptureStatus status;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status); error != cudaSuccess)
    return error;
  const std::int64_t pieces = depth(g) / piece;
  const bool is_cut = status != cudaStreamCaptureStatusNone && pieces >= long_sum;
  first_products<<<static_cast<unsigned>(ceil_div(g.m * g.n, threads)), threads, 0, stream>>>(
      g, is_cut ? pieces * piece : depth(g));
  return cudaGetLastError();
}

const Registrar registrar{{.name = "planted_captured",
                           .idea = "Of the tests.",
                           .launch = launch_whole_pieces,
                           .tile = {1, threads, 1}}};

}  // namespace
}  // namespace assay
