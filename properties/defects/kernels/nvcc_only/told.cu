// One place in pinned memory from which a copy tells the device the factors of a problem, and where
// C is. It is used again once something that comes behind the copy has said so: a function of the
// host, or a kernel. The faulty twins come in front of the copy, or in a stream that does not wait
// for it.
#include <atomic>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

constexpr int threads = 64;

struct Place {
  Told told;
  unsigned is_taken = 0;  // by the host; freed by the device
  unsigned unused = 0;  // what a launch frees that has taken no place: all launch the same kernels
};

__global__ void multiply(Gemm g, const Told* told) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (told != nullptr) g.alpha = told->alpha, g.beta = told->beta, g.c = told->c;
  if (at < g.m * g.n) Right::finish(g, sum_of(g, at, 0, depth(g)), at / g.n, at % g.n);
}
__global__ void set_free(unsigned* is_taken) {
  __threadfence_system();
  atomicExch_system(is_taken, 0u);
}
void CUDART_CB set_free_on_host(void* place) {
  std::atomic_ref(static_cast<Place*>(place)->is_taken).store(0, std::memory_order_release);
}

Place* the_place() {
  static Place* const only = [] {
    Place* made = nullptr;
    if (cudaHostAlloc(&made, sizeof(Place), cudaHostAllocMapped) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return static_cast<Place*>(nullptr);
    }
    *made = {};
    return made;
  }();
  return only;
}
bool take(Place* place) {
  return place != nullptr &&
         std::atomic_ref(place->is_taken).exchange(1, std::memory_order_acq_rel) == 0;
}

enum class Says { by_function, by_function_in_front, by_kernel, by_kernel_elsewhere };

template <Says says>
cudaError_t say_so(Place* place, cudaStream_t stream, bool is_its = true) {
  static cudaStream_t elsewhere = nullptr;
  if (says == Says::by_kernel_elsewhere && elsewhere == nullptr)
    if (const auto error = cudaStreamCreateWithFlags(&elsewhere, cudaStreamNonBlocking))
      return error;
  if (says == Says::by_function || says == Says::by_function_in_front)
    return is_its ? cudaLaunchHostFunc(stream, set_free_on_host, place) : cudaSuccess;
  set_free<<<1, 1, 0, says == Says::by_kernel ? stream : elsewhere>>>(is_its ? &place->is_taken
                                                                             : &place->unused);
  return cudaGetLastError();
}

template <Says says>
cudaError_t copy_and_say_so(Place* place, Told* to, cudaStream_t stream) {
  constexpr bool is_too_soon = says == Says::by_function_in_front;
  if (is_too_soon)
    if (const auto error = say_so<says>(place, stream)) return error;
  const auto error =
      cudaMemcpyAsync(to, &place->told, sizeof(Told), cudaMemcpyHostToDevice, stream);
  return error != cudaSuccess || is_too_soon ? error : say_so<says>(place, stream);
}

template <Says says>
cudaError_t by_place(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(ceil_div(g.m * g.n, threads));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (const auto error = cudaStreamIsCapturing(stream, &status)) return error;
  Place* const place = status == cudaStreamCaptureStatusNone ? the_place() : nullptr;
  if (!take(place)) {
    if (place != nullptr)
      if (const auto error = say_so<says>(place, stream, false)) return error;
    multiply<<<blocks, threads, 0, stream>>>(g, nullptr);
    return cudaGetLastError();
  }
  auto* const told = static_cast<Told*>(workspace);
  place->told = {g.alpha, g.beta, g.c};
  if (const auto error = copy_and_say_so<says>(place, told, stream)) {
    set_free_on_host(place);
    return error;
  }
  multiply<<<blocks, threads, 0, stream>>>(g, told);
  return cudaGetLastError();
}

std::int64_t bytes(const Gemm&) { return sizeof(Told); }

const Registrar registrars[] = {
    named("right_told_by_function", by_place<Says::by_function>, bytes),
    named("told_in_front_of_copy", by_place<Says::by_function_in_front>, bytes),
    named("right_told_by_kernel", by_place<Says::by_kernel>, bytes),
    named("told_in_other_stream", by_place<Says::by_kernel_elsewhere>, bytes),
};

}  // namespace
}  // namespace assay::faulty
