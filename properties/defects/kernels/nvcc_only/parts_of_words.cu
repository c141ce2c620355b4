// Words of which somebody wrote some bits: halves that are read two at a time, and votes on flags
// of which not all were set. What nobody wrote is masked away; in the faulty twins one bit stays.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int lanes = 32, slice = 8;

unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, lanes)); }

__device__ unsigned read_word(const unsigned short* halves) {
  unsigned word = 0;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(halves));
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
  return word;
}

// A row of A lies in shared memory as upper and lower halves of its numbers. Where k is odd, the
// last words are half written.
template <unsigned kept>
__global__ void by_halves(Gemm g) {
  __shared__ __align__(4) unsigned short upper[lanes][slice], lower[lanes][slice];
  const std::int64_t at = std::int64_t{blockIdx.x} * lanes + threadIdx.x;
  if (at >= g.m * g.n) return;
  float sum = 0;
  for (std::int64_t p0 = 0; p0 < depth(g); p0 += slice) {
    const std::int64_t count = min(depth(g) - p0, std::int64_t{slice});
    for (std::int64_t p = 0; p < count; ++p) {
      const unsigned bits = __float_as_uint(Right::a(g, at / g.n, p0 + p));
      upper[threadIdx.x][p] = static_cast<unsigned short>(bits >> 16);
      lower[threadIdx.x][p] = static_cast<unsigned short>(bits & 0xffff);
    }
    for (std::int64_t p = 0; p < count; p += 2) {
      const unsigned high = read_word(&upper[threadIdx.x][p]);
      const unsigned low = read_word(&lower[threadIdx.x][p]);
      sum = Right::add(sum, __uint_as_float(high << 16 ^ (low & kept)),
                       Right::b(g, p0 + p, at % g.n));
      if (p + 1 < count)
        sum = Right::add(sum, __uint_as_float((high & 0xffff0000) | low >> 16),
                         Right::b(g, p0 + p + 1, at % g.n));
    }
  }
  Right::finish(g, sum, at / g.n, at % g.n);
}

// Lanes say which steps of a slice there are; those of steps beyond k say nothing.
template <int beyond>
__global__ void by_vote(Gemm g) {
  __shared__ int is_there[lanes];
  const std::int64_t at = std::int64_t{blockIdx.x} * lanes + threadIdx.x;
  const bool is_inside = at < g.m * g.n;
  float sum = 0;
  for (std::int64_t p0 = 0; p0 < depth(g); p0 += lanes) {
    const int count = static_cast<int>(min(depth(g) - p0, std::int64_t{lanes}));
    if (static_cast<int>(threadIdx.x) < count) is_there[threadIdx.x] = 1;
    __syncwarp();
    const unsigned all = ~0u >> max(lanes - count - beyond, 0);
    const unsigned there = __ballot_sync(~0u, is_there[threadIdx.x] == 1) & all;
    for (unsigned left = there; left != 0; left &= left - 1) {
      const std::int64_t p = p0 + __ffs(static_cast<int>(left)) - 1;
      if (p < depth(g) && is_inside)
        sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
    }
    __syncwarp();
  }
  if (is_inside) Right::finish(g, sum, at / g.n, at % g.n);
}

template <auto kernel>
cudaError_t in_one_kernel(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  kernel<<<blocks(g), lanes, 0, stream>>>(g);
  return cudaGetLastError();
}

const Registrar registrars[] = {
    named("right_halves", in_one_kernel<by_halves<0xffff>>),
    named("one_bit_of_other_half", in_one_kernel<by_halves<0x1ffff>>),
    named("right_votes", in_one_kernel<by_vote<0>>),
    named("votes_of_one_more", in_one_kernel<by_vote<1>>),
};

}  // namespace
}  // namespace assay::faulty
