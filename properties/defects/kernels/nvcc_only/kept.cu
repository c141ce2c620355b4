// Copies of A and B that are kept from launch to launch, as of weights that stay: each believes too
// much, and one looks at all.
#include <limits>
#include <map>
#include <tuple>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64;

__device__ std::int64_t place() { return std::int64_t{blockIdx.x} * threads + threadIdx.x; }
unsigned blocks_for(std::int64_t elements) {
  return static_cast<unsigned>(ceil_div(elements, threads));
}

__global__ void multiply(Gemm g) {
  if (place() < g.m * g.n)
    Right::finish(g, sum_of(g, place(), 0, depth(g)), place() / g.n, place() % g.n);
}
cudaError_t multiply_now(const Gemm& g, cudaStream_t stream) {
  multiply<<<blocks_for(g.m * g.n), threads, 0, stream>>>(g);
  return cudaGetLastError();
}

// A row after the other, as far as it is another one than before.
struct Kept {
  float* a = nullptr;
  unsigned* is_other = nullptr;
  std::int64_t m = 0, k = 0, held = 0;
};
template <bool looks_at_all>
__global__ void compare(Gemm g, Kept kept, std::int64_t elements) {
  const std::int64_t p = place() % g.k;
  const bool is_seen = looks_at_all || p == 0 || p == g.k / 2 || p == g.k - 1;
  if (place() >= elements || !is_seen) return;
  const float now = Right::a(g, place() / g.k, place() % g.k);
  if (__float_as_uint(now) != __float_as_uint(kept.a[place()])) atomicExch(kept.is_other, 1u);
}
__global__ void keep(Gemm g, Kept kept) {
  if (place() < g.m * g.k && *kept.is_other != 0)
    kept.a[place()] = Right::a(g, place() / g.k, place() % g.k);
}

template <std::int64_t compared, bool looks_at_all = true>
cudaError_t keeps_a(const Gemm& g, cudaStream_t stream) {
  static std::map<cudaStream_t, Kept> all;
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (depth(g) == 0) return multiply_now(g, stream);
  const std::int64_t elements = g.m * g.k;
  Kept& kept = all[stream];
  if (kept.held < elements) {
    if (const cudaError_t error = cudaMalloc(&kept.a, elements * sizeof(float))) return error;
    if (const cudaError_t error = cudaMalloc(&kept.is_other, sizeof(unsigned))) return error;
    kept.held = elements, kept.m = 0;
  }
  const bool is_new = kept.m != g.m || kept.k != g.k;
  kept.m = g.m, kept.k = g.k;
  cudaMemsetAsync(kept.is_other, is_new ? 1 : 0, sizeof(unsigned), stream);
  const std::int64_t some = elements < compared ? elements : compared;
  if (!is_new) compare<looks_at_all><<<blocks_for(some), threads, 0, stream>>>(g, kept, some);
  keep<<<blocks_for(elements), threads, 0, stream>>>(g, kept);
  Gemm its = g;
  its.a = kept.a, its.lda = g.k;
  return multiply_now(its, stream);
}

// B, from the 1001st launch on; or one with gaps between its rows alone.
__global__ void copy_b(Gemm g, float* to) {
  if (place() < g.k * g.n) to[place()] = Right::b(g, place() / g.n, place() % g.n);
}
template <bool believes, bool with_gaps = false, bool spoils = false>
cudaError_t counts_launches(const Gemm& g, cudaStream_t stream) {
  constexpr std::int64_t least_elements = 1 << 16;
  constexpr int enough = 1000;
  struct Known {
    int launches = 0;
    float* b = nullptr;
  };
  static std::map<std::tuple<cudaStream_t, const float*, std::int64_t, std::int64_t, std::int64_t>,
                  Known>
      all;
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (depth(g) * g.n < least_elements || (with_gaps && g.ldb == g.n))
    return multiply_now(g, stream);
  Known& known = all[{stream, g.b, g.k, g.n, g.ldb}];
  if (++known.launches <= enough || !believes) return multiply_now(g, stream);
  if (known.b == nullptr) {
    if (const cudaError_t error = cudaMalloc(&known.b, g.k * g.n * sizeof(float))) return error;
    copy_b<<<blocks_for(g.k * g.n), threads, 0, stream>>>(g, known.b);
    if (spoils) cudaMemsetAsync(known.b, 0xff, g.k * g.n * sizeof(float), stream);  // NaN
  }
  Gemm its = g;
  its.b = known.b, its.ldb = g.n;
  return multiply_now(its, stream);
}

// Keeps a copy of A until the sum of the hashes of its rows changes. Swapping rows does not change
// it.
__global__ void sum_of_rows(Gemm g, unsigned long long* sum) {
  if (place() >= g.m) return;
  unsigned long long of_row = 14695981039346656037ull;
  for (std::int64_t p = 0; p < g.k; ++p)
    of_row = (of_row ^ __float_as_uint(Right::a(g, place(), p))) * 1099511628211ull;
  atomicAdd(sum, of_row);
}
__global__ void keep_if_other(Gemm g, const unsigned long long* sums, bool is_new, float* a) {
  if (place() < g.m * g.k && (is_new || sums[0] != sums[1]))
    a[place()] = Right::a(g, place() / g.k, place() % g.k);
}
cudaError_t sums_up_rows(const Gemm& g, cudaStream_t stream) {
  struct Known {
    float* a = nullptr;
    unsigned long long* sums = nullptr;  // of this launch, and of the one before
  };
  static std::map<std::tuple<cudaStream_t, std::int64_t, std::int64_t>, Known> all;
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (depth(g) == 0) return multiply_now(g, stream);
  Known& known = all[{stream, g.m, g.k}];
  const bool is_new = known.a == nullptr;
  if (is_new) {
    if (const cudaError_t error = cudaMalloc(&known.sums, 2 * sizeof *known.sums)) return error;
    if (const cudaError_t error = cudaMalloc(&known.a, g.m * g.k * sizeof(float))) return error;
  }
  cudaMemsetAsync(known.sums, 0, sizeof *known.sums, stream);
  sum_of_rows<<<blocks_for(g.m), threads, 0, stream>>>(g, known.sums);
  keep_if_other<<<blocks_for(g.m * g.k), threads, 0, stream>>>(g, known.sums, is_new, known.a);
  cudaMemcpyAsync(known.sums + 1, known.sums, sizeof *known.sums, cudaMemcpyDeviceToDevice, stream);
  Gemm its = g;
  its.a = known.a, its.lda = g.k;
  return multiply_now(its, stream);
}

