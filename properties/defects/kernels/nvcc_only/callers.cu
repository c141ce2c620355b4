// What shows in the circumstances of a call: the priority of its stream, what is left over after it
// or after one that fails, what had been called before, how long work takes. And the same done
// right.
#include <algorithm>
#include <map>
#include <utility>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64;

__global__ void multiply(Gemm g, int step) {
  const std::int64_t stride = std::int64_t{gridDim.x} * threads * step;
  for (std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x; at < g.m * g.n;
       at += stride)
    Right::finish(g, sum_of(g, at, 0, depth(g)), at / g.n, at % g.n);
}
unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, threads)); }
bool is_empty(const Gemm& g) { return g.m == 0 || g.n == 0; }
cudaError_t multiply_in(cudaStream_t stream, const Gemm& g, unsigned grid, int step = 1) {
  multiply<<<grid, threads, 0, stream>>>(g, step);
  return cudaGetLastError();
}

// Half as many blocks, where the stream lets others go first: each does two steps of the other's.
template <bool forgets_the_others>
cudaError_t by_priority(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  int priority = 0;
  if (const cudaError_t error = cudaStreamGetPriority(stream, &priority)) return error;
  const bool is_urgent = priority < 0;
  const unsigned grid = is_urgent ? std::max(1u, blocks(g) / 2) : blocks(g);
  return multiply_in(stream, g, grid, is_urgent && forgets_the_others ? 2 : 1);
}

template <bool destroys>
cudaError_t with_an_event(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  cudaEvent_t begun = nullptr;
  if (const cudaError_t error = cudaEventCreate(&begun)) return error;
  cudaError_t error = cudaEventRecord(begun, stream);
  if (error == cudaSuccess) error = multiply_in(stream, g, blocks(g));
  if (destroys) cudaEventDestroy(begun);
  return error;
}

// Without the event nothing orders the other stream with the caller's.
template <bool looks>
cudaError_t behind_an_event(const Gemm& g, cudaStream_t stream) {
  static cudaStream_t other = nullptr;
  if (is_empty(g)) return cudaSuccess;
  if (other == nullptr)
    if (const cudaError_t error = cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking))
      return error;
  const auto wait_for = [&](cudaStream_t first, cudaStream_t then) {
    cudaEvent_t done = nullptr;
    cudaError_t error = cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(done, first);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(then, done, 0);
    if (done != nullptr) cudaEventDestroy(done);
    cudaGetLastError();
    return looks ? error : cudaSuccess;
  };
  cudaError_t error = wait_for(stream, other);
  if (error == cudaSuccess) error = multiply_in(other, g, blocks(g));
  if (error == cudaSuccess) error = wait_for(other, stream);
  return error;
}

__global__ void sum_up(Gemm g, float* sums) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < g.m * g.n) sums[at] = sum_of(g, at, 0, depth(g));
}
__global__ void finish(Gemm g, const float* sums) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < g.m * g.n) Right::finish(g, sums[at], at / g.n, at % g.n);
}
template <bool also_where_it_fails>
cudaError_t by_own_sums(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  float* sums = nullptr;
  const auto bytes = static_cast<std::size_t>(g.m * g.n) * sizeof(float);
  if (const cudaError_t error = cudaMallocAsync(&sums, bytes, stream)) return error;
  sum_up<<<blocks(g), threads, 0, stream>>>(g, sums);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess && !also_where_it_fails) return error;
  if (error == cudaSuccess) {
    finish<<<blocks(g), threads, 0, stream>>>(g, sums);
    error = cudaGetLastError();
  }
  const cudaError_t freed = cudaFreeAsync(sums, stream);
  return error != cudaSuccess ? error : freed;
}

