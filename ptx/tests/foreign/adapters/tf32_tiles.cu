#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/tf32_tiles.cuh"

int foreign::tf32_tiles(const Problem& p) {
  const int warps = p.m / 16 * (p.n / 8);
  sgemm_tf32<<<(warps + 3) / 4, 128>>>(p.a_as<float>(), p.b_as<float>(), p.c, p.m, p.n, p.k,
                                       p.alpha, p.beta);
  return cudaGetLastError();
}
