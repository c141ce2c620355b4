#include "simt/tests/kernels.h"

namespace simt_test {
namespace {

__global__ void write_flat_index_kernel(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  out[i] = i;
}

__global__ void reverse_static_kernel(const float* in, float* out) {
  __shared__ float tile[1024];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void reverse_dynamic_kernel(const float* in, float* out) {
  auto* tile = static_cast<float*>(simt::dynamic_shared());
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void record_order_kernel(int* next, int* out) {
  out[atomicAdd(next, 1)] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[atomicAdd(next, 1)] = static_cast<int>(threadIdx.x);
}

__global__ void read_unwritten_shared_kernel(float* out) {
  __shared__ float fixed[8];
  auto* dynamic = static_cast<float*>(simt::dynamic_shared());
  out[2 * blockIdx.x] = fixed[3];
  out[2 * blockIdx.x + 1] = dynamic[3];
  fixed[3] = dynamic[3] = 1;  // must not be seen by the next block
}

__global__ void sum_by_shuffles_kernel(const float* in, float* out) {
  float sum = in[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  const float first = __shfl_sync(~0u, in[threadIdx.x], 0);
  const float left = __shfl_up_sync(~0u, in[threadIdx.x], 1);
  const float right = __shfl_down_sync(~0u, in[threadIdx.x], 1, 8);
  float* mine = out + 4 * threadIdx.x;
  mine[0] = sum, mine[1] = first, mine[2] = left, mine[3] = right;
}

__global__ void vote_kernel(const int* in, unsigned* ballot, int* any, int* all) {
  const unsigned votes = __ballot_sync(~0u, in[threadIdx.x]);
  const int some = __any_sync(~0u, in[threadIdx.x]), every = __all_sync(~0u, in[threadIdx.x]);
  if (threadIdx.x == 0) *ballot = votes, *any = some, *all = every;
}

__global__ void warp_with_early_return_kernel(float* out, int staying) {
  if (static_cast<int>(threadIdx.x) >= staying) return;
  out[threadIdx.x] = __shfl_xor_sync(~0u, static_cast<float>(threadIdx.x), 1);
}

__global__ void add_atomically_kernel(int* counter, float* sum) {
  atomicAdd(counter, 1);
  atomicAdd(sum, 0.5f);
}

__global__ void many_barriers_kernel(float* out, int rounds) {
  __shared__ float ring[1024];
  const unsigned i = threadIdx.x;
  ring[i] = static_cast<float>(i);
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    const float neighbour = ring[(i + 1) % blockDim.x];
    __syncthreads();
    ring[i] = neighbour;
  }
  out[blockIdx.x * blockDim.x + i] = ring[i];
}

__global__ void return_before_barrier_kernel(int returning) {
  if (static_cast<int>(threadIdx.x) < returning) return;
  __syncthreads();
}

__global__ void barrier_in_one_branch_kernel() {
  if (threadIdx.x % 2 == 0) __syncthreads();
}

__global__ void two_different_barriers_kernel() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void loop_forever_kernel() {
  for (volatile int i = 0; i == 0;) {
  }
}

__global__ void loop_forever_with_barriers_kernel() {
  for (;;) __syncthreads();
}

__global__ void load_float4_kernel(const float* from, float* to) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__global__ void store_kernel(float* to, std::int64_t index) {
  to[index] = 1;
}
__global__ void load_kernel(const float* from, std::int64_t index, float* to) {
  *to = from[index];
}

__device__ int deep(int depth) {
  volatile int frame[256];
  frame[depth % 256] = depth;
  return depth == 0 ? frame[0] : deep(depth - 1) + frame[depth % 256];
}
__global__ void recurse_kernel(int depth, int* out) {
  *out = deep(depth);
}

template <int Floats>
__global__ void large_local_array_kernel(int index, float* out) {
  float large[Floats];
  for (int i = 0; i <= index; ++i) large[i] = static_cast<float>(i);
  __syncthreads();
  out[threadIdx.x] = large[index];
}

__global__ void divide_kernel(int by, int* out) {
  *out = 7 / by;
}

__global__ void read_past_dynamic_shared_kernel(float* out, std::size_t floats) {
  *out = static_cast<float*>(simt::dynamic_shared())[floats];
}

__global__ void lane_outside_mask_kernel() {
  __syncwarp(0xffff);
}

__global__ void warp_half_at_barrier_kernel() {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

__global__ void shuffle_meets_syncwarp_kernel() {
  if (threadIdx.x < 16) {
    __shfl_sync(~0u, 1.0f, 0);
  } else {
    __syncwarp();
  }
}

__global__ void shuffles_in_two_branches_kernel() {
  if (threadIdx.x % 2 == 0) {
    __shfl_sync(~0u, 1.0f, 0);
  } else {
    __shfl_sync(~0u, 2.0f, 0);
  }
}

__global__ void two_shuffles_in_one_line_kernel() {
  // clang-format off
  if (threadIdx.x < 7) __shfl_up_sync(~0u, 1, 1); else __shfl_down_sync(~0u, 1, 1);
  // clang-format on
}

__global__ void two_masks_in_one_warp_kernel() {
  __shfl_sync(threadIdx.x < 16 ? ~0u : 0xffff0001u, 1.0f, 31);
}

__global__ void syncwarps_in_two_branches_kernel(int* out) {
  __shared__ int given;
  if (threadIdx.x == 31) {
    given = 7;
    __syncwarp();
  } else {
    __syncwarp();
  }
  out[threadIdx.x] = given;
}

__global__ void record_block_order_kernel(int* next, int* out) {
  out[atomicAdd(next, 1)] = static_cast<int>(blockIdx.x);
}

// next: one counter for each block
__global__ void record_order_in_blocks_kernel(int* next, int* out) {
  const int mine = atomicAdd(next + blockIdx.x, 1);
  out[blockIdx.x * blockDim.x + mine] = static_cast<int>(threadIdx.x);
}

__global__ void dynamic_shared_address_kernel(std::uintptr_t* out) {
  *out = reinterpret_cast<std::uintptr_t>(simt::dynamic_shared());
}

template <bool Warp>
__device__ void meet() {
  if (Warp) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

template <bool Warp>
__global__ void store_after_kernel(float* to) {
  meet<Warp>();
  to[threadIdx.x] = 1;
}

template <bool Warp>
__global__ void loop_forever_after_kernel() {
  meet<Warp>();
  for (volatile int i = 0; i == 0;) {
  }
}

}  // namespace

cudaError_t write_flat_index(unsigned* out, dim3 grid, dim3 block) {
  return go(write_flat_index_kernel, grid, block, 0, out);
}
cudaError_t reverse_through_static_shared(const float* in, float* out, int threads) {
  return go(reverse_static_kernel, 1, threads, 0, in, out);
}
cudaError_t reverse_through_dynamic_shared(const float* in, float* out, int threads,
                                           std::size_t bytes) {
  if (const cudaError_t error = cudaFuncSetAttribute(
          reverse_dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024))
    return error;
  return go(reverse_dynamic_kernel, 1, threads, bytes, in, out);
}
cudaError_t record_order(int* next, int* out, int threads) {
  return go(record_order_kernel, 1, threads, 0, next, out);
}
cudaError_t read_unwritten_shared(float* out, int blocks) {
  return go(read_unwritten_shared_kernel, blocks, 1, 64, out);
}
cudaError_t sum_by_shuffles(const float* in, float* out, int threads) {
  return go(sum_by_shuffles_kernel, 1, threads, 0, in, out);
}
cudaError_t vote(const int* in, unsigned* ballot, int* any, int* all) {
  return go(vote_kernel, 1, 32, 0, in, ballot, any, all);
}
cudaError_t warp_with_early_return(float* out, int staying) {
  return go(warp_with_early_return_kernel, 1, 32, 0, out, staying);
}
cudaError_t add_atomically(int* counter, float* sum, int blocks, int threads) {
  return go(add_atomically_kernel, blocks, threads, 0, counter, sum);
}
cudaError_t many_barriers(float* out, int rounds, int blocks, int threads) {
  return go(many_barriers_kernel, blocks, threads, 0, out, rounds);
}

cudaError_t return_before_barrier(int threads, int returning) {
  return go(return_before_barrier_kernel, 1, threads, 0, returning);
}
cudaError_t barrier_in_one_branch(int threads) {
  return go(barrier_in_one_branch_kernel, 1, threads, 0);
}
cudaError_t two_different_barriers(int threads) {
  return go(two_different_barriers_kernel, 1, threads, 0);
}
cudaError_t loop_forever() {
  return go(loop_forever_kernel, 1, 1, 0);
}
cudaError_t loop_forever_with_barriers() {
  return go(loop_forever_with_barriers_kernel, 1, 32, 0);
}
cudaError_t load_float4(const float* from, float* to) {
  return go(load_float4_kernel, 1, 1, 0, from, to);
}
cudaError_t store(float* to, std::int64_t index) {
  return go(store_kernel, 1, 1, 0, to, index);
}
cudaError_t load(const float* from, std::int64_t index, float* to) {
  return go(load_kernel, 1, 1, 0, from, index, to);
}
cudaError_t recurse(int depth, int* out) {
  return go(recurse_kernel, 1, 1, 0, depth, out);
}
cudaError_t large_local_array(int floats, int threads, float* out) {
  const auto kernel = floats == 10000   ? large_local_array_kernel<10000>
                      : floats == 17800 ? large_local_array_kernel<17800>
                      : floats == 20000 ? large_local_array_kernel<20000>
                                        : large_local_array_kernel<200000>;
  return go(kernel, 1, threads, 0, 0, out);
}
cudaError_t divide(int by, int* out) {
  return go(divide_kernel, 1, 1, 0, by, out);
}
cudaError_t read_past_dynamic_shared(float* out, std::size_t bytes) {
  return go(read_past_dynamic_shared_kernel, 1, 1, bytes, out, bytes / sizeof(float));
}
cudaError_t lane_outside_mask() {
  return go(lane_outside_mask_kernel, 1, 32, 0);
}
cudaError_t warp_half_at_barrier() {
  return go(warp_half_at_barrier_kernel, 1, 32, 0);
}
cudaError_t shuffle_meets_syncwarp() {
  return go(shuffle_meets_syncwarp_kernel, 1, 32, 0);
}
cudaError_t shuffles_in_two_branches() {
  return go(shuffles_in_two_branches_kernel, 1, 32, 0);
}
cudaError_t two_shuffles_in_one_line() {
  return go(two_shuffles_in_one_line_kernel, 1, 32, 0);
}
cudaError_t two_masks_in_one_warp() {
  return go(two_masks_in_one_warp_kernel, 1, 32, 0);
}
cudaError_t syncwarps_in_two_branches(int* out) {
  return go(syncwarps_in_two_branches_kernel, 1, 32, 0, out);
}
cudaError_t record_block_order(int* next, int* out, int blocks) {
  return go(record_block_order_kernel, blocks, 1, 0, next, out);
}
cudaError_t record_order_in_blocks(int* next, int* out, int blocks, int threads) {
  return go(record_order_in_blocks_kernel, blocks, threads, 0, next, out);
}
cudaError_t dynamic_shared_address(std::uintptr_t* out, std::size_t bytes) {
  return go(dynamic_shared_address_kernel, 1, 1, bytes, out);
}
cudaError_t store_after_barrier(float* to) {
  return go(store_after_kernel<false>, 1, 8, 0, to);
}
cudaError_t store_after_syncwarp(float* to) {
  return go(store_after_kernel<true>, 1, 8, 0, to);
}
cudaError_t loop_forever_after_barrier() {
  return go(loop_forever_after_kernel<false>, 1, 8, 0);
}
cudaError_t loop_forever_after_syncwarp() {
  return go(loop_forever_after_kernel<true>, 1, 8, 0);
}

}  // namespace simt_test
