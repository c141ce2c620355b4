// CUTLASS's GEMMs for Hopper, as its builders put them together.
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

#include "ptx/tests/foreign/foreign_gemm.h"

namespace {

using cute::_1, cute::_128, cute::_2, cute::_32, cute::_64, cute::Shape;
using Row = cutlass::layout::RowMajor;
using Sm90 = cutlass::arch::Sm90;
using TensorOp = cutlass::arch::OpClassTensorOp;
using cutlass::gemm::collective::StageCountAutoCarveout;

template <class Element, class Tile, class Cluster, class Mainloop, class Epilogue>
int gemm(const foreign::Problem& p) {
  constexpr int aligned = 16 / sizeof(Element);
  using Behind = typename cutlass::epilogue::collective::CollectiveBuilder<
      Sm90, TensorOp, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float,
      float, Row, 4, float, Row, 4, Epilogue>::CollectiveOp;
  using Main = typename cutlass::gemm::collective::CollectiveBuilder<
      Sm90, TensorOp, Element, Row, aligned, Element, Row, aligned, float, Tile, Cluster,
      StageCountAutoCarveout<sizeof(typename Behind::SharedStorage)>, Mainloop>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Main, Behind>;
  const auto of_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {p.m, p.k, 1});
  const auto of_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {p.n, p.k, 1});
  const auto of_c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {p.m, p.n, 1});
  cutlass::gemm::device::GemmUniversalAdapter<Kernel> made;
  const cutlass::Status status = made({cutlass::gemm::GemmUniversalMode::kGemm,
                                       {p.m, p.n, p.k, 1},
                                       {p.a_as<Element>(), of_a, p.b_as<Element>(), of_b},
                                       {{p.alpha, p.beta}, p.c, of_c, p.c, of_c}});
  return status == cutlass::Status::kSuccess ? cudaGetLastError() : cudaErrorUnknown;
}

}  // namespace

int foreign::cutlass_cooperative(const Problem& p) {
  return gemm<cutlass::half_t, Shape<_128, _128, _64>, Shape<_1, _1, _1>,
              cutlass::gemm::KernelTmaWarpSpecializedCooperative,
              cutlass::epilogue::NoSmemWarpSpecialized>(p);
}
int foreign::cutlass_pingpong(const Problem& p) {
  return gemm<cutlass::half_t, Shape<_64, _128, _64>, Shape<_2, _1, _1>,
              cutlass::gemm::KernelTmaWarpSpecializedPingpong,
              cutlass::epilogue::NoSmemWarpSpecialized>(p);
}
int foreign::cutlass_tf32(const Problem& p) {
  return gemm<cutlass::tfloat32_t, Shape<_64, _64, _32>, Shape<_1, _1, _1>,
              cutlass::gemm::KernelTmaWarpSpecialized, cutlass::gemm::EpilogueTransposed>(p);
}
