#include <cutlass/gemm/device/gemm.h>

#include "ptx/tests/foreign/foreign_gemm.h"

int foreign::cutlass_simt(const Problem& p) {
  using Row = cutlass::layout::RowMajor;
  using Gemm = cutlass::gemm::device::Gemm<float, Row, float, Row, float, Row, float,
                                           cutlass::arch::OpClassSimt, cutlass::arch::Sm50>;
  Gemm gemm;
  return static_cast<int>(gemm({{p.m, p.n, p.k},
                                {p.a_as<float>(), p.k},
                                {p.b_as<float>(), p.n},
                                {p.c, p.n},
                                {p.c, p.n},
                                {p.alpha, p.beta}}));
}
