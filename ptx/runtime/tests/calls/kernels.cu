#include "ptx/runtime/tests/calls/kernels.h"

#include <cuda_runtime.h>

namespace ptx::tests {
namespace {

__global__ void add(float* x, float more) { *x += more; }

__device__ float weight = 1;
__global__ void weigh(float* x) { *x *= weight; }

}  // namespace

const void* add_kernel() { return reinterpret_cast<const void*>(add); }
const void* weigh_kernel() { return reinterpret_cast<const void*>(weigh); }
const void* weight_variable() { return &weight; }

}  // namespace ptx::tests
