// The vendor's kernel, in pedantic single precision: the competitor that every stage is measured
// against.
//
// cuBLAS knows only column-major matrices. A row-major matrix is the transpose of a column-major
// one, and the transpose of A * B is B^T * A^T. So cuBLAS gets B and A in this order, and nothing
// is transposed in memory.
//
// Assumes nothing. The order of its sums is its own.
// Wins nearly everywhere; at small sizes it leaves half of the arithmetic units idle.
#include <cublas_v2.h>

#include <algorithm>

#include "kernels/gemm.h"

namespace assay {
namespace {

cublasHandle_t make_handle() {
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return nullptr;
  cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  return handle;
}

// A launch that fails inside cuBLAS leaves its own error behind.
cudaError_t as_cuda_error(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return cudaSuccess;
  const cudaError_t recorded = cudaPeekAtLastError();
  return recorded != cudaSuccess ? recorded : cudaErrorUnknown;
}

// C = beta * C. cublasSgemm computes that too when k is 0, but fails (cuBLAS 13.1) when the rows of
// C lie 2^28 floats apart.
constexpr int Threads = 256;
constexpr Tile scale_tile = {1, Threads};
__global__ void scale_c(Gemm g) {
  const Corner corner = block_corner<scale_tile>(g);
  const std::int64_t col = corner.col + threadIdx.x;
  float* c = &g.c[corner.row * g.ldc + col];
  if (col < g.n) *c = blend(g, 0, c);
}

// With few rows or columns, cuBLAS 13.1 reads outside operands of 2^31 floats and more
// (docs/measured.md).
bool overflows_cublas(const Gemm& g) {
  constexpr std::int64_t reach = std::int64_t{1} << 31, few = 32;
  const std::int64_t last_row = g.m - 1;
  return std::min(g.m, g.n) <= few &&
         ((g.k - 1) * g.ldb >= reach || last_row * g.lda >= reach || last_row * g.ldc >= reach);
}

__global__ void multiply_line(Gemm g) {
  const Corner corner = block_corner<scale_tile>(g);
  const std::int64_t col = corner.col + threadIdx.x;
  if (col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < g.k; ++p) {
    sum = fmaf(g.a[corner.row * g.lda + p], g.b[p * g.ldb + col], sum);
  }
  float* c = &g.c[corner.row * g.ldc + col];
  *c = blend(g, sum, c);
}

cudaError_t launch_cublas(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (depth(g) == 0) return launch_tiles<scale_tile>(scale_c, dim3(Threads), g, stream);
  if (overflows_cublas(g)) return launch_tiles<scale_tile>(multiply_line, dim3(Threads), g, stream);
  thread_local const cublasHandle_t handle = make_handle();
  if (handle == nullptr) return cudaErrorInitializationError;
  if (cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
  const float beta = g.beta == 0 ? 0 : g.beta;  // where it is -0, cuBLAS 13.1 reads C
  return as_cuda_error(cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, g.n, g.m, g.k, &g.alpha,
                                      g.b, g.ldb, g.a, g.lda, &beta, g.c, g.ldc));
}

const Registrar registrar{{
    .name = "cublas",
    .idea = "cublasSgemm in pedantic mode.",
    .launch = launch_cublas,
}};

}  // namespace
}  // namespace assay
