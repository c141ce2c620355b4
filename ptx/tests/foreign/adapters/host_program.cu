#include <algorithm>
#include <vector>

#include "ptx/tests/foreign/foreign_gemm.h"
#include "ptx/tests/foreign/kernels/host_program.cuh"

int foreign::host_program(const Problem& p) {
  const std::vector<float> a(p.a_as<float>(), p.a_as<float>() + p.m * p.k),
      b(p.b_as<float>(), p.b_as<float>() + p.k * p.n);
  std::vector<float> c(p.c, p.c + p.m * p.n);
  run_sgemm_naive(p.m, p.n, p.k, p.alpha, a.data(), b.data(), p.beta, c.data());
  std::copy(c.begin(), c.end(), p.c);
  return cudaGetLastError();
}
