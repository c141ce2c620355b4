#include "simt/tests/hostile.h"

namespace simt_test {
namespace {

__global__ void last_block_kernel(bool early, float* parts, unsigned* tickets, float* sum) {
  __shared__ bool is_last;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (!early) __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(tickets, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) *sum += parts[i];
}

__global__ void between_warps_kernel(bool apart, int rounds, float* out) {
  __shared__ float ring[256];
  const unsigned i = threadIdx.x;
  ring[i] = static_cast<float>(i);
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    const float other = ring[(i + 32) % blockDim.x];
    if (apart) {
      __syncwarp();
    } else {
      __syncthreads();
    }
    ring[i] = other;
    __syncthreads();
  }
  out[i] = ring[i];
}

__global__ void atomics_kernel(float* counters) { atomicAdd(&counters[threadIdx.x % 8], 1); }
__global__ void without_atomics_kernel(float* counters) { counters[threadIdx.x % 8] += 1; }

__global__ void shared_counters_kernel(bool with_atomics, float* out) {
  __shared__ float counters[8];
  if (threadIdx.x < 8) counters[threadIdx.x] = 0;
  __syncthreads();
  float* const mine = &counters[threadIdx.x % 8];
  if (with_atomics) {
    atomicAdd(mine, 1);
  } else {
    *mine += 1;
  }
  __syncthreads();
  if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = counters[threadIdx.x];
}

__global__ void flag_kernel(int* flag) {
  if (threadIdx.x == 0) {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
  } else if (threadIdx.x == blockDim.x - 1) {
    *static_cast<volatile int*>(flag) = 1;
  }
}

__global__ void own_array_kernel(int index, float* out) {
  float own[8] = {};
  own[index] = 1;
  for (const float x : own) *out += x;
}
__global__ void shared_array_kernel(int index, float* out) {
  __shared__ float before[8], shared[8], after[8];
  before[0] = after[0] = 0;
  shared[index] = 1;
  *out = shared[index] + before[0] + after[0];
}

}  // namespace

cudaError_t add_up_last(bool early, float* parts, unsigned* tickets, float* sum, int blocks) {
  return go(last_block_kernel, blocks, 64, 0, early, parts, tickets, sum);
}
cudaError_t pass_between_warps(bool apart, int rounds, float* out, int threads) {
  return go(between_warps_kernel, 1, threads, 0, apart, rounds, out);
}
cudaError_t count_with_atomics(float* counters, int blocks, int threads) {
  return go(atomics_kernel, blocks, threads, 0, counters);
}
cudaError_t count_without(float* counters, int blocks, int threads) {
  return go(without_atomics_kernel, blocks, threads, 0, counters);
}
cudaError_t count_in_shared(bool with_atomics, float* out, int blocks, int threads) {
  return go(shared_counters_kernel, blocks, threads, 0, with_atomics, out);
}
cudaError_t wait_for_a_flag(int* flag, int threads) { return go(flag_kernel, 1, threads, 0, flag); }
cudaError_t overrun_own_array(int index, float* out) {
  return go(own_array_kernel, 1, 1, 0, index, out);
}
cudaError_t overrun_shared_array(int index, float* out) {
  return go(shared_array_kernel, 1, 1, 0, index, out);
}

}  // namespace simt_test
