// Sums that a kernel leaves in memory and reads again: through the cache that takes memory for
// unchanged while a kernel runs, by copies that nothing orders with stores, and in ways that are
// right.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64;

__device__ float sum_of(const Gemm& g, std::int64_t at) {
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
  return sum;
}

using Read = float(const float*);
__device__ float by_the_usual_way(const float* sum) { return *sum; }
__device__ float through_read_only_cache(const float* sum) { return __ldg(sum); }

// Each thread finishes the element of another one of its block.
template <Read* read>
__global__ void sum_and_finish(Gemm g, float* sums) {
  const std::int64_t first = std::int64_t{blockIdx.x} * threads;
  const std::int64_t mine = first + threadIdx.x, others = first + threads - 1 - threadIdx.x;
  if (mine < g.m * g.n) sums[mine] = sum_of(g, mine);
  __syncthreads();
  if (others < g.m * g.n) Right::finish(g, read(sums + others), others / g.n, others % g.n);
}
// A bulk copy sees memory through a proxy of its own.
template <bool fences>
__global__ void sum_and_copy(Gemm g, float* sums) {
  __shared__ alignas(16) float copied[threads];
  __shared__ alignas(8) std::uint64_t arrived;
  const std::int64_t first = std::int64_t{blockIdx.x} * threads, mine = first + threadIdx.x;
  sums[mine] = mine < g.m * g.n ? sum_of(g, mine) : 0;
  if (fences) asm volatile("fence.proxy.async.global;" ::: "memory");
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(copied));
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async.shared::cta;" ::"r"(barrier)
                 : "memory");
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile(
        "{.reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%1], %3;}"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%2], %3, [%1];" ::
            "r"(target),
        "r"(barrier), "l"(sums + first), "n"(threads * sizeof(float))
        : "memory");
  asm volatile(
      "{.reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra "
      "again;}" ::"r"(barrier)
      : "memory");
  if (mine < g.m * g.n) Right::finish(g, copied[threadIdx.x], mine / g.n, mine % g.n);
}
__global__ void sum_up(Gemm g, float* sums) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < g.m * g.n) sums[at] = sum_of(g, at);
}
__global__ void finish(Gemm g, const float* sums) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < g.m * g.n) Right::finish(g, __ldg(sums + at), at / g.n, at % g.n);
}

unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, threads)); }

template <Read* read>
cudaError_t in_one_kernel(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  sum_and_finish<read><<<blocks(g), threads, 0, stream>>>(g, static_cast<float*>(workspace));
  return cudaGetLastError();
}
template <bool fences>
cudaError_t by_bulk_copy(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  sum_and_copy<fences><<<blocks(g), threads, 0, stream>>>(g, static_cast<float*>(workspace));
  return cudaGetLastError();
}
cudaError_t in_two_kernels(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  auto* const sums = static_cast<float*>(workspace);
  sum_up<<<blocks(g), threads, 0, stream>>>(g, sums);
  finish<<<blocks(g), threads, 0, stream>>>(g, sums);
  return cudaGetLastError();
}

Variant by(const char* name, Launch launch) {
  return {.name = name,
          .idea = "Sums are left in memory, and read again.",
          .launch = launch,
          .tile = {1, threads, 1},
          .workspace = [](const Gemm& g) {
            return ceil_div(g.m * g.n, threads) * threads * std::int64_t{sizeof(float)};
          }};
}

const Registrar registrars[] = {
    by("sums_through_read_only_cache", in_one_kernel<through_read_only_cache>),
    by("right_past_read_only_cache", in_one_kernel<by_the_usual_way>),
    by("right_read_only_cache", in_two_kernels),
    by("sums_copied_without_fence", by_bulk_copy<false>),
    by("right_copied_sums", by_bulk_copy<true>),
};

}  // namespace
}  // namespace assay::faulty
