// Kernels with little shared memory, and with much.
#pragma once

#include "simt/tests/go.h"

namespace simt_test {

EXPORT cudaError_t read_small_shared(unsigned char* out, int blocks);  // out: seven for each block
// 40 KiB of static shared memory, and as much dynamic.
EXPORT cudaError_t large_shared(float* out, std::size_t dynamic_bytes);
EXPORT cudaError_t large_shared_asked_for(float* out, std::size_t dynamic_bytes, int allowance);

}  // namespace simt_test
