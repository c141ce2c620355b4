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
// Takes what maps and quads do: A, B, and their rows at multiples of 16 bytes. A map's own limits,
// 2^32 rows and columns and rows of 2^40 bytes, lie beyond what a GPU holds.
//
// Wins over `warp_specialized`, whose producers issue a copy for each quad of B: by 2 % with large
// tiles, 4 to 6 % with small ones. An H200 has 128 % of cuBLAS at 1024 cubed. Loses where
// `split_k` has more blocks. A block takes 200 KB of shared memory, so a multiprocessor has one.
#include "kernels/copies_by_engine.h"

namespace assay {
namespace {

struct Large : Shape<WarpTiles<128, 256, 32, 64, 64, 8>, 1, 4, 8> {
  static constexpr bool InTurns = true;
};
using Small = Shape<WarpTiles<64, 128, 32, 32, 64, 8>, 2, 6, 16>;

template <class S>
__global__ void __launch_bounds__(Threads, 1)
    hybrid(Gemm g, const __grid_constant__ CUtensorMap b) {
  __shared__ Mailbox full[S::Buffers], empty[S::Buffers];
  const Ring<S> ring{ring_of_buffers(), full, empty};
  if (threadIdx.x == 0) {
    set_up(ring, Producers);
    ON_SM_90("fence.mbarrier_init.release.cluster;" ::: "memory");  // the engine sees them too
  }
  __syncthreads();
  start_early();

  if (threadIdx.x < Consumers) {
    SET_REGISTERS("inc", 224);
    consume<S, ByEngine<S>>(g, ring);
  } else {
    SET_REGISTERS("dec", 56);
    produce<S, ByEngine<S>>(g, ring, b);
  }
}

template <class S>
cudaError_t launch_hybrid(const Gemm& g, cudaStream_t stream) {
  CUtensorMap b{};
  if (const cudaError_t failed = encode_b<S>(g, b); failed != cudaSuccess) return failed;
  constexpr int Bytes = S::SharedBytes;
  const cudaError_t failed =
      cudaFuncSetAttribute(hybrid<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles_early<S::tile>(hybrid<S>, dim3(Threads), g, stream, Bytes, 1, b);
}

constexpr Needs InQuads = {.lda_multiple = 4,
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
