// What host code takes for done, or for its own, while a GPU may not have come to it: pinned memory
// that a copy still needs, a function that is called later, the status of a launch, a place on a
// multiprocessor. And the same done right.
#include <map>

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
__device__ std::int64_t place() { return std::int64_t{blockIdx.x} * threads + threadIdx.x; }

__global__ void multiply(Gemm g, const Told* told) {
  if (told != nullptr) g.alpha = told->alpha, g.beta = told->beta, g.c = told->c;
  if (place() < g.m * g.n) Right::finish(g, sum_of(g, place()), place() / g.n, place() % g.n);
}
__global__ void write_told(Gemm g, Told* told) { *told = {g.alpha, g.beta, g.c}; }
__global__ void sum_up(Gemm g, float* sums) {
  if (place() < g.m * g.n) sums[place()] = sum_of(g, place());
}
__global__ void finish(Gemm g, const float* sums) {
  if (place() < g.m * g.n) Right::finish(g, sums[place()], place() / g.n, place() % g.n);
}

__device__ unsigned multiprocessor() {
  unsigned number = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}
constexpr std::int64_t multiprocessors = 132;

template <bool by_multiprocessor>
__global__ void sum_in_strip(Gemm g, float* strips) {
  float* const own = strips + (by_multiprocessor ? multiprocessor() : blockIdx.x) * threads;
  if (place() < g.m * g.n) own[threadIdx.x] = sum_of(g, place());
  __syncthreads();
  if (place() < g.m * g.n) Right::finish(g, own[threadIdx.x], place() / g.n, place() % g.n);
}

// As many blocks as there are multiprocessors, each with a place of its own in the workspace.
__global__ void sum_in_own_place(Gemm g, float* places) {
  float* const own = places + blockIdx.x * threads;
  own[threadIdx.x] = 0;
  for (std::int64_t at = place(); at < g.m * g.n; at += std::int64_t{gridDim.x} * threads) {
    own[threadIdx.x] = sum_of(g, at);
    Right::finish(g, own[threadIdx.x], at / g.n, at % g.n);
  }
}
// k in parts, one after the other.
__global__ void sum_by_parts(Gemm g, int parts) {
  if (place() >= g.m * g.n) return;
  const std::int64_t row = place() / g.n, col = place() % g.n, k = depth(g);
  float sum = 0;
  for (int part = 0; part < parts; ++part)
    for (std::int64_t p = k * part / parts; p < k * (part + 1) / parts; ++p)
      sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, sum, row, col);
}

unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, threads)); }
bool is_empty(const Gemm& g) { return g.m == 0 || g.n == 0; }

// One place on the device for each stream, and one on the host for all.
Told* on_device(cudaStream_t stream) {
  static std::map<cudaStream_t, Told*> all;
  Told*& its = all[stream];
  if (its == nullptr) cudaMalloc(&its, sizeof(Told));
  return its;
}
Told* on_host() {
  static Told* const pinned = [] {
    Told* made = nullptr;
    cudaMallocHost(&made, sizeof(Told));
    return made;
  }();
  return pinned;
}

