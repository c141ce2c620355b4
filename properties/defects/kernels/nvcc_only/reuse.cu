// What launches use again, or take for granted: slots in turn, a stream's handle, room for all
// blocks, memory that is there, the order in which blocks come. And the same done right.
#include <cooperative_groups.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64;

__device__ std::int64_t place() { return std::int64_t{blockIdx.x} * threads + threadIdx.x; }
unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, threads)); }
bool is_empty(const Gemm& g) { return g.m == 0 || g.n == 0; }

__global__ void multiply(Gemm g, const float* alpha) {
  if (alpha != nullptr) g.alpha = *alpha;
  const std::int64_t at = place();
  if (at < g.m * g.n) Right::finish(g, sum_of(g, at, 0, depth(g)), at / g.n, at % g.n);
}
__global__ void sum_up(Gemm g, float* sums) {
  if (place() < g.m * g.n) sums[place()] = sum_of(g, place(), 0, depth(g));
}
__global__ void finish(Gemm g, const float* sums) {
  if (place() < g.m * g.n) Right::finish(g, sums[place()], place() / g.n, place() % g.n);
}
cudaError_t in_one_kernel(const Gemm& g, cudaStream_t stream) {
  multiply<<<blocks(g), threads, 0, stream>>>(g, nullptr);
  return cudaGetLastError();
}

// Many slots in turn. Nobody may wait for the one that used a slot before.
struct Slot {
  float* alpha = nullptr;
  cudaEvent_t used = nullptr;
};
__global__ void write_alpha(Gemm g, float* alpha) { *alpha = g.alpha; }

template <bool waits, int slots = 100>
cudaError_t by_many_slots(const Gemm& g, cudaStream_t stream, void*) {
  static Slot all[slots];
  static int next = 0;
  if (is_empty(g)) return cudaSuccess;
  Slot& its = all[next++ % slots];
  if (its.alpha == nullptr) {
    if (const cudaError_t error = cudaMalloc(&its.alpha, sizeof(float))) return error;
    cudaEventCreateWithFlags(&its.used, cudaEventDisableTiming);
  }
  if (waits) cudaStreamWaitEvent(stream, its.used);
  write_alpha<<<1, 1, 0, stream>>>(g, its.alpha);
  multiply<<<blocks(g), threads, 0, stream>>>(g, its.alpha);
  cudaEventRecord(its.used, stream);
  return cudaGetLastError();
}

constexpr int many = 2000;
__device__ float alphas[many];
cudaError_t by_many_variables(const Gemm& g, cudaStream_t stream, void*) {
  static int next = 0;
  if (is_empty(g)) return cudaSuccess;
  void* first = nullptr;
  if (const cudaError_t error = cudaGetSymbolAddress(&first, alphas)) return error;
  float* const its = static_cast<float*>(first) + next++ % many;
  write_alpha<<<1, 1, 0, stream>>>(g, its);
  multiply<<<blocks(g), threads, 0, stream>>>(g, its);
  return cudaGetLastError();
}

cudaError_t in_memory(float*& its, const Gemm& g, cudaStream_t stream) {
  if (its == nullptr) {
    if (const cudaError_t error = cudaMalloc(&its, sizeof(float))) return error;
  }
  write_alpha<<<1, 1, 0, stream>>>(g, its);
  multiply<<<blocks(g), threads, 0, stream>>>(g, its);
  return cudaGetLastError();
}

// Memory of each stream, found by its handle.
cudaError_t by_handle_of_stream(const Gemm& g, cudaStream_t stream, void*) {
  static std::map<cudaStream_t, float*> all;
  return is_empty(g) ? cudaSuccess : in_memory(all[stream], g, stream);
}

// The same for the first few streams. All later ones share the memory of the last of them.
template <std::size_t most>
cudaError_t by_few_streams(const Gemm& g, cudaStream_t stream, void*) {
  static std::map<cudaStream_t, std::size_t> numbers;
  static float* all[most];
  if (is_empty(g)) return cudaSuccess;
  const std::size_t number = numbers.try_emplace(stream, numbers.size()).first->second;
  return in_memory(all[number < most ? number : most - 1], g, stream);
}

// Memory that a function of the host gives back to a pool, behind the kernels that use it.
struct Lent {
  static inline std::mutex mutex;
  static inline std::vector<Lent*> all;
  float* memory = nullptr;
};
void give_back(void* lent) {
  const std::lock_guard lock(Lent::mutex);
  Lent::all.push_back(static_cast<Lent*>(lent));
}
cudaError_t by_pool(const Gemm& g, cudaStream_t stream, void*) {
  if (is_empty(g)) return cudaSuccess;
  Lent* lent = nullptr;
  {
    const std::lock_guard lock(Lent::mutex);
    if (!Lent::all.empty()) lent = Lent::all.back(), Lent::all.pop_back();
  }
  if (lent == nullptr) lent = new Lent;
  cudaError_t error = in_memory(lent->memory, g, stream);
  if (error == cudaSuccess) error = cudaLaunchHostFunc(stream, give_back, lent);
  if (error != cudaSuccess) give_back(lent);
  return error;
}

