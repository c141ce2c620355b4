// Kernels in several streams, as nvcc compiles them: what waits for too little, and right ones
// beside them, which every claim must let pass.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

// Sums go to memory of the launch's own, one for each element, and from there to C.
__global__ void sum_up(Gemm g, float* sums) {
  const std::int64_t at = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  if (at >= g.m * g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
  sums[at] = sum;
}
__global__ void finish(Gemm g, const float* sums) {
  const std::int64_t at = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  if (at < g.m * g.n) Right::finish(g, sums[at], at / g.n, at % g.n);
}
__global__ void finish_early(Gemm g, const float* sums) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const std::int64_t at = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  if (at < g.m * g.n) Right::finish(g, sums[at], at / g.n, at % g.n);
}
// The first of its launch, before the caller's last kernel may have ended.
template <bool reads_b_first>
__global__ void all_early(Gemm g) {
  const std::int64_t at = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  const bool is_inside = at < g.m * g.n && depth(g) > 0;
  float first = is_inside && reads_b_first ? Right::b(g, 0, at % g.n) : 0;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (is_inside && !reads_b_first) first = Right::b(g, 0, at % g.n);
  float sum = 0;
  for (std::int64_t p = 0; at < g.m * g.n && p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, at / g.n, p), p == 0 ? first : Right::b(g, p, at % g.n));
  if (at < g.m * g.n) Right::finish(g, sum, at / g.n, at % g.n);
}
unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, 64)); }
std::int64_t bytes_of_sums(const Gemm& g) { return g.m * g.n * std::int64_t{sizeof(float)}; }

void sum_in(cudaStream_t stream, const Gemm& g, float* sums) {
  if (g.m > 0 && g.n > 0) sum_up<<<blocks(g), 64, 0, stream>>>(g, sums);
}
void finish_in(cudaStream_t stream, const Gemm& g, const float* sums) {
  if (g.m > 0 && g.n > 0) finish<<<blocks(g), 64, 0, stream>>>(g, sums);
}

cudaStream_t made(unsigned flags) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, flags);
  return stream;
}
cudaStream_t side() {
  static const cudaStream_t stream = made(cudaStreamNonBlocking);
  return stream;
}
cudaStream_t other_side() {
  static const cudaStream_t stream = made(cudaStreamNonBlocking);
  return stream;
}
cudaStream_t blocking_side() {
  static const cudaStream_t stream = made(cudaStreamDefault);
  return stream;
}
cudaEvent_t made_event() {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  return event;
}
// All that is in `first` so far comes before what `then` gets from now on.
void order(cudaStream_t first, cudaStream_t then) {
  static const cudaEvent_t event = made_event();
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(then, event);
}

using InWorkspace = void(const Gemm&, cudaStream_t, float* sums);

void forks_and_joins(const Gemm& g, cudaStream_t stream, float* sums) {
  order(stream, side());
  sum_in(side(), g, sums);
  order(side(), stream);
  finish_in(stream, g, sums);
}
void not_joined(const Gemm& g, cudaStream_t stream, float* sums) {
  order(stream, side());
  sum_in(side(), g, sums);
  finish_in(stream, g, sums);
}
void not_forked(const Gemm& g, cudaStream_t stream, float* sums) {
  sum_in(side(), g, sums);
  order(side(), stream);
  finish_in(stream, g, sums);
}
void left_in_side_stream(const Gemm& g, cudaStream_t stream, float* sums) {
  sum_in(stream, g, sums);
  order(stream, side());
  finish_in(side(), g, sums);
}
void joined_before_it_ends(const Gemm& g, cudaStream_t stream, float* sums) {
  order(stream, side());
  order(side(), stream);
  sum_in(side(), g, sums);
  finish_in(stream, g, sums);
}
// Whoever uses the default stream waits for those alone that are not apart from it.
template <cudaStream_t other()>
void not_in_default_stream(const Gemm& g, cudaStream_t stream, float* sums) {
  const cudaStream_t its = stream == nullptr ? other() : stream;
  sum_in(its, g, sums);
  finish_in(its, g, sums);
}

// A stream that is not apart waits for the legacy default stream, but for no thread's own.
template <bool knows_that>
void in_ordered_side(const Gemm& g, cudaStream_t stream, float* sums) {
  const bool waits = stream == nullptr || (stream == cudaStreamPerThread && !knows_that);
  if (!waits) order(stream, blocking_side());
  sum_in(blocking_side(), g, sums);
  if (!waits) order(blocking_side(), stream);
  finish_in(stream, g, sums);
}

// Nor does it wait for others that are not apart.
void beside_one_that_is_not_apart(const Gemm& g, cudaStream_t stream, float* sums) {
  unsigned flags = 0;
  cudaStreamGetFlags(stream, &flags);
  const bool waits = flags == cudaStreamDefault && stream != cudaStreamPerThread;
  if (!waits) order(stream, blocking_side());
  sum_in(blocking_side(), g, sums);
  if (!waits) order(blocking_side(), stream);
  finish_in(stream, g, sums);
}

