#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/pipelined.cuh"

int foreign::pipelined(const Problem& p) {
  gemm_pipeline<3, 16><<<dim3(p.n / 16, p.m / 16), dim3(16, 16)>>>(
      p.a_as<float>(), p.b_as<float>(), p.c, p.m, p.n, p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
