// As `warp_specialized`, but B goes by the copy engine (TMA), and no thread copies it.
//
//   A   4 warps of producers   quads along k -> registers -> transposed into the buffer -> `full`
//   B   one thread of them     "rows p to p + 32, columns of the tile" -> the engine -> `full`
//   C   8 warps of consumers   wait until all of A and every byte of B is there, and multiply
//
// A tensor map, which the launch makes, tells the engine where B lies. From it and two coordinates
// the engine copies a box of B, and fills with 0 what is outside: the remainder of k, which comes
// first and begins before B, and the columns past n. It counts bytes at the mailbox of the buffer.
// A is not for the engine, since it cannot transpose, and consumers that read A along k have its
// operands in one bank of registers too often.
//
// Takes what maps and quads do: A, B, and their rows at multiples of 16 bytes, and k of 4. A map's
// own limits, 2^32 rows and columns and rows of 2^40 bytes, lie beyond what a GPU holds.
//
// Wins over `warp_specialized`, whose producers issue a copy for each quad of B: by 0.5 to 1 % with
// large tiles, 4 to 6 % with small ones. An H200 has 129 % of cuBLAS at 1024 cubed. Loses where
// `split_k` has more blocks. A block takes 200 KB of shared memory, so a multiprocessor has one.
#include <cuda.h>
#include <cudaTypedefs.h>

#include "kernels/warp_roles.h"

namespace assay {
namespace {

using Large = Shape<WarpTiles<128, 256, 32, 64, 64, 8>, 1, 4, 8>;
using Small = Shape<WarpTiles<64, 128, 32, 32, 64, 8>, 2, 6, 16>;

// Where the engine writes must be a multiple of 128 bytes.
__device__ float* ring_of_buffers() {
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

template <class S>
__device__ void produce(const Gemm& g, const CUtensorMap& b, float* ring, Mailbox* full,
                        Mailbox* empty) {
  const int slices = count_slices<S>(g), thread = threadIdx.x - Consumers;
  int missing = static_cast<int>(std::int64_t{slices} * S::BK - depth(g));
  const Corner corner = block_corner<S::tile>(g);
  TransposedQuads<S> a(g, corner, -missing, thread);
  Boxes<S> boxes(b, corner, -missing);
  Place<S> at;
#pragma unroll 1
  for (int s = 0; s < slices; ++s, at.advance(1), missing = 0) {
    float* const slice = ring + at.buffer * S::Floats;
    a.fetch(missing);
    empty[at.buffer].wait(at.round ^ 1);  // in the first round there is nothing to wait for
    if (thread == 0) boxes.start(slice, full[at.buffer]);
    a.store(slice);
    if (thread == 0) {
      full[at.buffer].arrive_and_expect(Boxes<S>::Bytes);
    } else {
      full[at.buffer].arrive();
    }
  }
}

template <class S>
__global__ void __launch_bounds__(Threads, 1)
    hybrid(Gemm g, const __grid_constant__ CUtensorMap b) {
  float* const ring = ring_of_buffers();
  __shared__ Mailbox full[S::Buffers], empty[S::Buffers];
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::Buffers; ++i) {
      full[i].expect(Producers);
      empty[i].expect(S::GroupThreads / 32);
    }
    ON_SM_90("fence.mbarrier_init.release.cluster;" ::: "memory");  // the engine sees them too
  }
  __syncthreads();

  if (threadIdx.x < Consumers) {
    SET_REGISTERS("inc", 224);
    consume<S>(g, ring, full, empty);
  } else {
    SET_REGISTERS("dec", 56);
    produce<S>(g, b, ring, full, empty);
  }
}

// The driver's function, had from the runtime, so that nothing links the driver.
cudaError_t find_encoder(PFN_cuTensorMapEncodeTiled_v12000& encode) {
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

template <class S>
cudaError_t launch_hybrid(const Gemm& g, cudaStream_t stream) {
  CUtensorMap b{};
  if (const cudaError_t failed = encode_b<S>(g, b); failed != cudaSuccess) return failed;
  constexpr int Bytes = S::SharedBytes;
  const cudaError_t failed =
      cudaFuncSetAttribute(hybrid<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles<S::tile>(hybrid<S>, dim3(Threads), g, stream, Bytes, 1, b);
}

constexpr Needs InQuads = {.k_multiple = 4,
                           .lda_multiple = 4,
                           .ldb_multiple = 4,
                           .a_alignment = 16,
                           .b_alignment = 16,
                           .compute_capability = 90};

const Registrar tma_hybrid_64x128{{
    .name = "tma_hybrid_64x128",
    .idea = "The copy engine brings B, producers transpose A; two groups of consumers share k.",
    .launch = launch_hybrid<Small>,
    .needs = InQuads,
    .tile = Small::tile,
}};
const Registrar tma_hybrid_128x256{{
    .name = "tma_hybrid_128x256",
    .idea = "The copy engine brings B, producers transpose A, with 128 elements per thread.",
    .launch = launch_hybrid<Large>,
    .needs = InQuads,
    .order = Order::one_fma_chain,
    .tile = Large::tile,
}};
}  // namespace
}  // namespace assay
