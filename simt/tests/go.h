// How test kernels are launched.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#define EXPORT __attribute__((visibility("default")))

namespace simt_test {

template <class... Params>
cudaError_t go(void (*kernel)(Params...), dim3 grid, dim3 block, std::size_t shared,
               std::type_identity_t<Params>... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

}  // namespace simt_test
