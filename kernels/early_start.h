// For kernels that start before the one ahead of them in their stream has ended, so that their
// launch takes no time of its own: 1 us of each, on an H100.
//
//   the kernel ahead    let_next_start()      ...      its last write | ends
//   the next one              starts: what needs none of this      wait_for_kernel_ahead() | ...
//
// A stage's second kernel starts so behind its first; and the first one behind whatever the caller
// has launched, be it this stage once more. Every such kernel waits in each of its blocks, so that
// who waits for it has waited for all before it. A caller whose own kernel starts early and does
// not wait gives up that order for what comes behind it, too.
//
// Promises that after the wait all that the kernels ahead have written can be read. On a GPU older
// than sm_90 the next one starts when the kernel ahead has ended, as always.
#pragma once

#include "kernels/gemm.h"

namespace assay {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define AHEAD_OR_NEXT(what)
#else
#define AHEAD_OR_NEXT(what) asm volatile("griddepcontrol." what ";" ::: "memory")
#endif

__device__ inline void let_next_start() { AHEAD_OR_NEXT("launch_dependents"); }
__device__ inline void wait_for_kernel_ahead() { AHEAD_OR_NEXT("wait"); }

// First in a kernel that needs at once what the ones ahead have written. It has waited before the
// next one starts, which so finds finished all but this kernel.
__device__ inline void start_early() {
  wait_for_kernel_ahead();
  let_next_start();
}

inline bool kernels_start_early() {
  int device = 0, major = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= 9;
}

template <class... Params>
cudaError_t launch_early(void (*kernel)(Params...), dim3 grid, dim3 block, std::size_t shared_bytes,
                         cudaStream_t stream, std::type_identity_t<Params>... args) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = kernels_start_early() ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

// As `launch_tiles`.
template <Tile tile, class... More>
cudaError_t launch_tiles_early(void (*kernel)(Gemm, More...), dim3 block, const Gemm& g,
                               cudaStream_t stream, std::size_t shared_bytes = 0, int parts = 1,
                               const std::type_identity_t<More>&... more) {
  return with_grid_of_tiles<tile>(g, parts, [&](dim3 grid) {
    return launch_early(kernel, grid, block, shared_bytes, stream, g, more...);
  });
}

}  // namespace assay