template <bool waits>
cudaError_t by_pinned_scalars(const Gemm& g, cudaStream_t stream, void*) {
  if (is_empty(g)) return cudaSuccess;
  if (on_host() == nullptr || on_device(stream) == nullptr) return cudaErrorMemoryAllocation;
  *on_host() = {g.alpha, g.beta, g.c};
  cudaMemcpyAsync(on_device(stream), on_host(), sizeof(Told), cudaMemcpyHostToDevice, stream);
  multiply<<<blocks(g), threads, 0, stream>>>(g, on_device(stream));
  const cudaError_t error = cudaGetLastError();
  return waits && error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

template <bool waits>
cudaError_t by_copied_result(const Gemm& g, cudaStream_t stream, void*) {
  if (is_empty(g)) return cudaSuccess;
  if (on_host() == nullptr || on_device(stream) == nullptr) return cudaErrorMemoryAllocation;
  write_told<<<1, 1, 0, stream>>>(g, on_device(stream));
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  cudaMemcpyAsync(on_host(), on_device(stream), sizeof(Told), cudaMemcpyDeviceToHost, stream);
  while (waits && cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  Gemm told = g;
  told.alpha = on_host()->alpha;
  multiply<<<blocks(g), threads, 0, stream>>>(told, nullptr);
  return cudaGetLastError();
}

// An event tells whether its last user has done with the buffer, here the place on the device.
template <bool takes_for_failure>
cudaError_t by_ready_buffer(const Gemm& g, cudaStream_t stream, void*) {
  static cudaEvent_t used = nullptr;
  if (used == nullptr) cudaEventCreateWithFlags(&used, cudaEventDisableTiming);
  if (is_empty(g)) return cudaSuccess;
  if (on_device(nullptr) == nullptr) return cudaErrorMemoryAllocation;
  const cudaError_t state = cudaEventQuery(used);
  if (takes_for_failure && state != cudaSuccess) return state;
  if (state == cudaErrorNotReady) cudaStreamWaitEvent(stream, used);
  write_told<<<1, 1, 0, stream>>>(g, on_device(nullptr));
  multiply<<<blocks(g), threads, 0, stream>>>(g, on_device(nullptr));
  cudaEventRecord(used, stream);
  return cudaGetLastError();
}

struct Delivery {
  Told told;
  Told* to;
};
void deliver(void* data) {
  const auto* const its = static_cast<const Delivery*>(data);
  *its->to = its->told;
}
void deliver_and_delete(void* data) {
  deliver(data);
  delete static_cast<const Delivery*>(data);
}
Told* mapped(cudaStream_t stream) {
  static std::map<cudaStream_t, Told*> all;
  Told*& its = all[stream];
  if (its == nullptr) cudaHostAlloc(&its, sizeof(Told), cudaHostAllocMapped);
  return its;
}

template <bool is_local>
cudaError_t by_host_function(const Gemm& g, cudaStream_t stream, void*) {
  if (is_empty(g)) return cudaSuccess;
  if (mapped(stream) == nullptr) return cudaErrorMemoryAllocation;
  Delivery local{{g.alpha, g.beta, g.c}, mapped(stream)};
  if (is_local)
    cudaLaunchHostFunc(stream, deliver, &local);
  else
    cudaLaunchHostFunc(stream, deliver_and_delete, new Delivery(local));
  multiply<<<blocks(g), threads, 0, stream>>>(g, mapped(stream));
  return cudaGetLastError();
}

// Sums in memory of the launch's own, which goes back once they have been used.
void give_back(void* memory) { cudaFree(memory); }
void CUDART_CB give_back_too(cudaStream_t, cudaError_t, void* memory) { cudaFree(memory); }
enum class Frees { in_function, in_callback, never, in_stream, kept_for_all };

template <Frees frees>
cudaError_t in_own_memory(const Gemm& g, cudaStream_t stream, void*) {
  static std::map<std::int64_t, void*> all;
  if (is_empty(g)) return cudaSuccess;
  void* passing = nullptr;
  void*& memory = frees == Frees::kept_for_all ? all[g.m * g.n] : passing;
  const auto bytes = static_cast<std::size_t>(g.m * g.n) * sizeof(float);
  if (frees == Frees::in_stream)
    cudaMallocAsync(&memory, bytes, stream);
  else if (memory == nullptr)
    cudaMalloc(&memory, bytes);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  if (frees == Frees::kept_for_all) cudaDeviceSynchronize();
  auto* const sums = static_cast<float*>(memory);
  sum_up<<<blocks(g), threads, 0, stream>>>(g, sums);
  finish<<<blocks(g), threads, 0, stream>>>(g, sums);
  const cudaError_t error = cudaGetLastError();
  if (frees == Frees::in_function) cudaLaunchHostFunc(stream, give_back, memory);
  if (frees == Frees::in_callback) cudaStreamAddCallback(stream, give_back_too, memory, 0);
  if (frees == Frees::in_stream) cudaFreeAsync(memory, stream);
  return error;
}

// The second kernel cannot tell, but on this machine it would stop at what nobody wrote.
cudaError_t drops_first_status(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  auto* const sums = static_cast<float*>(workspace);
  sum_up<<<blocks(g), threads, 0, stream>>>(g, sums);
  static_cast<void>(cudaGetLastError());
  finish<<<blocks(g), threads, 0, stream>>>(g, sums);
  return cudaGetLastError();
}

template <bool by_multiprocessor>
cudaError_t in_strips(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  sum_in_strip<by_multiprocessor>
      <<<blocks(g), threads, 0, stream>>>(g, static_cast<float*>(workspace));
  return cudaGetLastError();
}

int multiprocessors_here() {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  return count;
}
template <bool as_many_as_fit>
cudaError_t in_own_places(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  const auto all = static_cast<int>(multiprocessors);
  const int count = as_many_as_fit ? std::min(all, multiprocessors_here()) : multiprocessors_here();
  sum_in_own_place<<<count, threads, 0, stream>>>(g, static_cast<float*>(workspace));
  return cudaGetLastError();
}
template <int least>
cudaError_t in_parts(const Gemm& g, cudaStream_t stream, void*) {
  if (is_empty(g)) return cudaSuccess;
  const int parts = std::max(least, multiprocessors_here() / 32);
  sum_by_parts<<<blocks(g), threads, 0, stream>>>(g, parts);
  return cudaGetLastError();
}

// No more than a few dozen are under way at once. An event is made when its turn first comes, also
// by a launch that fails.
cudaError_t in_ring_of_events(const Gemm& g, cudaStream_t stream, void*) {
  constexpr int places = 48;
  static cudaEvent_t events[places] = {};
  static int launches = 0;
  if (is_empty(g)) return cudaSuccess;
  cudaEvent_t& ended = events[launches++ % places];
  cudaError_t error = ended == nullptr ? cudaEventCreateWithFlags(&ended, cudaEventDisableTiming)
                                       : cudaStreamWaitEvent(stream, ended, 0);
  if (error != cudaSuccess) return error;
  sum_by_parts<<<blocks(g), threads, 0, stream>>>(g, 1);
  error = cudaGetLastError();
  return error == cudaSuccess ? cudaEventRecord(ended, stream) : error;
}

std::int64_t bytes(const Gemm& g) {
  constexpr std::int64_t numbers = 144;  // of multiprocessors, which have gaps
  return std::int64_t{sizeof(float)} * threads * std::max(numbers, ceil_div(g.m * g.n, threads));
}

Variant by(const char* name, Launch launch) {
  return {.name = name,
          .idea = "One thread for each element, and a host that has something to do.",
          .launch = launch,
          .tile = {1, threads, 1},
          .workspace = bytes};
}

const Registrar registrars[] = {
    by("rewrites_pinned_scalars", by_pinned_scalars<false>),
    by("right_pinned_scalars", by_pinned_scalars<true>),
    by("reads_unfinished_copy", by_copied_result<false>),
    by("right_finished_copy", by_copied_result<true>),
    by("returns_not_ready", by_ready_buffer<true>),
    by("right_ready_buffer", by_ready_buffer<false>),
    by("lends_local_to_host_function", by_host_function<true>),
    by("frees_in_host_function", in_own_memory<Frees::in_function>),
    by("frees_in_callback", in_own_memory<Frees::in_callback>),
    by("never_frees", in_own_memory<Frees::never>),
    by("right_own_memory", in_own_memory<Frees::in_stream>),
    by("right_kept_memory", in_own_memory<Frees::kept_for_all>),
    by("right_host_function", by_host_function<false>),
    by("first_status_dropped", drops_first_status),
    by("strip_for_each_multiprocessor", in_strips<true>),
    by("right_strips", in_strips<false>),
    by("places_for_132_multiprocessors", in_own_places<false>),
    by("right_places", in_own_places<true>),
    by("no_part_for_few_multiprocessors", in_parts<0>),
    by("right_parts", in_parts<1>),
    by("right_ring_of_events", in_ring_of_events),
};

}  // namespace
}  // namespace assay::faulty
