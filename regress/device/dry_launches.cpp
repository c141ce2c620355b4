#include "regress/device/dry_launches.h"

#include <cuda_runtime.h>

namespace {
bool dry = false;
}

// `ld --wrap=NAME` turns a call of NAME into one of __wrap_NAME, and __real_NAME is the runtime's.
#define ASSAY_DROP_IF_DRY(name, parameters, arguments)  \
  extern "C" cudaError_t __real_##name parameters;      \
  extern "C" cudaError_t __wrap_##name parameters;      \
  extern "C" cudaError_t __wrap_##name parameters {     \
    return dry ? cudaSuccess : __real_##name arguments; \
  }

ASSAY_DROP_IF_DRY(cudaLaunchKernelExC,
                  (const cudaLaunchConfig_t* config, const void* kernel, void** arguments),
                  (config, kernel, arguments))
ASSAY_DROP_IF_DRY(cudaLaunchKernel,
                  (const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   cudaStream_t stream),
                  (kernel, grid, block, arguments, shared, stream))
ASSAY_DROP_IF_DRY(cudaMemsetAsync, (void* to, int value, std::size_t bytes, cudaStream_t stream),
                  (to, value, bytes, stream))
ASSAY_DROP_IF_DRY(cudaMemset2DAsync,
                  (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                   cudaStream_t stream),
                  (to, pitch, value, width, height, stream))
#if CUDART_VERSION >= 13000  // what kernel<<<..>>> compiles to since
ASSAY_DROP_IF_DRY(__cudaLaunchKernel,
                  (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   cudaStream_t stream),
                  (kernel, grid, block, arguments, shared, stream))
#endif

namespace assay {

DryLaunches::DryLaunches() { dry = true; }
DryLaunches::~DryLaunches() { dry = false; }

}  // namespace assay
