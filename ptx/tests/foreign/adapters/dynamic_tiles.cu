#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/dynamic_tiles.cuh"

int foreign::dynamic_tiles(const Problem& p) {
  const dim3 grid((p.n + 15) / 16, (p.m + 15) / 16);
  gemm_dynamic<float, 16><<<grid, 256, 2 * 16 * 17 * sizeof(float)>>>(
      p.a_as<float>(), p.b_as<float>(), p.c, p.m, p.n, p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
