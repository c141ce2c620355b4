// What a producer copies of A and B where the copy engine (TMA) takes B (kernels/warp_roles.h): one
// thread of them has a box of B copied for each slice, and all transpose quads of A.
//
// A tensor map, which the launch makes, tells the engine where B lies. From it and two coordinates
// the engine copies a box of B, and fills with 0 what is outside: the remainder of k, which comes
// first and begins before B, and the columns past n. It counts bytes at the mailbox of the buffer.
// A is not for the engine, since it cannot transpose, and consumers that read A along k have its
// operands in one bank of registers too often.
//
// Takes what `is_for_engine` says: A, B, and their rows at multiples of 16 bytes. A map's own
// limits, 2^32 rows and columns and rows of 2^40 bytes, lie beyond what a GPU holds.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include "kernels/warp_roles.h"

namespace assay {

// Where the engine writes must be a multiple of 128 bytes.
__device__ inline float* ring_of_buffers() {
  extern __shared__ __align__(128) unsigned char ring_bytes[];
  return reinterpret_cast<float*>(ring_bytes);
}

// The engine's copies of B, one box for each slice from k = `first` on.
template <class S>
class Boxes {
  static_assert(S::BK * S::AStride * 4 % 128 == 0 && S::Floats * 4 % 128 == 0);

 public:
  static constexpr int Bytes = S::BK * S::BN * int{sizeof(float)};
  __device__ Boxes(const CUtensorMap& map, const Corner& corner, std::int64_t first)
      : map_(&map), col_(static_cast<int>(corner.col)), p_(static_cast<int>(first)) {}
  __device__ void start(float* slice, const Mailbox& full) {
    ON_SM_90(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(slice + S::BK * S::AStride)),
        "l"(map_), "r"(col_), "r"(p_), "r"(full.address())
        : "memory");
    p_ += S::BK;
  }

 private:
  const CUtensorMap* map_;
  int col_, p_;
};

inline bool is_for_engine(const Gemm& g) { return in_quads(g.a, g.lda) && in_quads(g.b, g.ldb); }

template <class S>
class ByEngine {
 public:
  using Tiles = S;
  static constexpr int Together = 4;  // along k
  static constexpr int Arrivals = 1;  // of each producer
  __device__ ByEngine(const Gemm& g, const Corner& corner, std::int64_t first, int thread,
                      const CUtensorMap& b)
      : a_(g, corner, first, thread), boxes_(b, corner, first), starts_boxes_(thread == 0) {}
  __device__ void fetch(const Along<S>& along) { a_.fetch(along); }
  __device__ void fill(float* slice, const Along<S>&, Mailbox& full) {
    if (starts_boxes_) boxes_.start(slice, full);
    a_.store(slice);
    if (starts_boxes_) {
      full.arrive_and_expect(Boxes<S>::Bytes);
    } else {
      full.arrive();
    }
  }

 private:
  TransposedQuads<S> a_;
  Boxes<S> boxes_;
  bool starts_boxes_;
};

// The driver's function, had from the runtime, so that nothing links the driver.
inline cudaError_t find_encoder(PFN_cuTensorMapEncodeTiled_v12000& encode) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t failed = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                              12000, cudaEnableDefault, &found);
  encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  return failed == cudaSuccess && function == nullptr ? cudaErrorSymbolNotFound : failed;
}

// How the engine finds B, k x n, and what it copies at a time.
template <class S>
cudaError_t encode_b(const Gemm& g, CUtensorMap& map) {
  if (depth(g) == 0 || g.m == 0 || g.n == 0) return cudaSuccess;  // nothing will be copied
  PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (const cudaError_t failed = find_encoder(encode); failed != cudaSuccess) return failed;
  const auto n = static_cast<cuuint64_t>(g.n), k = static_cast<cuuint64_t>(g.k);
  const std::int64_t floats = g.k > 1 ? g.ldb : ceil_div(g.n, 4) * 4;  // a single row may be far
  const cuuint64_t sizes[] = {n, k}, strides[] = {static_cast<cuuint64_t>(floats) * sizeof(float)};
  const cuuint32_t box[] = {S::BN, S::BK}, steps[] = {1, 1};
  const CUresult made =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(g.b), sizes, strides, box,
             steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace assay
