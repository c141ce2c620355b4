// Launches that are captured into a graph, which then does again what it was told at that time,
// with the memory that it was given: what takes itself for called anew, and the same done right.
#include <deque>
#include <map>
#include <mutex>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64;

__device__ void multiply_one(const Gemm& g) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= g.m * g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
  Right::finish(g, sum, at / g.n, at % g.n);
}
__global__ void multiply(Gemm g) { multiply_one(g); }
__global__ void multiply_as_told(const Gemm* told) { multiply_one(*told); }
__global__ void tell(Gemm g, Gemm* told) { *told = g; }

unsigned blocks(const Gemm& g) { return static_cast<unsigned>(ceil_div(g.m * g.n, threads)); }
bool is_empty(const Gemm& g) { return g.m == 0 || g.n == 0; }

// A copy tells the device the problem, in memory that the launch owns.
cudaError_t launch_told(const Gemm& g, const Gemm* from, cudaStream_t stream) {
  void* told = nullptr;
  cudaMallocAsync(&told, sizeof(Gemm), stream);
  cudaMemcpyAsync(told, from, sizeof(Gemm), cudaMemcpyHostToDevice, stream);
  multiply_as_told<<<blocks(g), threads, 0, stream>>>(static_cast<const Gemm*>(told));
  cudaFreeAsync(told, stream);
  return cudaGetLastError();
}
cudaError_t tells_by_local(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  const Gemm local = g;
  return launch_told(g, &local, stream);
}
cudaError_t tells_by_argument(const Gemm& g, cudaStream_t stream) {
  return is_empty(g) ? cudaSuccess : launch_told(g, &g, stream);
}
cudaError_t tells_by_deleted(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  struct Behind {  // what the heap writes down about free memory
    std::int64_t unused[4];
    Gemm told;
  };
  const auto* const made = new Behind{{}, g};
  const cudaError_t error = launch_told(g, &made->told, stream);
  delete made;
  return error;
}
// A graph may be launched for as long as the program runs.
cudaError_t tells_by_kept(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  static std::mutex mutex;
  static std::deque<Gemm> kept;
  const std::lock_guard lock(mutex);
  kept.push_back(g);
  return launch_told(g, &kept.back(), stream);
}

struct Note {
  Gemm* to;
  Gemm told;
};
void take_note(void* data) {
  const auto* const note = static_cast<const Note*>(data);
  *note->to = note->told;
}
// Of each call: those of a graph may run side by side.
Gemm* mapped() {
  constexpr std::size_t most = 4096;
  static std::size_t calls = 0;
  static Gemm* const pinned = [] {
    Gemm* made = nullptr;
    cudaHostAlloc(&made, most * sizeof(Gemm), cudaHostAllocMapped);
    return made;
  }();
  return &pinned[calls++ % most];
}
// The function is called by each launch of the graph.
cudaError_t tells_by_kept_note(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  static std::deque<Note> kept;
  kept.push_back({mapped(), g});
  cudaLaunchHostFunc(stream, take_note, &kept.back());
  multiply_as_told<<<blocks(g), threads, 0, stream>>>(kept.back().to);
  return cudaGetLastError();
}

// The note is kept, but not what it points at.
struct ShortNote {
  Gemm* to;
  const Gemm* told;
};
void take_short_note(void* data) {
  const auto* const note = static_cast<const ShortNote*>(data);
  *note->to = *note->told;
}
[[gnu::noinline]] cudaError_t take_notes(const Gemm& g, cudaStream_t stream) {
  static std::deque<ShortNote> kept;
  const Gemm local = g;
  kept.push_back({mapped(), &local});
  cudaLaunchHostFunc(stream, take_short_note, &kept.back());
  multiply_as_told<<<blocks(g), threads, 0, stream>>>(kept.back().to);
  return cudaGetLastError();
}

// Deep down on the stack, where few other calls reach.
cudaError_t tells_by_short_note(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  volatile unsigned char above[16 * 1024];
  above[0] = 1;
  const cudaError_t error = take_notes(g, stream);
  return above[0] == 1 ? error : cudaErrorUnknown;
}

