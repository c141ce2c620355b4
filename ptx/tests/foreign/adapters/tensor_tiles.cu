#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/tensor_tiles.cuh"

int foreign::tensor_tiles(const Problem& p) {
  const CUtensorMap a = make_map(p.a_as<float>(), p.m, p.k, CU_TENSOR_MAP_SWIZZLE_128B),
                    b = make_map(p.b_as<float>(), p.k, p.n, CU_TENSOR_MAP_SWIZZLE_NONE),
                    c = make_map(p.c, p.m, p.n, CU_TENSOR_MAP_SWIZZLE_NONE);
  sgemm_tma<<<dim3((p.n + 31) / 32, (p.m + 31) / 32), dim3(32, 32)>>>(a, b, c, p.c, p.m, p.n, p.k,
                                                                      p.alpha, p.beta);
  return cudaGetLastError();
}
