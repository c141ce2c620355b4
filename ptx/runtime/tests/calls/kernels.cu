#include "ptx/runtime/tests/calls/kernels.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace ptx::tests {
namespace {

__global__ void add(float* x, float more) { *x += more; }

__device__ float weight = 1;
__global__ void weigh(float* x) { *x *= weight; }

__global__ void tell_cluster(float* x) {
  const auto blocks = cooperative_groups::this_cluster().num_blocks();
  if (blockIdx.x == 0) *x = static_cast<float>(blocks);
}

}  // namespace

const void* add_kernel() { return reinterpret_cast<const void*>(add); }
const void* weigh_kernel() { return reinterpret_cast<const void*>(weigh); }
const void* weight_variable() { return &weight; }
const void* cluster_kernel() { return reinterpret_cast<const void*>(tell_cluster); }

}  // namespace ptx::tests
