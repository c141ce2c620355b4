// Who is in order with whom: an atomic operation for one block's threads, a fence for one lane, a
// table of two launches. And what is in order, though one may not see it: lanes of a warp that take
// turns, arms of a branch that meet at a barrier, addresses by distance, words that a mask clears.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int lanes = 32;
constexpr unsigned all_lanes = ~0u;

__device__ std::int64_t place() { return std::int64_t{blockIdx.x} * lanes + threadIdx.x; }
__device__ void finish(const Gemm& g, std::int64_t at, float sum) {
  if (at < g.m * g.n) Right::finish(g, sum, at / g.n, at % g.n);
}
unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, lanes)); }
bool is_empty(const Gemm& g) { return g.m == 0 || g.n == 0; }

// Two blocks share the sums of 32 elements. The block that finishes last adds up both parts: a
// counter tells it, or the bits of those that have come.
enum class Meets { in_device, in_block, in_cluster, by_one_lane };
__device__ void fence_for_cluster() { asm volatile("fence.acq_rel.cluster;" ::: "memory"); }
template <Meets meets>
__device__ bool is_last(unsigned* came) {
  if (meets == Meets::by_one_lane) {
    bool last = false;
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(came, 1u) == 1;
      __threadfence();
    }
    return __shfl_sync(all_lanes, last, 0);
  }
  if (meets == Meets::in_cluster) {
    fence_for_cluster();
  } else {
    __threadfence();
  }
  __syncwarp();
  unsigned before = 0;
  if (threadIdx.x == 0)
    before = meets == Meets::in_block ? atomicAdd_block(came, 1u) : atomicAdd(came, 1u);
  before = __shfl_sync(all_lanes, before, 0);
  __threadfence();
  return before == 1;
}
template <Meets meets, bool waits_for_lanes>
__global__ void share_out(Gemm g, unsigned* came, float* sums) {
  const std::int64_t at = place(), all = g.m * g.n, half = depth(g) / 2;
  if (at < all)
    sums[blockIdx.y * all + at] =
        blockIdx.y == 0 ? sum_of(g, at, 0, half) : sum_of(g, at, half, depth(g));
  if (waits_for_lanes) __syncwarp();
  if (!is_last<meets>(&came[blockIdx.x])) return;
  __syncwarp();
  if (at < all) finish(g, at, sums[at] + sums[all + at]);
}
std::int64_t bytes_to_share(const Gemm& g) { return 4 * (blocks(g) + 2 * g.m * g.n); }

template <Meets meets, bool waits_for_lanes>
cudaError_t shared_by_two(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  auto* const came = static_cast<unsigned*>(workspace);
  if (const auto error = cudaMemsetAsync(came, 0, 4 * blocks(g), stream)) return error;
  share_out<meets, waits_for_lanes><<<dim3(blocks(g), 2), lanes, 0, stream>>>(
      g, came, reinterpret_cast<float*>(came + blocks(g)));
  return cudaGetLastError();
}

// The same by bits in a table of all launches, each of which clears its own.
__device__ unsigned bits_of_all[1 << 16];
__global__ void share_out_by_bits(Gemm g, float* sums) {
  const std::int64_t at = place(), all = g.m * g.n, half = depth(g) / 2;
  if (at < all)
    sums[blockIdx.y * all + at] =
        blockIdx.y == 0 ? sum_of(g, at, 0, half) : sum_of(g, at, half, depth(g));
  __threadfence();
  __syncwarp();
  unsigned* const bits = &bits_of_all[blockIdx.x % (1 << 16)];
  unsigned before = 0;
  if (threadIdx.x == 0) before = atomicOr(bits, 1u << blockIdx.y);
  before = __shfl_sync(all_lanes, before, 0);
  __threadfence();
  if ((before | 1u << blockIdx.y) != 3) return;
  if (threadIdx.x == 0) atomicExch(bits, 0u);
  if (at < all) finish(g, at, sums[at] + sums[all + at]);
}
cudaError_t by_bits(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  share_out_by_bits<<<dim3(blocks(g), 2), lanes, 0, stream>>>(g, static_cast<float*>(workspace));
  return cudaGetLastError();
}

// All lanes add to a sum of the warp's, one after the other, each by taking a lock. The sum is of
// whole numbers, which no order changes: how many lanes have an element.
__global__ void counted_by_lanes(Gemm g) {
  __shared__ unsigned lock, count;
  if (threadIdx.x == 0) lock = count = 0;
  __syncwarp();
  const bool has_element = place() < g.m * g.n;
  for (bool waits = true; waits;) {
    if (atomicCAS(&lock, 0u, 1u) != 0) continue;
    __threadfence_block();
    count += has_element ? 1 : 0;
    __threadfence_block();
    atomicExch(&lock, 0u);
    waits = false;
  }
  __syncwarp();
  if (threadIdx.x < count) finish(g, place(), sum_of(g, place(), 0, depth(g)));
}