// Two allocations of a stream, told by the first.
cudaError_t by_first_of_two(const Gemm& g, cudaStream_t stream, void*) {
  static std::map<cudaStream_t, std::array<float*, 2>> all;
  if (is_empty(g)) return cudaSuccess;
  auto& [alpha, beta] = all[stream];
  if (alpha == nullptr) {
    if (const cudaError_t error = cudaMalloc(&alpha, sizeof(float))) return error;
    if (const cudaError_t error = cudaMalloc(&beta, sizeof(float))) return error;
  }
  write_alpha<<<1, 1, 0, stream>>>(g, beta);
  multiply<<<blocks(g), threads, 0, stream>>>(g, beta);
  return cudaGetLastError();
}

// Blocks of all launches draw numbers of one counter: where a block begins in its columns, or which
// of its columns are its own.
__device__ unsigned turn;
template <bool decides_an_order>
__global__ void multiply_in_turns(Gemm g) {
  __shared__ unsigned number;
  if (threadIdx.x == 0) number = atomicAdd(&turn, 1u);
  __syncthreads();
  const std::int64_t at = place(), count = g.m * g.n;
  const std::int64_t begin = decides_an_order ? number % 3 : number % gridDim.x;
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t part = decides_an_order ? (begin + i) % 3 : i;
    const std::int64_t its = decides_an_order ? at : begin * threads + threadIdx.x;
    if (its < count && its % 3 == part)
      Right::finish(g, sum_of(g, its, 0, depth(g)), its / g.n, its % g.n);
  }
}
template <bool decides_an_order>
cudaError_t in_turns(const Gemm& g, cudaStream_t stream, void*) {
  if (is_empty(g)) return cudaSuccess;
  multiply_in_turns<decides_an_order><<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}

// How much of a long sum there is, kept by what the problem is besides.
__global__ void multiply_so_much(Gemm g, std::int64_t k) {
  if (place() < g.m * g.n)
    Right::finish(g, sum_of(g, place(), 0, min(k, depth(g))), place() / g.n, place() % g.n);
}
cudaError_t by_kept_plan(const Gemm& g, cudaStream_t stream, void*) {
  static std::map<std::array<std::int64_t, 5>, std::int64_t> plans;
  if (is_empty(g)) return cudaSuccess;
  constexpr std::int64_t long_sum = 1024;
  const std::int64_t k =
      g.k < long_sum ? g.k : plans.try_emplace({g.m, g.n, g.lda, g.ldb, g.ldc}, g.k).first->second;
  multiply_so_much<<<blocks(g), threads, 0, stream>>>(g, k);
  return cudaGetLastError();
}

// All blocks meet, as many as the device has room for: four on a multiprocessor, by what each takes
// of its shared memory.
template <bool is_cooperative>
__global__ void __launch_bounds__(threads) meet(Gemm g, float* sums, unsigned* arrived) {
  __shared__ float own[12'000];
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t at = place(); at < g.m * g.n; at += step) {
    own[threadIdx.x] = sum_of(g, at, 0, depth(g));
    sums[at] = own[threadIdx.x];
  }
  if (is_cooperative) {
    cooperative_groups::this_grid().sync();
  } else {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(arrived, 1u);
      while (atomicAdd(arrived, 0u) < gridDim.x) __nanosleep(64);
      __threadfence();
    }
    __syncthreads();
  }
  for (std::int64_t at = g.m * g.n - 1 - place(); at >= 0; at -= step)
    Right::finish(g, sums[at], at / g.n, at % g.n);
}
constexpr std::int64_t bytes_of_counter = 256;
std::int64_t bytes_to_meet(const Gemm& g) {
  return bytes_of_counter + g.m * g.n * std::int64_t{sizeof(float)};
}

template <bool is_cooperative>
cudaError_t meets_in_one_kernel(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  int multiprocessors = 0, each = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, meet<is_cooperative>, threads, 0);
  const std::int64_t all = std::int64_t{each} * multiprocessors;
  const unsigned grid = blocks(g) < all ? blocks(g) : static_cast<unsigned>(all);
  auto* counter = static_cast<unsigned*>(workspace);
  auto* sums = reinterpret_cast<float*>(static_cast<char*>(workspace) + bytes_of_counter);
  if (const cudaError_t error = cudaMemsetAsync(counter, 0, bytes_of_counter, stream)) return error;
  Gemm its = g;
  void* arguments[] = {&its, &sums, &counter};
  if (is_cooperative)
    return cudaLaunchCooperativeKernel(meet<is_cooperative>, dim3(grid), dim3(threads), arguments,
                                       0, stream);
  meet<is_cooperative><<<grid, threads, 0, stream>>>(g, sums, counter);
  return cudaGetLastError();
}

