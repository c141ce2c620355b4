// Kernels that are right in some orders of threads and blocks only, and right ones beside them.
#pragma once

#include "simt/tests/go.h"

namespace simt_test {

// Blocks add up parts that all blocks have written: the last to come does it. `early`: a block
// counts as come before all of its threads have written.
EXPORT cudaError_t add_up_last(bool early, float* parts, unsigned* tickets, float* sum, int blocks);

// Each warp passes a value to the next. `apart`: without a barrier for the whole block.
EXPORT cudaError_t pass_between_warps(bool apart, int rounds, float* out, int threads);

// Every thread of every block adds 1 to its counter of 8.
EXPORT cudaError_t count_with_atomics(float* counters, int blocks, int threads);
EXPORT cudaError_t count_without(float* counters, int blocks, int threads);
// The same in shared memory, whose counters each block writes to its part of `out` in the end.
EXPORT cudaError_t count_in_shared(bool with_atomics, float* out, int blocks, int threads);

// Thread 0 waits until the last thread of its block has set a flag.
EXPORT cudaError_t wait_for_a_flag(int* flag, int threads);

// Writes `index` floats from the beginning of an array of 8 floats: its own, or a shared one.
EXPORT cudaError_t overrun_own_array(int index, float* out);
EXPORT cudaError_t overrun_shared_array(int index, float* out);

}  // namespace simt_test
