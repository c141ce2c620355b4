#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/inline_ptx.cuh"

int foreign::inline_ptx(const Problem& p) {
  sgemm_async<<<dim3(p.n / 32, p.m / 32), 64>>>(p.a_as<float>(), p.b_as<float>(), p.c, p.m, p.n,
                                                p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
