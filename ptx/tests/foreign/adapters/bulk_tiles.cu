#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/bulk_tiles.cuh"

int foreign::bulk_tiles(const Problem& p) {
  sgemm_bulk<<<dim3(p.n / 64, p.m / 16), 128>>>(p.a_as<float>(), p.b_as<float>(), p.c, p.m, p.n,
                                                p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
