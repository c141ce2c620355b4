#include "ptx/counts/tests/worked_example.h"

#include <cuda_runtime.h>

namespace worked_example {
namespace {

constexpr int T = 4;

// One thread for each element. The test finds these lines by their comments.
template <bool x_walks_columns>
__global__ void naive(const float* a, const float* b, float* c) {
  const int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  const int row = x_walks_columns ? y : x, col = x_walks_columns ? x : y;
  float sum = 0;
  for (int p = 0; p < n; ++p) {
    const float left = a[row * n + p];   // reads A
    const float right = b[p * n + col];  // reads B
    sum = fmaf(left, right, sum);
  }
  c[row * n + col] = sum;  // writes C
}

__global__ void tiled(const float* a, const float* b, float* c) {
  __shared__ float a_tile[T][T], b_tile[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int p0 = 0; p0 < n; p0 += T) {
    a_tile[y][x] = a[row * n + p0 + x];
    b_tile[y][x] = b[(p0 + y) * n + col];
    __syncthreads();
    for (int p = 0; p < T; ++p) sum = fmaf(a_tile[y][p], b_tile[p][x], sum);
    __syncthreads();
  }
  c[row * n + col] = sum;
}

}  // namespace

int multiply(Kernel kernel, const float* a, const float* b, float* c) {
  constexpr int bytes = n * n * sizeof(float);
  float* on_device[3];
  for (float*& matrix : on_device) {
    if (const cudaError_t error = cudaMalloc(&matrix, bytes)) return error;
  }
  cudaMemcpy(on_device[0], a, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(on_device[1], b, bytes, cudaMemcpyHostToDevice);
  const auto chosen = kernel == Kernel::tiled             ? tiled
                      : kernel == Kernel::x_walks_columns ? naive<true>
                                                          : naive<false>;
  chosen<<<dim3(n / T, n / T), dim3(T, T)>>>(on_device[0], on_device[1], on_device[2]);
  const cudaError_t error = cudaGetLastError();
  cudaMemcpy(c, on_device[2], bytes, cudaMemcpyDeviceToHost);
  for (float* matrix : on_device) cudaFree(matrix);
  return error;
}

}  // namespace worked_example
