// Small kernels, right and wrong, each behind a host function that launches it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "simt/tests/go.h"

namespace simt_test {

// Right ones. `out` has one element for each thread of the grid unless said otherwise.
EXPORT cudaError_t write_flat_index(unsigned* out, dim3 grid, dim3 block);
EXPORT cudaError_t reverse_through_static_shared(const float* in, float* out, int threads);
EXPORT cudaError_t reverse_through_dynamic_shared(const float* in, float* out, int threads,
                                                  std::size_t bytes);
EXPORT cudaError_t record_order(int* next, int* out,
                                int threads);                      // out[i]: which thread came i-th
EXPORT cudaError_t read_unwritten_shared(float* out, int blocks);  // out: two for each block
EXPORT cudaError_t sum_by_shuffles(const float* in, float* out, int threads);
EXPORT cudaError_t vote(const int* in, unsigned* ballot, int* any, int* all);
EXPORT cudaError_t warp_with_early_return(float* out, int staying);
EXPORT cudaError_t add_atomically(int* counter, float* sum, int blocks, int threads);
EXPORT cudaError_t many_barriers(float* out, int rounds, int blocks, int threads);
EXPORT cudaError_t syncwarps_in_two_branches(int* out);  // out: 32
EXPORT cudaError_t record_block_order(int* next, int* out, int blocks);
EXPORT cudaError_t record_order_in_blocks(int* next, int* out, int blocks, int threads);
EXPORT cudaError_t dynamic_shared_address(std::uintptr_t* out, std::size_t bytes);

// Wrong ones.
EXPORT cudaError_t return_before_barrier(int threads, int returning);
EXPORT cudaError_t barrier_in_one_branch(int threads);
EXPORT cudaError_t two_different_barriers(int threads);
EXPORT cudaError_t loop_forever();
EXPORT cudaError_t loop_forever_with_barriers();
EXPORT cudaError_t store_after_barrier(float* to);
EXPORT cudaError_t store_after_syncwarp(float* to);
EXPORT cudaError_t loop_forever_after_barrier();
EXPORT cudaError_t loop_forever_after_syncwarp();
EXPORT cudaError_t load_float4(const float* from, float* to);
EXPORT cudaError_t store(float* to, std::int64_t index);
EXPORT cudaError_t load(const float* from, std::int64_t index, float* to);
EXPORT cudaError_t recurse(int depth, int* out);
EXPORT cudaError_t large_local_array(int floats, int threads, float* out);
EXPORT cudaError_t divide(int by, int* out);
EXPORT cudaError_t read_past_dynamic_shared(float* out, std::size_t bytes);
EXPORT cudaError_t lane_outside_mask();
EXPORT cudaError_t warp_half_at_barrier();
EXPORT cudaError_t shuffle_meets_syncwarp();
EXPORT cudaError_t shuffles_in_two_branches();
EXPORT cudaError_t two_shuffles_in_one_line();
EXPORT cudaError_t two_masks_in_one_warp();

}  // namespace simt_test
