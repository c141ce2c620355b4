#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/split_k.cuh"

int foreign::split_k(const Problem& p) {
  float* workspace = nullptr;
  cudaMalloc(&workspace, sizeof(float) * 3 * p.m * p.n);
  const dim3 grid((p.n + 15) / 16, (p.m + 7) / 8, 3);
  gemm_partial<<<grid, dim3(16, 8)>>>(p.a_as<float>(), p.b_as<float>(), workspace, p.m, p.n, p.k);
  gemm_reduce<<<2, 64>>>(workspace, p.c, p.m * p.n, 3, p.alpha, p.beta);
  return cudaFree(workspace);
}

int foreign::grid_sync(const Problem& p) {
  float *work = nullptr, alpha = p.alpha, beta = p.beta, *c = p.c;
  const float *a = p.a_as<float>(), *b = p.b_as<float>();
  int m = p.m, n = p.n, k = p.k, splits = 3;
  cudaMalloc(&work, sizeof(float) * splits * m * n);
  void* arguments[] = {&a, &b, &c, &work, &m, &n, &k, &splits, &alpha, &beta};
  cudaLaunchCooperativeKernel(gemm_grid_sync, dim3(5), dim3(64), arguments, 0, nullptr);
  return cudaFree(work);
}

int foreign::last_block(const Problem& p) {
  const dim3 grid((p.n + 15) / 16, (p.m + 7) / 8, 3);
  float* work = nullptr;
  unsigned* arrived = nullptr;
  cudaMalloc(&work, sizeof(float) * 3 * p.m * p.n);
  cudaMalloc(&arrived, sizeof(unsigned) * grid.x * grid.y);
  cudaMemset(arrived, 0, sizeof(unsigned) * grid.x * grid.y);
  gemm_last_block<<<grid, dim3(16, 8)>>>(p.a_as<float>(), p.b_as<float>(), p.c, work, arrived, p.m,
                                         p.n, p.k, p.alpha, p.beta);
  return cudaFree(work) + cudaFree(arrived);
}
