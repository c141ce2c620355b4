#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/register_tiles.cuh"

int foreign::register_tiles(const Problem& p) {
  const dim3 grid(p.n / 64, p.m / 64);
  sgemm_register<64, 64, 8, 4, 4><<<grid, 256>>>(const_cast<float*>(p.a_as<float>()),
                                                 const_cast<float*>(p.b_as<float>()), p.c, p.m,
                                                 p.n, p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
