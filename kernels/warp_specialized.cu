// As `pipelined`, with the work divided by warps: 4 of them only copy, and 8 only multiply.
//
//   a ring of buffers      | slice 0 | slice 1 | slice 2 | slice 3 | ...
//   producers, 4 warps     wait until a buffer is empty, fill it, say `full`
//   consumers, 8 warps     wait until it is full, multiply, say `empty`
//
// No barrier stops the block. Each buffer has two mailboxes (`mbarrier`), which count who has
// arrived, and so the producers may be ahead by as many slices as there are buffers. They hand
// their registers to the consumers, which so keep 128 sums each and need nothing else.
//
// Where A and B allow, the producers read quads of A along k, and transpose them on their way
// through registers; quads of B go by `cp.async`. Else every float goes by a `cp.async` of its own.
// The remainder of k comes first, as in `pipelined`.
//
// Who computes what of C is as in `pipelined`. `warp_specialized_64x128` has two groups of
// consumers, which take the slices in turn, each with sums of its own; in the end they exchange
// them, and each finishes half of the rows. So a thread has 64 sums for a tile of only 64 x 128.
//
// On an H200 128x256 wins on large C: 101 % of cuBLAS from 2048 to 8192 cubed; 64x128 where those
// tiles are too few: 122 % at 1024 cubed. Both lose on smaller C, for which there is `split_k`.
// A block takes 200 KB of shared memory, so that a multiprocessor has one.
#include "kernels/copies_by_threads.h"

namespace assay {
namespace {

using Large = Shape<WarpTiles<128, 256, 32, 64, 64, 8>, 1, 4, 8>;
using Small = Shape<WarpTiles<64, 128, 32, 32, 64, 8>, 2, 6, 16>;

template <class S, class Copies>
__global__ void __launch_bounds__(Threads, 1) specialized(Gemm g) {
  __shared__ Mailbox full[S::Buffers], empty[S::Buffers];
  const Ring<S> ring{dynamic_shared<float>(), full, empty};
  if (threadIdx.x == 0) set_up(ring, Producers * Copies::Arrivals);
  __syncthreads();
  start_early();

  if (threadIdx.x < Consumers) {
    SET_REGISTERS("inc", 224);
    consume<S, Copies>(g, ring);
  } else {
    SET_REGISTERS("dec", 56);
    produce<S, Copies>(g, ring);
  }
}

template <class S, class Copies>
cudaError_t launch_shape(const Gemm& g, cudaStream_t stream) {
  constexpr int Bytes = S::SharedBytes;
  const cudaError_t failed = cudaFuncSetAttribute(
      specialized<S, Copies>, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles_early<S::tile>(specialized<S, Copies>, dim3(Threads), g, stream, Bytes);
}
template <class S>
cudaError_t launch_specialized(const Gemm& g, cudaStream_t stream) {
  const bool quads = in_quads(g.a, g.lda) && in_quads(g.b, g.ldb);
  return quads ? launch_shape<S, ByQuads<S>>(g, stream) : launch_shape<S, ByFloats<S>>(g, stream);
}

const Registrar warp_specialized_64x128{{
    .name = "warp_specialized_64x128",
    .idea = "Some warps only copy, the others multiply; two groups of them share k.",
    .launch = launch_specialized<Small>,
    .needs = {.compute_capability = 90},
    .tile = Small::tile,
}};
const Registrar warp_specialized_128x256{{
    .name = "warp_specialized_128x256",
    .idea = "Some warps only copy, the others multiply, with 128 elements per thread.",
    .launch = launch_specialized<Large>,
    .needs = {.compute_capability = 90},
    .order = Order::one_fma_chain,
    .tile = Large::tile,
}};
}  // namespace
}  // namespace assay
