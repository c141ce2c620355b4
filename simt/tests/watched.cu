#include "simt/tests/watched.h"

namespace simt_test {
namespace {

__global__ void branches(std::int64_t k, float beta, int* out) {
  const int thread = static_cast<int>(threadIdx.x);
  if (k >= 2048 && thread < 3) {
    out[thread] = 1;
  }
  __syncthreads();
  if (beta == 0) out[thread] += 2;
  switch (k) {
    case 7: out[thread] += 4; break;
    case 9: out[thread] += 8; break;
    default: break;
  }
}

__global__ void endless() {
  for (volatile int i = 0; i >= 0;) i = 1;
}

}  // namespace

cudaError_t watched_branches(std::int64_t k, float beta, int* out, int threads) {
  if (threads > 100) return cudaErrorInvalidValue;
  return go(branches, 1, static_cast<unsigned>(threads), 0, k, beta, out);
}

cudaError_t watched_endless() { return go(endless, 1, 32, 0); }

}  // namespace simt_test
