#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/wmma_tiles.cuh"

int foreign::wmma_tiles(const Problem& p) {
  hgemm_wmma<<<dim3(p.n / 32, p.m / 32), 128>>>(p.a_as<half>(), p.b_as<half>(), p.c, p.m, p.n, p.k,
                                                p.alpha, p.beta);
  return cudaGetLastError();
}