// The default stream cannot be captured, by whichever of its names.
void captured_by_name(const Gemm& g, cudaStream_t stream, float* sums) {
  cudaGraph_t graph = nullptr;
  const bool captures = stream == cudaStreamLegacy;
  if (captures && cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) != cudaSuccess)
    return;  // the last error tells
  forks_and_joins(g, stream, sums);
  if (captures) cudaStreamEndCapture(stream, &graph);
}

// In memory from a pool, which is given back in a stream that has waited for it, or has not.
void in_pool(const Gemm& g, cudaStream_t stream, cudaStream_t frees) {
  float* sums = nullptr;
  if (g.m == 0 || g.n == 0) return;
  const auto bytes = static_cast<std::size_t>(bytes_of_sums(g));
  if (cudaMallocAsync(&sums, bytes, stream) != cudaSuccess) return;  // the last error tells
  cudaMemsetAsync(sums, 0xff, bytes, stream);
  sum_in(stream, g, sums);
  finish_in(stream, g, sums);
  cudaFreeAsync(sums, frees);
}
void from_pool(const Gemm& g, cudaStream_t stream, float*) { in_pool(g, stream, stream); }
void freed_elsewhere(const Gemm& g, cudaStream_t stream, float*) { in_pool(g, stream, side()); }
// The side stream waits for what was there before the memory, or for that as well.
void sums_in_side(const Gemm& g, cudaStream_t stream, bool waits_for_memory) {
  float* sums = nullptr;
  if (g.m == 0 || g.n == 0) return;
  order(stream, side());
  const auto bytes = static_cast<std::size_t>(bytes_of_sums(g));
  if (cudaMallocAsync(&sums, bytes, stream) != cudaSuccess) return;  // the last error tells
  if (waits_for_memory) order(stream, side());
  sum_in(side(), g, sums);
  order(side(), stream);
  finish_in(stream, g, sums);
  cudaFreeAsync(sums, stream);
}
void used_before_allocated(const Gemm& g, cudaStream_t stream, float*) {
  sums_in_side(g, stream, false);
}
void used_once_allocated(const Gemm& g, cudaStream_t stream, float*) {
  sums_in_side(g, stream, true);
}

// One buffer for all launches, which take turns, or do not.
float* kept() {
  static float* const memory = [] {
    void* made = nullptr;
    cudaMalloc(&made, 32 * 32 * sizeof(float));
    return static_cast<float*>(made);
  }();
  return memory;
}
void in_kept_buffer(const Gemm& g, cudaStream_t stream, float*) {
  sum_in(stream, g, kept());
  finish_in(stream, g, kept());
}
void in_kept_buffer_by_turns(const Gemm& g, cudaStream_t stream, float*) {
  static const cudaEvent_t used = made_event();
  cudaStreamWaitEvent(stream, used);
  in_kept_buffer(g, stream, nullptr);
  cudaEventRecord(used, stream);
}

// The host waits.
void host_waits(const Gemm& g, cudaStream_t stream, float* sums) {
  cudaStreamSynchronize(stream);
  sum_in(side(), g, sums);
  cudaStreamSynchronize(side());
  finish_in(stream, g, sums);
}
void device_waits(const Gemm& g, cudaStream_t stream, float* sums) {
  cudaDeviceSynchronize();
  sum_in(nullptr, g, sums);
  finish_in(nullptr, g, sums);
  cudaDeviceSynchronize();
  static_cast<void>(stream);
}
// A stream that is not apart waits for the default stream, and that for it.
void through_default_stream(const Gemm& g, cudaStream_t stream, float* sums) {
  order(stream, blocking_side());
  sum_in(blocking_side(), g, sums);
  finish_in(nullptr, g, sums);
  order(nullptr, stream);
}
// Each half of the rows in a stream, then a copy of the sums in a third.
void in_two_side_streams(const Gemm& g, cudaStream_t stream, float* sums) {
  Gemm upper = g, lower = g;
  upper.m = g.m / 2, lower.m = g.m - upper.m;
  lower.a += upper.m * g.lda;
  order(stream, side());
  order(stream, other_side());
  sum_in(side(), upper, sums);
  sum_in(other_side(), lower, sums + upper.m * g.n);
  order(side(), other_side());
  order(other_side(), stream);
  finish_in(stream, g, sums);
}
void copied_in_side_stream(const Gemm& g, cudaStream_t stream, float* sums) {
  float* const copy = sums + g.m * g.n;
  sum_in(stream, g, sums);
  order(stream, side());
  const auto bytes = static_cast<std::size_t>(bytes_of_sums(g));
  if (bytes > 0) cudaMemcpyAsync(copy, sums, bytes, cudaMemcpyDeviceToDevice, side());
  order(side(), stream);
  finish_in(stream, g, copy);
}
void copy_not_joined(const Gemm& g, cudaStream_t stream, float* sums) {
  float* const copy = sums + g.m * g.n;
  sum_in(stream, g, sums);
  order(stream, side());
  const auto bytes = static_cast<std::size_t>(bytes_of_sums(g));
  if (bytes > 0) cudaMemcpyAsync(copy, sums, bytes, cudaMemcpyDeviceToDevice, side());
  finish_in(stream, g, copy);
}
template <class... Params, class... Arguments>
void start_early(cudaStream_t stream, const Gemm& g, void (*kernel)(Params...),
                 Arguments... arguments) {
  if (g.m == 0 || g.n == 0) return;
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks(g), config.blockDim = 64, config.stream = stream;
  config.attrs = &early, config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}
