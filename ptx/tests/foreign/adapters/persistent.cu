#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/persistent.cuh"

int foreign::persistent(const Problem& p) {
  reset_tickets<<<1, 1>>>();
  sgemm_persistent<<<6, 128>>>(p.a_as<float>(), p.b_as<float>(), p.c, p.m, p.n, p.k, p.alpha,
                               p.beta);
  return cudaGetLastError();
}