// Without memory it computes without sums, and may forget half of k.
template <bool is_right>
cudaError_t whole_without_memory(const Gemm& g, cudaStream_t stream, void*) {
  if (is_empty(g)) return cudaSuccess;
  float* sums = nullptr;
  const auto bytes = static_cast<std::size_t>(g.m * g.n) * sizeof(float);
  if (cudaMallocAsync(&sums, bytes, stream) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    Gemm half = g;
    if (!is_right) half.k = g.k / 2;
    return in_one_kernel(half, stream);
  }
  sum_up<<<blocks(g), threads, 0, stream>>>(g, sums);
  finish<<<blocks(g), threads, 0, stream>>>(g, sums);
  const cudaError_t error = cudaGetLastError();
  const cudaError_t freed = cudaFreeAsync(sums, stream);
  return error != cudaSuccess ? error : freed;
}

// Where little is free it computes without sums, one half of k after the other. The second one may
// begin with beta * C as well.
template <bool is_right>
cudaError_t in_halves_if_short(const Gemm& g, cudaStream_t stream, void*) {
  std::size_t free = 0, all = 0;
  if (const cudaError_t error = cudaMemGetInfo(&free, &all)) return error;
  if (free >= static_cast<std::size_t>(g.m * g.n) * sizeof(float))
    return whole_without_memory<true>(g, stream, nullptr);
  Gemm first = g, second = g;
  first.k = g.k / 2, second.k = g.k - first.k;
  second.a += first.k, second.b += first.k * g.ldb;
  if (is_right) second.beta = 1;
  if (const cudaError_t error = in_one_kernel(first, stream)) return error;
  return in_one_kernel(second, stream);
}

// Sums in a buffer, and an event behind its last use.
cudaError_t in_buffer(const Gemm& g, float* buffer, cudaEvent_t used, cudaStream_t stream) {
  sum_up<<<blocks(g), threads, 0, stream>>>(g, buffer);
  finish<<<blocks(g), threads, 0, stream>>>(g, buffer);
  cudaEventRecord(used, stream);
  return cudaGetLastError();
}

// A buffer that grows. Its size may be noted before there is one.
template <bool is_right>
cudaError_t by_growing_buffer(const Gemm& g, cudaStream_t stream, void*) {
  static float* buffer = nullptr;
  static std::int64_t held = 0;
  static cudaEvent_t used = nullptr;
  if (is_empty(g)) return cudaSuccess;
  if (used == nullptr) cudaEventCreateWithFlags(&used, cudaEventDisableTiming);
  if (held < g.m * g.n) {
    cudaFree(buffer);
    buffer = nullptr, held = is_right ? 0 : g.m * g.n;
    const auto bytes = static_cast<std::size_t>(g.m * g.n) * sizeof(float);
    if (const cudaError_t error = cudaMalloc(&buffer, bytes)) return error;
    held = g.m * g.n;
  }
  cudaStreamWaitEvent(stream, used);
  return in_buffer(g, buffer, used, stream);
}

// The same from the pool, where each launch waits for the one before, but for what it gives back.
template <bool waits>
cudaError_t by_growing_pool(const Gemm& g, cudaStream_t stream, void*) {
  static float* buffer = nullptr;
  static std::int64_t held = 0;
  static cudaEvent_t used = nullptr;
  if (is_empty(g)) return cudaSuccess;
  if (used == nullptr) cudaEventCreateWithFlags(&used, cudaEventDisableTiming);
  if (waits || held >= g.m * g.n) cudaStreamWaitEvent(stream, used);
  if (held < g.m * g.n) {
    if (buffer != nullptr) cudaFreeAsync(buffer, stream);
    buffer = nullptr, held = 0;
    const auto bytes = static_cast<std::size_t>(g.m * g.n) * sizeof(float);
    if (const cudaError_t error = cudaMallocAsync(&buffer, bytes, stream)) return error;
    held = g.m * g.n;
  }
  return in_buffer(g, buffer, used, stream);
}