// The second kernel may begin before the first has ended, and waits for it by itself.
void begins_early(const Gemm& g, cudaStream_t stream, float* sums) {
  sum_in(stream, g, sums);
  start_early(stream, g, finish_early, g, static_cast<const float*>(sums));
}
template <bool reads_b_first>
void all_begins_early(const Gemm& g, cudaStream_t stream, float*) {
  start_early(stream, g, all_early<reads_b_first>, g);
}

// The last block to arrive finishes all sums. A counter that goes back to zero by itself serves one
// launch after the other, but not two at a time; that nobody asks what was counted does no harm.
__device__ unsigned arrived, launched;
__global__ void last_one_finishes(Gemm g, float* sums, unsigned* counter) {
  const std::int64_t at = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  if (at == 0) atomicAdd(&launched, 1u);
  float sum = 0;
  for (std::int64_t p = 0; at < g.m * g.n && p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
  if (at < g.m * g.n) sums[at] = sum;
  __threadfence();
  __syncthreads();
  __shared__ bool is_last;
  if (threadIdx.x == 0) is_last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  for (std::int64_t i = threadIdx.x; i < g.m * g.n; i += 64)
    Right::finish(g, __ldcg(sums + i), i / g.n, i % g.n);
}
void counted_by(unsigned* counter, const Gemm& g, cudaStream_t stream, float* sums) {
  if (g.m > 0 && g.n > 0) last_one_finishes<<<blocks(g), 64, 0, stream>>>(g, sums, counter);
}
void in_one_counter(const Gemm& g, cudaStream_t stream, float* sums) {
  void* counter = nullptr;
  cudaGetSymbolAddress(&counter, arrived);
  counted_by(static_cast<unsigned*>(counter), g, stream, sums);
}
void in_counter_of_its_own(const Gemm& g, cudaStream_t stream, float* sums) {
  if (g.m == 0 || g.n == 0) return;
  auto* const counter = reinterpret_cast<unsigned*>(sums + g.m * g.n);
  cudaMemsetAsync(counter, 0, sizeof *counter, stream);
  counted_by(counter, g, stream, sums);
}

template <InWorkspace* put>
cudaError_t launch_in(const Gemm& g, cudaStream_t stream, void* workspace) {
  put(g, stream, static_cast<float*>(workspace));
  return cudaGetLastError();
}
template <InWorkspace* put>
Variant by(const char* name, Needs needs = {}) {
  return {.name = name,
          .idea = "Sums are finished by a second kernel.",
          .launch = launch_in<put>,
          .needs = needs,
          .tile = {1, 64, 1},
          .workspace = [](const Gemm& g) { return 2 * bytes_of_sums(g); }};
}
constexpr Needs as_large_as_kept = {.m_most = 32, .n_most = 32};

const Registrar registrars[] = {
    by<not_joined>("side_stream_not_joined"),
    by<not_forked>("side_stream_not_forked"),
    by<left_in_side_stream>("result_left_in_side_stream"),
    by<joined_before_it_ends>("side_stream_joined_too_soon"),
    by<not_in_default_stream<side>>("default_stream_replaced"),
    by<not_in_default_stream<blocking_side>>("right_default_stream_replaced"),
    by<in_ordered_side<false>>("stream_of_thread_taken_for_default"),
    by<in_ordered_side<true>>("right_stream_of_thread"),
    by<beside_one_that_is_not_apart>("blocking_stream_taken_for_default"),
    by<captured_by_name>("default_stream_captured_by_name"),
    by<freed_elsewhere>("freed_in_other_stream"),
    by<used_before_allocated>("used_before_allocated"),
    by<copy_not_joined>("copy_in_side_stream_not_joined"),
    by<in_kept_buffer>("one_buffer_for_all_launches", as_large_as_kept),
    by<in_one_counter>("one_counter_for_all_launches"),
    by<all_begins_early<true>>("reads_b_before_it_waits"),
    by<all_begins_early<false>>("right_early_launch"),
    by<forks_and_joins>("right_side_stream"),
    by<from_pool>("right_pool"),
    by<used_once_allocated>("right_pool_in_side_stream"),
    by<in_kept_buffer_by_turns>("right_buffer_by_turns", as_large_as_kept),
    by<host_waits>("right_host_waits"),
    by<device_waits>("right_device_waits"),
    by<through_default_stream>("right_default_stream"),
    by<in_two_side_streams>("right_two_side_streams"),
    by<copied_in_side_stream>("right_copy"),
    by<begins_early>("right_early_begin"),
    by<in_counter_of_its_own>("right_counter", as_large_as_kept),
};

}  // namespace
}  // namespace assay::faulty