// The last lane of four to come adds up what they left.
__global__ void last_of_four(Gemm g, unsigned* came, float* sums) {
  const std::int64_t at = place() / 4, quarter = ceil_div(depth(g), 4),
                     first = threadIdx.x % 4 * quarter;
  if (at >= g.m * g.n) return;
  sums[place()] = sum_of(g, at, min(first, depth(g)), min(first + quarter, depth(g)));
  __threadfence();
  if (atomicAdd(&came[at], 1u) != 3) return;
  __threadfence();
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += sums[at * 4 + i];
  finish(g, at, sum);
}
std::int64_t bytes_of_four(const Gemm& g) {
  return 4 * (g.m * g.n + lanes * ceil_div(g.m * g.n * 4, lanes));
}
cudaError_t by_last_of_four(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  auto* const came = static_cast<unsigned*>(workspace);
  if (const auto error = cudaMemsetAsync(came, 0, 4 * static_cast<std::size_t>(g.m * g.n), stream))
    return error;
  last_of_four<<<static_cast<unsigned>(ceil_div(g.m * g.n * 4, lanes)), lanes, 0, stream>>>(
      g, came, reinterpret_cast<float*>(came + g.m * g.n));
  return cudaGetLastError();
}

// Halves of a warp come to a barrier in two arms of a branch.
__device__ void meet() { asm volatile("barrier.sync 1;" ::: "memory"); }
__global__ void in_two_arms(Gemm g) {
  __shared__ float sums[2 * lanes];
  const std::int64_t at = std::int64_t{blockIdx.x} * lanes + threadIdx.x % lanes,
                     half = depth(g) / 2;
  const bool is_inside = at < g.m * g.n;
  if ((threadIdx.x / 16) % 2 == 0) {
    sums[threadIdx.x] = !is_inside            ? 0
                        : threadIdx.x < lanes ? sum_of(g, at, 0, half)
                                              : sum_of(g, at, half, depth(g));
    meet();
  } else {
    sums[threadIdx.x] = !is_inside            ? 0
                        : threadIdx.x < lanes ? sum_of(g, at, 0, half)
                                              : sum_of(g, at, half, depth(g));
    asm volatile("// another place");
    meet();
  }
  if (threadIdx.x < lanes) finish(g, at, sums[threadIdx.x] + sums[threadIdx.x + lanes]);
}

// Two arrays, the second by its distance from the first.
__global__ void by_distance(Gemm g) {
  __shared__ float even[lanes], odd[lanes];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(even));
  const unsigned distance = static_cast<unsigned>(__cvta_generic_to_shared(odd)) - base;
  const std::int64_t at = place();
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g) && at < g.m * g.n; ++p) {
    unsigned to = base + threadIdx.x * 4;
    asm("mad.lo.u32 %0, %1, %2, %0;" : "+r"(to) : "r"(static_cast<unsigned>(p % 2)), "r"(distance));
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(Right::a(g, at / g.n, p)) : "memory");
    float a = 0;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(a) : "r"(to) : "memory");
    sum = Right::add(sum, a, Right::b(g, p, at % g.n));
  }
  finish(g, at, sum);
}

// Words that nobody wrote, cleared by a mask.
__global__ void by_mask(Gemm g) {
  __shared__ unsigned words[2 * lanes];
  const std::int64_t at = place();
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g) && at < g.m * g.n; ++p) {
    words[threadIdx.x] = __float_as_uint(Right::a(g, at / g.n, p));
    const auto none = static_cast<unsigned>(g.m >> 62);  // 0, which no compiler knows
    const unsigned word = words[threadIdx.x] | (words[threadIdx.x + lanes] & none);
    sum = Right::add(sum, __uint_as_float(word), Right::b(g, p, at % g.n));
  }
  finish(g, at, sum);
}

template <auto kernel, int threads = lanes>
cudaError_t in_one_kernel(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  kernel<<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}

const Registrar registrars[] = {
    named("counted_for_a_block", shared_by_two<Meets::in_block, true>, bytes_to_share),
    named("fenced_for_a_cluster", shared_by_two<Meets::in_cluster, true>, bytes_to_share),
    named("lane_fences_for_warp", shared_by_two<Meets::by_one_lane, false>, bytes_to_share),
    named("right_lane_fences", shared_by_two<Meets::by_one_lane, true>, bytes_to_share),
    named("bits_of_two_launches", by_bits, bytes_to_share),
    named("right_locks_of_lanes", in_one_kernel<counted_by_lanes>),
    named("right_last_of_four", by_last_of_four, bytes_of_four),
    named("right_arms_that_meet", in_one_kernel<in_two_arms, 2 * lanes>),
    named("right_distances", in_one_kernel<by_distance>),
    named("right_masks", in_one_kernel<by_mask>),
};

}  // namespace
}  // namespace assay::faulty