// Each call has a number, and what has that number has been done.
__device__ unsigned finished;
__global__ void multiply_if_new(Gemm g, unsigned number) {
  if (number != finished) multiply_one(g);
}
__global__ void finish(unsigned number) { finished = number; }
cudaError_t numbers_calls(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  static unsigned number = 0;
  ++number;
  multiply_if_new<<<blocks(g), threads, 0, stream>>>(g, number);
  finish<<<1, 1, 0, stream>>>(number);
  return cudaGetLastError();
}

// Only every other launch of the kernels multiplies; the host sees to it that all its calls do.
__device__ unsigned launches;
__global__ void multiply_by_turns(Gemm g) {
  if (launches % 2 == 0) multiply_one(g);
}
__global__ void count() { ++launches; }
cudaError_t takes_turns(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  cudaStreamCaptureStatus status;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status); error != cudaSuccess)
    return error;
  if (status == cudaStreamCaptureStatusNone) {
    const unsigned none = 0;
    cudaMemcpyToSymbolAsync(launches, &none, sizeof none, 0, cudaMemcpyHostToDevice, stream);
  }
  multiply_by_turns<<<blocks(g), threads, 0, stream>>>(g);
  count<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

// The last block finishes, and leaves the counter at zero, where the first call has put it.
__global__ void count_blocks(Gemm g, unsigned* counter) {
  multiply_one(g);
  if (threadIdx.x == 0) atomicInc(counter, gridDim.x - 1);
}
cudaError_t clears_once(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (is_empty(g)) return cudaSuccess;
  static void* cleared = nullptr;
  cudaStreamCaptureStatus status;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status); error != cudaSuccess)
    return error;
  if (cleared != workspace || status == cudaStreamCaptureStatusNone)
    cudaMemsetAsync(workspace, 0, sizeof(unsigned), stream);
  cleared = workspace;
  count_blocks<<<blocks(g), threads, 0, stream>>>(g, static_cast<unsigned*>(workspace));
  return cudaGetLastError();
}

cudaError_t waits(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  multiply<<<blocks(g), threads, 0, stream>>>(g);
  return cudaStreamSynchronize(stream);
}
cudaError_t allocates(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  void* memory = nullptr;
  if (const cudaError_t error = cudaMalloc(&memory, 64); error != cudaSuccess) return error;
  multiply<<<blocks(g), threads, 0, stream>>>(g);
  return cudaFree(memory);
}
cudaError_t leaks(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  void* memory = nullptr;
  if (const cudaError_t error = cudaMallocAsync(&memory, 64, stream); error != cudaSuccess)
    return error;
  multiply<<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}
// An error that nobody asks for is no less one.
cudaError_t drops_what_waiting_returns(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  multiply<<<blocks(g), threads, 0, stream>>>(g);
  const cudaError_t error = cudaGetLastError();
  static_cast<void>(cudaStreamSynchronize(stream));
  static_cast<void>(cudaGetLastError());
  return error;
}
// What is set up by the first call needs no graph.
cudaError_t sets_up_once(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  static const cudaError_t set_up = [] {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, 64);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
  }();
  if (set_up != cudaSuccess) return set_up;
  multiply<<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}
// A graph of its own, which the one of whoever captures this holds.
cudaError_t launches_own_graph(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  static const cudaStream_t own = [] {
    cudaStream_t made = nullptr;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal);
  multiply<<<blocks(g), threads, 0, own>>>(g);
  cudaError_t error = cudaStreamEndCapture(own, &graph);
  if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph);
  if (error == cudaSuccess) error = cudaGraphLaunch(executable, stream);
  if (executable != nullptr) cudaGraphExecDestroy(executable);
  if (graph != nullptr) cudaGraphDestroy(graph);
  return error;
}

