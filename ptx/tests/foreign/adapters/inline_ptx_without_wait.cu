// The wait lets the slice that is read next be on its way still.
#define WAIT_COUNT 2
#define sgemm_async sgemm_async_without_wait
#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/inline_ptx.cuh"

int foreign::inline_ptx_without_wait(const Problem& p) {
  sgemm_async<<<dim3(p.n / 32, p.m / 32), 64>>>(p.a_as<float>(), p.b_as<float>(), p.c, p.m, p.n,
                                                p.k, p.alpha, p.beta);
  return cudaGetLastError();
}
