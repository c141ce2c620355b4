// Kernels that begin with what nobody has set: an array of a thread's own that lies in memory, and
// a count in shared memory that is only ever changed by atomic additions. Each has a right twin.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64, lanes = 4;

__device__ std::int64_t element() { return std::int64_t{blockIdx.x} * threads + threadIdx.x; }

// Which of its sums a product goes to is only known as it runs, and so they lie in memory.
template <bool sets>
__global__ void add_in_turn(Gemm g, int turn) {
  const std::int64_t at = element();
  if (at >= g.m * g.n) return;
  float sums[lanes];
  if (sets)
    for (float& sum : sums) sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) {
    float& sum = sums[(p + turn) % lanes];
    sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  Right::finish(g, total, at / g.n, at % g.n);
}

// A thread takes an element that no other has taken yet.
template <bool sets>
__global__ void take_numbers(Gemm g) {
  __shared__ int taken;
  if (sets && threadIdx.x == 0) taken = 0;
  __syncthreads();
  const int number = atomicAdd(&taken, 1);
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + number;
  if (number < 0 || number >= threads || at >= g.m * g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
  Right::finish(g, sum, at / g.n, at % g.n);
}

// C is read before beta is looked at, though nothing comes of it.
__global__ void look_at_c_first(Gemm g) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= g.m * g.n) return;
  float* const c = &g.c[at / g.n * g.ldc + at % g.n];
  float old = 0;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(old) : "l"(__cvta_generic_to_global(c)));
  const float product = g.alpha * sum_of(g, at, 0, depth(g));
  *c = g.beta == 0 ? product : fmaf(g.beta, old, product);
}

unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, threads)); }

template <bool sets>
cudaError_t launch_turns(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  add_in_turn<sets><<<blocks(g), threads, 0, stream>>>(g, static_cast<int>(g.m % lanes));
  return cudaGetLastError();
}
template <bool sets>
cudaError_t launch_numbers(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  take_numbers<sets><<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}
cudaError_t looks_at_c_first(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  look_at_c_first<<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}

Variant by(const char* name, Launch launch) {
  return {.name = name,
          .idea = "Begins with what it has, or has not, set.",
          .launch = launch,
          .tile = {1, threads, 1}};
}

const Registrar registrars[] = {
    by("own_sums_not_set", launch_turns<false>),
    by("right_own_sums", launch_turns<true>),
    by("shared_count_not_set", launch_numbers<false>),
    by("right_shared_count", launch_numbers<true>),
    by("looks_at_c_first", looks_at_c_first),
};

}  // namespace
}  // namespace assay::faulty
