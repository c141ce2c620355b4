// As `warptiled`, but no thread waits for a slice of k: `cp.async` copies slices ahead, as
// kernels/copy_ahead.h tells. A block has 2 x 4 warps, and a thread tiles of 4 or 8 x 4.
//
// `pipelined_128x256` wins on large C: a thread's 128 sums need 6 quads at each p. On an H200 it
// has 96 to 99 % of cuBLAS from 2048 cubed on. It has 1 block for each multiprocessor.
// `pipelined_64x128`, with 32 sums, wins where those are too few, for C of up to some 1000 x 1000:
// 102 % of cuBLAS at 1024 cubed. Both lose where C is smaller still and k is long, with 3 % of
// cuBLAS at 128 x 128 x 16384: there, several blocks share a sum in `split_k`.
#include "kernels/copy_ahead.h"

namespace assay {
namespace {

using Large = CopyAhead<WarpTiles<128, 256, 16, 64, 64, 8>, 3>;
using Small = CopyAhead<WarpTiles<64, 128, 16, 32, 32, 4>, 4>;

template <class S, int Piece>
__global__ void __launch_bounds__(S::Threads) pipelined(Gemm g) {
  multiply_slices<S, Piece>(g, block_corner<S::tile>(g), 0, ceil_div(depth(g), S::BK));
}

template <class S, int Piece>
cudaError_t launch_shape(const Gemm& g, cudaStream_t stream) {
  constexpr int Bytes = S::SharedBytes;
  const cudaError_t failed =
      cudaFuncSetAttribute(pipelined<S, Piece>, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles<S::tile>(pipelined<S, Piece>, dim3(S::Threads), g, stream, Bytes);
}

template <class S>
cudaError_t launch_pipelined(const Gemm& g, cudaStream_t stream) {
  return b_in_quads(g) ? launch_shape<S, 4>(g, stream) : launch_shape<S, 1>(g, stream);
}

template <class S>
constexpr Variant variant(const char* name, const char* idea) {
  return {
      .name = name,
      .idea = idea,
      .launch = launch_pipelined<S>,
      .needs = {.compute_capability = 80},
      .order = Order::one_fma_chain,
      .tile = S::tile,
  };
}

const Registrar pipelined_64x128{
    variant<Small>("pipelined_64x128",
                   "cp.async copies slices ahead, through four buffers; 32 elements per thread.")};
const Registrar pipelined_128x256{variant<Large>(
    "pipelined_128x256",
    "cp.async copies slices ahead, through three buffers; 128 elements per thread.")};

}  // namespace
}  // namespace assay
