#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/texture_tiles.cuh"

int foreign::texture_tiles(const Problem& p) {
  return run_sgemm_tex(p.m, p.n, p.k, p.alpha, p.a_as<float>(), p.k, p.b_as<float>(), p.n, p.beta,
                       p.c, p.n, nullptr);
}