// Four blocks share a long sum. The last one to come adds up what they left, in the order in which
// they came, or in that of their numbers.
constexpr int shares = 4;
template <bool by_arrival>
__global__ void share_out(Gemm g, unsigned* came, float* slots) {
  const std::int64_t at = place(), all = g.m * g.n;
  if (at >= all) return;
  const std::int64_t each = ceil_div(depth(g), shares), first = blockIdx.y * each;
  const float sum = sum_of(g, at, first, min(depth(g), first + each));
  const unsigned slot = by_arrival ? atomicAdd(&came[at], 1u) : blockIdx.y;
  slots[slot * all + at] = sum;
  __threadfence();
  if (atomicAdd(&came[all + at], 1u) + 1 < shares) return;
  __threadfence();
  float total = 0;
  for (int i = 0; i < shares; ++i) total += slots[i * all + at];
  Right::finish(g, total, at / g.n, at % g.n);
}
constexpr std::int64_t long_k = 66'000;
std::int64_t bytes_to_share(const Gemm& g) {
  return depth(g) < long_k ? 0 : (2 + shares) * g.m * g.n * std::int64_t{sizeof(float)};
}

template <bool by_arrival>
cudaError_t shares_long_k(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  if (depth(g) < long_k) return in_one_kernel(g, stream);
  auto* const came = static_cast<unsigned*>(workspace);
  const auto counters = static_cast<std::size_t>(2 * g.m * g.n);
  if (const cudaError_t error = cudaMemsetAsync(came, 0, counters * sizeof(unsigned), stream))
    return error;
  share_out<by_arrival><<<dim3(blocks(g), shares), threads, 0, stream>>>(
      g, came, static_cast<float*>(workspace) + counters);
  return cudaGetLastError();
}

// As many rows at a time as a quarter of what is free holds of A, if that is worth it. Each band
// may begin with the row that the one before ends with.
template <bool is_right>
cudaError_t in_bands_of_what_is_free(const Gemm& g, cudaStream_t stream, void*) {
  std::size_t free = 0, total = 0;
  if (is_empty(g) || g.k == 0) return is_empty(g) ? cudaSuccess : in_one_kernel(g, stream);
  if (const cudaError_t error = cudaMemGetInfo(&free, &total)) return error;
  const auto rows = static_cast<std::int64_t>(free / 4 / sizeof(float)) / g.k;
  if (rows < 2) return in_one_kernel(g, stream);
  for (std::int64_t first = 0; first < g.m; first += rows) {
    Gemm band = g;
    band.m = std::min(rows + !is_right, g.m - first);
    band.a += first * g.lda, band.c += first * g.ldc;
    if (const cudaError_t error = in_one_kernel(band, stream)) return error;
  }
  return cudaSuccess;
}

const Registrar registrars[] = {
    named("slots_in_turn", by_many_slots<false>, bytes_to_meet),
    named("two_thousand_slots_in_turn", by_many_variables, bytes_to_meet),
    named("right_slots_in_turn", by_many_slots<true>, bytes_to_meet),
    named("right_memory_of_a_handle", by_handle_of_stream, bytes_to_meet),
    named("right_pool_of_lent_memory", by_pool, bytes_to_meet),
    named("places_for_eight_streams", by_few_streams<8>, bytes_to_meet),
    named("places_for_64_streams", by_few_streams<64>, bytes_to_meet),
    named("right_ring_of_places", by_many_slots<true, 1000>, bytes_to_meet),
    named("notes_one_of_two", by_first_of_two, bytes_to_meet),
    named("plans_without_k", by_kept_plan, bytes_to_meet),
    named("blocks_meet_uninvited", meets_in_one_kernel<false>, bytes_to_meet),
    named("right_blocks_meet", meets_in_one_kernel<true>, bytes_to_meet),
    named("half_without_memory", whole_without_memory<false>, bytes_to_meet),
    named("right_without_memory", whole_without_memory<true>, bytes_to_meet),
    named("bands_of_what_is_free", in_bands_of_what_is_free<false>, bytes_to_meet),
    named("right_bands_of_what_is_free", in_bands_of_what_is_free<true>, bytes_to_meet),
    named("begins_again_if_short", in_halves_if_short<false>, bytes_to_meet),
    named("right_halves_if_short", in_halves_if_short<true>, bytes_to_meet),
    named("notes_size_too_soon", by_growing_buffer<false>, bytes_to_meet),
    named("right_growing_buffer", by_growing_buffer<true>, bytes_to_meet),
    named("gives_back_too_soon", by_growing_pool<false>, bytes_to_meet),
    named("right_growing_pool", by_growing_pool<true>, bytes_to_meet),
    named("blocks_by_shared_turn", in_turns<false>, bytes_to_meet),
    named("right_order_by_shared_turn", in_turns<true>, bytes_to_meet),
    named("shares_by_arrival", shares_long_k<true>, bytes_to_share),
    named("right_shares", shares_long_k<false>, bytes_to_share),
};

}  // namespace
}  // namespace assay::faulty