// A factor that the first call sets, unless it is captured: then that happens when its graph runs.
template <bool also_where_captured>
__device__ float factor;
template <bool also_where_captured>
__global__ void set_factor() {
  factor<also_where_captured> = 1;
}
template <bool also_where_captured>
__global__ void multiply_by_factor(Gemm g) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= g.m * g.n) return;
  const float sum = sum_of(g, at, 0, depth(g));
  Right::finish(g, factor<also_where_captured> == 1 ? sum : 0, at / g.n, at % g.n);
}
template <bool also_where_captured>
cudaError_t sets_up_once(const Gemm& g, cudaStream_t stream) {
  static bool is_set_up = false;
  if (is_empty(g)) return cudaSuccess;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status)) return error;
  const bool is_captured = status != cudaStreamCaptureStatusNone;
  if (!is_set_up) {
    set_factor<also_where_captured><<<1, 1, 0, stream>>>();
    if (const cudaError_t error = cudaGetLastError()) return error;
    if (!is_captured)
      if (const cudaError_t error = cudaStreamSynchronize(stream)) return error;
    is_set_up = also_where_captured || !is_captured;
  }
  multiply_by_factor<also_where_captured><<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}

// What is kept for each stream: how far to go along k, for each k. Null where it cannot be had.
constexpr int kept_ends = 64;
std::int64_t* ends_of(cudaStream_t stream) {
  static std::map<cudaStream_t, std::int64_t*> all;
  std::int64_t*& its = all[stream];
  if (its == nullptr) cudaMalloc(&its, kept_ends * sizeof *its);
  return its;
}
__global__ void multiply_to_end(Gemm g, const std::int64_t* end) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < g.m * g.n) Right::finish(g, sum_of(g, at, 0, *end), at / g.n, at % g.n);
}

// It is set where it is another one than at the last call; or by each call, whose graph may be
// launched behind another one.
__global__ void set_end(std::int64_t k, std::int64_t* end) { *end = k; }
template <bool by_each_call>
cudaError_t to_end_as_set(const Gemm& g, cudaStream_t stream) {
  static std::map<cudaStream_t, std::int64_t> last;
  std::int64_t* const end = ends_of(stream);
  if (is_empty(g) || end == nullptr) return cudaGetLastError();
  const std::int64_t k = g.alpha == 0 ? 0 : g.k;
  const auto [its, is_new] = last.try_emplace(stream, k);
  if (std::exchange(its->second, k) != k || is_new || by_each_call)
    set_end<<<1, 1, 0, stream>>>(k, end);
  multiply_to_end<<<blocks(g), threads, 0, stream>>>(g, end);
  return cudaGetLastError();
}

// Set by a copy from pinned memory of the stream's own, which the copy of the call before may still
// need where that had another k.
template <bool waits>
cudaError_t to_end_by_copy(const Gemm& g, cudaStream_t stream) {
  static std::map<cudaStream_t, std::int64_t*> pinned;
  std::int64_t* const end = ends_of(stream);
  if (is_empty(g) || end == nullptr) return cudaGetLastError();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status)) return error;
  if (status != cudaStreamCaptureStatusNone) return multiply_in(stream, g, blocks(g));
  std::int64_t*& from = pinned[stream];
  if (from == nullptr)
    if (const cudaError_t error = cudaMallocHost(&from, sizeof *from)) return error;
  const std::int64_t k = g.alpha == 0 ? 0 : g.k;
  if (waits)
    if (const cudaError_t error = cudaStreamSynchronize(stream)) return error;
  *from = k;
  if (const cudaError_t error =
          cudaMemcpyAsync(end, from, sizeof *from, cudaMemcpyHostToDevice, stream))
    return error;
  multiply_to_end<<<blocks(g), threads, 0, stream>>>(g, end);
  return cudaGetLastError();
}

