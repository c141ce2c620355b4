// The smallest shared variables there are, in a library of their own: all its shared memory is 7
// bytes.
#include "simt/tests/shared.h"

namespace simt_test {
namespace {

__global__ void read_small_shared_kernel(unsigned char* out) {
  __shared__ bool last;
  __shared__ unsigned char bytes[6];
  const auto* last_byte = reinterpret_cast<const unsigned char*>(&last);
  unsigned char* mine = out + blockIdx.x * 7;
  mine[0] = *last_byte;
  for (int i = 0; i < 6; ++i) mine[1 + i] = bytes[i];
  last = true;
  for (auto& byte : bytes) byte = 1;
}

}  // namespace

cudaError_t read_small_shared(unsigned char* out, int blocks) {
  return go(read_small_shared_kernel, blocks, 1, 0, out);
}

}  // namespace simt_test
