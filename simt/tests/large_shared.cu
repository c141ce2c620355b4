// 40 KiB of static shared memory, in a library of its own: it is counted for all kernels of a
// library.
#include "simt/tests/shared.h"

namespace simt_test {
namespace {

__device__ float* fixed_shared() {
  __shared__ float fixed[10 * 1024];
  return fixed;
}

template <bool AsksForMore>
__global__ void large_shared_kernel(float* out, std::size_t dynamic_bytes) {
  auto* dynamic = static_cast<float*>(simt::dynamic_shared());
  fixed_shared()[0] = 1;
  dynamic[dynamic_bytes / sizeof(float) - 1] = 2;
  *out = fixed_shared()[0];
}

}  // namespace

cudaError_t large_shared(float* out, std::size_t dynamic_bytes) {
  return go(large_shared_kernel<false>, 1, 1, dynamic_bytes, out, dynamic_bytes);
}
cudaError_t large_shared_asked_for(float* out, std::size_t dynamic_bytes, int allowance) {
  if (const cudaError_t error =
          cudaFuncSetAttribute((const void*)large_shared_kernel<true>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, allowance))
    return error;
  return go(large_shared_kernel<true>, 1, 1, dynamic_bytes, out, dynamic_bytes);
}

}  // namespace simt_test
