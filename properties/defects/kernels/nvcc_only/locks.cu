// Memory of the device that blocks of all launches share, each piece behind a lock: whoever has
// taken it knows what was done there before. The faulty twins leave a fence out, or free the lock
// by a usual store.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64, pieces = 32;

__device__ float sums_of_all[pieces][threads];
__device__ unsigned locks[pieces];

unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, threads)); }

enum class Locking { right, without_first_fence, without_last_fence, frees_by_store };

template <Locking locking>
__device__ unsigned take_piece() {
  unsigned piece = blockIdx.x % pieces;
  while (atomicCAS(&locks[piece], 0u, 1u) != 0) piece = (piece + 1) % pieces;
  if (locking != Locking::without_first_fence) __threadfence();
  return piece;
}
template <Locking locking>
__device__ void give_back(unsigned piece) {
  if (locking != Locking::without_last_fence) __threadfence();
  if (locking == Locking::frees_by_store)
    locks[piece] = 0;
  else
    atomicExch(&locks[piece], 0u);
}

// What one thread has summed up, another one stores.
template <Locking locking>
__global__ void by_pieces(Gemm g) {
  __shared__ unsigned piece;
  const std::int64_t first = std::int64_t{blockIdx.x} * threads, all = g.m * g.n;
  const std::int64_t at = first + threadIdx.x, other = first + threads - 1 - threadIdx.x;
  const float sum = at < all ? sum_of(g, at, 0, depth(g)) : 0;
  if (threadIdx.x == 0) piece = take_piece<locking>();
  __syncthreads();
  float* const sums = sums_of_all[piece];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (other < all) Right::finish(g, sums[threads - 1 - threadIdx.x], other / g.n, other % g.n);
  __syncthreads();
  if (threadIdx.x == 0) give_back<locking>(piece);
}

template <Locking locking>
cudaError_t launch(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  by_pieces<locking><<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}

const Registrar registrars[] = {
    named("right_locks_of_launches", launch<Locking::right>),
    named("lock_without_first_fence", launch<Locking::without_first_fence>),
    named("lock_without_last_fence", launch<Locking::without_last_fence>),
    named("lock_freed_by_store", launch<Locking::frees_by_store>),
};

}  // namespace
}  // namespace assay::faulty
