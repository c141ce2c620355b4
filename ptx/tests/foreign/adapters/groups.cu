#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/groups.cuh"

int foreign::groups(const Problem& p) {
  gemm_groups<64><<<p.m, 128>>>(p.a_as<float>(), p.b_as<float>(), p.c, p.m, p.n, p.k, p.alpha,
                                p.beta);
  return cudaGetLastError();
}
