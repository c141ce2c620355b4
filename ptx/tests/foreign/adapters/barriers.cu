#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/barriers.cuh"

int foreign::barriers(const Problem& p) {
  gemm_specialised<16><<<dim3(p.n / 16, p.m / 16), 128>>>(p.a_as<float>(), p.b_as<float>(), p.c,
                                                          p.m, p.n, p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