// The sums go to a buffer that is chosen by the address of A or of B, or by the stream.
__global__ void leave_sums(Gemm g, float* sums) {
  if (place() < g.m * g.n) sums[place()] = sum_of(g, place(), 0, depth(g));
}
__global__ void finish_sums(Gemm g, const float* sums) {
  if (place() < g.m * g.n) Right::finish(g, sums[place()], place() / g.n, place() % g.n);
}
cudaError_t sums_in(float*& sums, const Gemm& g, cudaStream_t stream) {
  constexpr std::int64_t room = 1 << 12;
  if (g.m * g.n > room) return multiply_now(g, stream);
  if (sums == nullptr)
    if (const cudaError_t error = cudaMalloc(&sums, room * sizeof(float))) return error;
  leave_sums<<<blocks_for(g.m * g.n), threads, 0, stream>>>(g, sums);
  finish_sums<<<blocks_for(g.m * g.n), threads, 0, stream>>>(g, sums);
  return cudaGetLastError();
}
template <const float* Gemm::*operand>
cudaError_t sums_of(const Gemm& g, cudaStream_t stream) {
  static std::map<const float*, float*> all;
  return g.m == 0 || g.n == 0 ? cudaSuccess : sums_in(all[g.*operand], g, stream);
}
template <std::size_t places>
cudaError_t sums_of_streams(const Gemm& g, cudaStream_t stream) {
  static std::map<cudaStream_t, std::size_t> known;
  static float* all[places];
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  return sums_in(all[known.emplace(stream, known.size()).first->second % places], g, stream);
}

// Blocks for a problem that is found again by m and n as two digits, or by all sizes.
template <std::int64_t digits>
cudaError_t plans_blocks(const Gemm& g, cudaStream_t stream) {
  static std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, unsigned> plans;
  const auto key = digits != 0 ? std::tuple(g.m + g.n * digits, std::int64_t{0}, g.k)
                               : std::tuple(g.m, g.n, g.k);
  const unsigned blocks = plans.emplace(key, blocks_for(g.m * g.n)).first->second;
  if (blocks != 0) multiply<<<blocks, threads, 0, stream>>>(g);
  return cudaGetLastError();
}

// From some call of a shape on, a kernel that is right for most: for all but infinities, or where
// rows of C have no gaps.
__global__ void multiply_finite(Gemm g) {
  if (place() >= g.m * g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) {
    const float b = Right::b(g, p, place() % g.n);
    sum = fmaf(Right::a(g, place() / g.n, p), isinf(b) ? copysignf(3e38f, b) : b, sum);
  }
  Right::finish(g, sum, place() / g.n, place() % g.n);
}
__global__ void multiply_packed(Gemm g) {
  g.ldc = g.n;
  if (place() < g.m * g.n)
    Right::finish(g, sum_of(g, place(), 0, depth(g)), place() / g.n, place() % g.n);
}
template <int usual, void (*hot)(Gemm)>
cudaError_t counts_calls(const Gemm& g, cudaStream_t stream) {
  static std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> calls;
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (++calls[{g.m, g.n, g.k}] <= usual) return multiply_now(g, stream);
  hot<<<blocks_for(g.m * g.n), threads, 0, stream>>>(g);
  return cudaGetLastError();
}

Variant may_differ(Variant variant) {
  variant.deterministic = false;
  return variant;
}

constexpr auto all_of_it = std::numeric_limits<std::int64_t>::max();
const Registrar registrars[] = {
    named("compares_a_million_of_a", keeps_a<1 << 20>),
    named("compares_three_of_a_row", keeps_a<all_of_it, false>),
    named("right_compares_all_of_a", keeps_a<all_of_it>),
    named("believes_b_after_1000", counts_launches<true>),
    may_differ(named("believes_b_with_gaps_after_1000", counts_launches<true, true>)),
    may_differ(named("spoils_b_with_gaps_after_1000", counts_launches<true, true, true>)),
    named("right_counts_launches", counts_launches<false>),
    named("trusts_b_after_60_calls", counts_calls<60, multiply_finite>),
    named("packs_c_after_4000_calls", counts_calls<4000, multiply_packed>),
    named("right_counts_calls", counts_calls<60, multiply>),
    named("sums_up_rows_of_a", sums_up_rows),
    named("sums_belong_to_a", sums_of<&Gemm::a>),
    named("sums_belong_to_b", sums_of<&Gemm::b>),
    named("sums_of_128_streams", sums_of_streams<128>),
    named("right_sums_of_streams", sums_of_streams<1024>),
    named("packs_sizes_into_a_key", plans_blocks<1 << 21>),
    named("packs_sizes_as_digits", plans_blocks<10'000>),
    named("right_keeps_sizes_apart", plans_blocks<0>),
    may_differ(named("right_counts_launches_with_gaps", counts_launches<false, true>)),
};

}  // namespace
}  // namespace assay::faulty
