// Each warp says that a stage is free while its products may still read it.
#define ARRIVE_TOO_EARLY
#define sgemm_wgmma sgemm_wgmma_too_early
#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/wgmma_tiles.cuh"

int foreign::wgmma_tiles_too_early(const Problem& p) {
  return run_sgemm_wgmma(p.a_as<float>(), p.k, p.b_as<float>(), p.n, p.c, p.n, p.m, p.n, p.k,
                         p.alpha, p.beta, nullptr);
}