// To where A has nothing but zeros, which a call looks for; or the one before has, where it is
// captured.
__global__ void find_zeros(Gemm g, std::int64_t* end) {
  *end = depth(g);
  const auto is_zero = [&](std::int64_t p) {
    for (std::int64_t row = 0; row < g.m; ++row)
      if (Right::a(g, row, p) != 0) return false;
    return true;
  };
  while (*end > 0 && is_zero(*end - 1)) --*end;
}
template <bool looks_where_captured>
cudaError_t to_zeros(const Gemm& g, cudaStream_t stream) {
  std::int64_t* end = ends_of(stream);
  if (is_empty(g) || end == nullptr) return cudaGetLastError();
  end += g.k % kept_ends;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status)) return error;
  if (looks_where_captured || status == cudaStreamCaptureStatusNone)
    find_zeros<<<1, 1, 0, stream>>>(g, end);
  multiply_to_end<<<blocks(g), threads, 0, stream>>>(g, end);
  return cudaGetLastError();
}

// A query would end a capture in another stream, but for this.
template <bool puts_back>
cudaError_t in_relaxed_mode(const Gemm& g, cudaStream_t stream) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (const cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode)) return error;
  const cudaError_t error = is_empty(g) ? cudaSuccess : multiply_in(stream, g, blocks(g));
  if (puts_back) cudaThreadExchangeStreamCaptureMode(&mode);
  return error;
}

// One place for sums, which a call leaves to the next one when its event is there.
constexpr std::int64_t most_sums = 1 << 12;
template <int most_asked>
__device__ float sums_of_all[most_sums];
template <int most_asked>
cudaError_t asks(const Gemm& g, cudaStream_t stream) {
  static cudaEvent_t last = nullptr;
  if (is_empty(g)) return cudaSuccess;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status)) return error;
  if (g.m * g.n > most_sums || status != cudaStreamCaptureStatusNone)
    return multiply_in(stream, g, blocks(g));
  if (last == nullptr)
    if (const cudaError_t error = cudaEventCreateWithFlags(&last, cudaEventDisableTiming))
      return error;
  for (int i = 0; i < most_asked && cudaEventQuery(last) == cudaErrorNotReady; ++i)
    cudaGetLastError();  // which is no failure
  void* first = nullptr;
  if (const cudaError_t error = cudaGetSymbolAddress(&first, sums_of_all<most_asked>)) return error;
  auto* const sums = static_cast<float*>(first);
  sum_up<<<blocks(g), threads, 0, stream>>>(g, sums);
  cudaError_t error = cudaGetLastError();
  finish<<<blocks(g), threads, 0, stream>>>(g, sums);
  const cudaError_t of_second = cudaGetLastError();
  if (error == cudaSuccess) error = of_second;
  const cudaError_t recorded = cudaEventRecord(last, stream);
  return error != cudaSuccess ? error : recorded;
}

const Registrar registrars[] = {
    named("half_where_urgent", by_priority<true>),
    named("right_where_urgent", by_priority<false>),
    named("leaves_an_event", with_an_event<false>),
    named("right_event", with_an_event<true>),
    named("goes_on_without_event", behind_an_event<false>),
    named("right_behind_an_event", behind_an_event<true>),
    named("keeps_sums_where_it_fails", by_own_sums<false>),
    named("right_sums_where_it_fails", by_own_sums<true>),
    named("set_up_by_a_capture", sets_up_once<true>),
    named("right_set_up_by_a_call", sets_up_once<false>),
    named("goes_as_far_as_the_last_call", to_end_as_set<false>),
    named("right_end", to_end_as_set<true>),
    named("rewrites_what_the_last_call_copies", to_end_by_copy<false>),
    named("right_copy_of_end", to_end_by_copy<true>),
    named("leaves_out_zeros_of_the_last_call", to_zeros<false>),
    named("right_zeros", to_zeros<true>),
    named("stays_relaxed", in_relaxed_mode<false>),
    named("right_relaxed_for_a_while", in_relaxed_mode<true>),
    named("asks_100_times", asks<100>),
    named("right_asks_on", asks<1 << 30>),
};

}  // namespace
}  // namespace assay::faulty
