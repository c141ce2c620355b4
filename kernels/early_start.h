// For a kernel that another prepares: it starts before the one ahead of it in its stream has ended,
// so that its launch takes no time of its own.
//
//   the kernel ahead    let_next_start()      ...      its last write | ends
//   the next one              starts: what needs none of this      wait_for_kernel_ahead() | ...
//
// Promises that after the wait all that the kernel ahead has written can be read. On a GPU older
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

}  // namespace assay
