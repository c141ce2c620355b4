// Kernels with little shared memory, and with much.
#pragma once

#include "simt/tests/go.h"

namespace simt_test {

EXPORT cudaError_t read_small_shared(unsigned char* out, int blocks);  // out: seven for each block

}  // namespace simt_test
