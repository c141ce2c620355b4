#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/half2_math.cuh"

int foreign::half2_math(const Problem& p) {
  hgemm_half2<<<dim3((p.n + 63) / 64, (p.m + 7) / 8), dim3(32, 8)>>>(
      p.a_as<__half>(), p.b_as<__half>(), p.c, p.m, p.n, p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
