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

__global__ void set(cudaGraphConditionalHandle condition, unsigned value) {
  if (threadIdx.x == 0) cudaGraphSetConditional(condition, value);
}
__global__ void set_all(cudaGraphConditionalHandle condition) {
  cudaGraphSetConditional(condition, threadIdx.x);
}
__global__ void count_down(cudaGraphConditionalHandle condition, float* x) {
  *x -= 1;
  cudaGraphSetConditional(condition, *x > 0);
}

}  // namespace

const void* add_kernel() { return reinterpret_cast<const void*>(add); }
const void* weigh_kernel() { return reinterpret_cast<const void*>(weigh); }
const void* weight_variable() { return &weight; }
const void* cluster_kernel() { return reinterpret_cast<const void*>(tell_cluster); }
const void* set_kernel() { return reinterpret_cast<const void*>(set); }
const void* set_all_kernel() { return reinterpret_cast<const void*>(set_all); }
const void* countdown_kernel() { return reinterpret_cast<const void*>(count_down); }

}  // namespace ptx::tests