// Memory of each stream's, and, as nothing may be allocated in a capture, some for all captures.
cudaError_t meets_in_captures(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  static Gemm* of_captures = nullptr;
  static std::map<cudaStream_t, Gemm*> of_streams;
  const auto make = [](Gemm*& memory) {
    return memory != nullptr ? cudaSuccess : cudaMalloc(&memory, sizeof(Gemm));
  };
  cudaStreamCaptureStatus status;
  cudaError_t error = cudaStreamIsCapturing(stream, &status);
  Gemm*& told = status == cudaStreamCaptureStatusNone ? of_streams[stream] : of_captures;
  if (error == cudaSuccess && status == cudaStreamCaptureStatusNone) error = make(of_captures);
  if (error == cudaSuccess) error = make(told);
  if (error != cudaSuccess) return error;
  tell<<<1, 1, 0, stream>>>(g, told);
  multiply_as_told<<<blocks(g), threads, 0, stream>>>(told);
  return cudaGetLastError();
}
// With as many pieces as there may be calls at a time.
cudaError_t parts_in_captures(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  constexpr std::size_t pieces = 4096;
  static std::size_t calls = 0;
  static Gemm* all = nullptr;
  if (all == nullptr)
    if (const cudaError_t error = cudaMalloc(&all, pieces * sizeof(Gemm)); error != cudaSuccess)
      return error;
  Gemm* const told = &all[calls++ % pieces];
  tell<<<1, 1, 0, stream>>>(g, told);
  multiply_as_told<<<blocks(g), threads, 0, stream>>>(told);
  return cudaGetLastError();
}

// Tells its kernel by one slot of many in pinned memory, which later calls write again, whether or
// not a graph still reads it.
cudaError_t tells_by_slot(const Gemm& g, cudaStream_t stream) {
  constexpr int slots = 64;
  static Gemm* all = nullptr;
  static int calls = 0;
  if (is_empty(g)) return cudaSuccess;
  if (all == nullptr)
    if (const cudaError_t error = cudaMallocHost(&all, slots * sizeof(Gemm)); error != cudaSuccess)
      return error;
  Gemm* const told = &all[calls++ % slots];
  *told = g;
  multiply_as_told<<<blocks(g), threads, 0, stream>>>(told);
  return cudaGetLastError();
}

// Sums from the last product on where it is captured: the bits of C differ, and may.
__global__ void multiply_backwards(Gemm g) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= g.m * g.n) return;
  float sum = 0;
  for (std::int64_t p = depth(g); p-- > 0;)
    sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
  Right::finish(g, sum, at / g.n, at % g.n);
}
cudaError_t sums_backwards_in_captures(const Gemm& g, cudaStream_t stream) {
  if (is_empty(g)) return cudaSuccess;
  cudaStreamCaptureStatus status;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, &status); error != cudaSuccess)
    return error;
  if (status == cudaStreamCaptureStatusNone)
    multiply<<<blocks(g), threads, 0, stream>>>(g);
  else
    multiply_backwards<<<blocks(g), threads, 0, stream>>>(g);
  return cudaGetLastError();
}

Variant by(const char* name, Launch launch, std::int64_t (*workspace)(const Gemm&) = nullptr) {
  return {.name = name,
          .idea = "One thread for each element, and a launch that is captured.",
          .launch = launch,
          .tile = {1, threads, 1},
          .workspace = workspace};
}

const Registrar registrars[] = {
    by("tells_by_local", tells_by_local),
    by("tells_by_argument", tells_by_argument),
    by("tells_by_deleted", tells_by_deleted),
    by("right_tells_by_kept", tells_by_kept),
    by("right_tells_by_kept_note", tells_by_kept_note),
    by("tells_by_short_note", tells_by_short_note),
    by("tells_by_slot", tells_by_slot),
    by("numbers_calls", numbers_calls),
    by("takes_turns", takes_turns),
    by("clears_once", clears_once, [](const Gemm&) { return std::int64_t{sizeof(unsigned)}; }),
    by("waits_in_launch", waits),
    by("drops_what_waiting_returns", drops_what_waiting_returns),
    by("allocates_in_launch", allocates),
    by("leaks_in_launch", leaks),
    by("meets_in_captures", meets_in_captures),
    by("right_parts_in_captures", parts_in_captures),
    by("right_set_up_once", sets_up_once),
    by("right_sums_backwards_in_captures", sums_backwards_in_captures),
    by("launches_own_graph", launches_own_graph),
};

}  // namespace
}  // namespace assay::faulty
