#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/mma_tiles.cuh"

int foreign::mma_tiles(const Problem& p) {
  hgemm_mma<<<dim3(p.n / 64, (p.m + 63) / 64), 128>>>(p.a_as<half>(), p.b_as<half>(), p.c, p.m,
                                                      p.n, p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
