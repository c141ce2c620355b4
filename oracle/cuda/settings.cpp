#include "oracle/cuda/settings.h"

#include <fmt/format.h>

#include <stdexcept>

#include "oracle/cuda/device_kernels.h"

namespace assay {
namespace {

// Of a CUDA call that fails because of what the variant did.
LaunchFailure failure_of(const char* text, cudaError_t error) {
  if (error == cudaSuccess) return std::nullopt;
  cudaGetLastError();  // else the harness would take it for its own
  return launch_crashed(fmt::format("{}: {}", text, cudaGetErrorName(error)));
}

// Of what is there to be touched.
void save(CudaMachine& gpu, std::size_t operand) {
  const Slot& slot = gpu.slots[operand];
  if (slot.unreadable) return;
  gpu.copies[operand].reserve(slot.bytes);
  gpu.copy(gpu.copies[operand].begin(), slot.image, slot.bytes);
}
void restore(CudaMachine& gpu, std::size_t operand) {
  const Slot& slot = gpu.slots[operand];
  if (slot.unreadable) return;
  gpu.copy(slot.image, gpu.copies[operand].begin(), slot.bytes);
}

constexpr auto operand_c = static_cast<std::size_t>(Operand::c);

// Launches once as usual before it counts: the driver loads a kernel at its first launch, which
// takes longer than the producer does.
LaunchFailure launch_behind_slow_producer(CudaMachine& gpu, const Variant& variant,
                                          const Given& given) {
  for (std::size_t i = 0; i < gpu.slots.size(); ++i) save(gpu, i);
  if (LaunchFailure first = gpu.run(variant, given)) return first;
  for (const Slot& slot : gpu.slots) {
    if (slot.unreadable) continue;
    cuda_check(cudaMemsetAsync(slot.image, 0xff, slot.bytes, gpu.stream),
               "poisoning an operand");  // NaN
  }
  cuda_check(cudaStreamSynchronize(gpu.stream), "poisoning the operands");
  enqueue_spin(1'000'000, gpu.stream);  // far longer than it takes to launch
  for (std::size_t i = 0; i < gpu.slots.size(); ++i) restore(gpu, i);
  return gpu.run(variant, given);
}

LaunchFailure capture(CudaMachine& gpu, const Variant& variant, const Given& given,
                      cudaGraph_t& graph) {
  cuda_check(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  const LaunchFailure failure = gpu.start(variant, given, gpu.stream);
  const cudaError_t captured = cudaStreamEndCapture(gpu.stream, &graph);
  if (failure) {
    cudaGetLastError();
    return launch_crashed("while it was captured: " + failure->reason);
  }
  return failure_of("it cannot be captured", captured);
}

// Launches once as usual before it captures: the first launch may set up what later ones use, such
// as a library's handle.
LaunchFailure launch_as_graph(CudaMachine& gpu, const Variant& variant, const Given& given) {
  save(gpu, operand_c);
  if (LaunchFailure first = gpu.run(variant, given)) return first;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  LaunchFailure failure = capture(gpu, variant, given, graph);
  if (!failure) {
    failure =
        failure_of("its graph cannot be instantiated", cudaGraphInstantiate(&executable, graph, 0));
  }
  for (int replay = 0; replay < 2 && !failure; ++replay) {
    restore(gpu, operand_c);
    // The second replay fails where the first has left memory that it allocated.
    failure = failure_of("its graph cannot be replayed", cudaGraphLaunch(executable, gpu.stream));
    if (!failure) failure = gpu.wait();
  }
  if (failure && failure->context_lost) return failure;  // destroying a running graph would wait
  if (executable != nullptr) cudaGraphExecDestroy(executable);
  if (graph != nullptr) cudaGraphDestroy(graph);
  return failure;
}

// A stream whose capture was spoilt refuses every launch.
LaunchFailure launch_into_broken_stream(CudaMachine& gpu, const Variant& variant,
                                        const Given& given) {
  const Stream broken;
  cuda_check(cudaStreamBeginCapture(broken, cudaStreamCaptureModeRelaxed),
             "cudaStreamBeginCapture");
  cudaStreamSynchronize(broken);  // not permitted while capturing, which spoils the capture
  cudaGetLastError();
  cudaError_t returned = cudaErrorUnknown;
  thrown_by([&] {
    returned = variant.launch(given, broken, given.workspace);
  });  // to throw is to report it too
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(broken, &graph);
  cudaGetLastError();
  const LaunchFailure failure = gpu.wait();
  if (failure) return failure;
  return returned == cudaSuccess ? error_not_reported() : launch_once_more(gpu, variant, given);
}

// A second problem like the first one, in `copies`: A, and so the result, is twice as large. It has
// a workspace of its own.
Given make_second_problem(CudaMachine& gpu, const Given& given) {
  for (std::size_t i = 0; i < gpu.slots.size(); ++i) save(gpu, i);
  const auto moved = [&](const void* first, Operand o) {
    const auto i = static_cast<std::size_t>(o);
    return reinterpret_cast<float*>(gpu.copies[i].begin() +
                                    (static_cast<const std::byte*>(first) - gpu.slots[i].image));
  };
  Given second = given;
  second.a = moved(given.a, Operand::a), second.b = moved(given.b, Operand::b);
  second.c = moved(given.c, Operand::c);
  if (given.workspace != nullptr) second.workspace = moved(given.workspace, Operand::workspace);
  const auto floats = static_cast<std::int64_t>(gpu.slots[0].bytes / sizeof(float));
  enqueue_double_numbers(reinterpret_cast<float*>(gpu.copies[0].begin()), floats, gpu.stream);
  return second;
}

// Each of two launches at a time must leave what it leaves when it runs alone.
LaunchFailure launch_beside_another(CudaMachine& gpu, const Variant& variant, const Given& given) {
  const Given second = make_second_problem(gpu, given);
  const std::size_t bytes = gpu.slots[operand_c].bytes;
  std::byte* const first_c = gpu.slots[operand_c].image;
  std::byte* const second_c = gpu.copies[operand_c].begin();
  gpu.scratch.reserve(bytes);
  gpu.copy(gpu.scratch.begin(), first_c, bytes);
  const auto run_alone = [&](const Given& g, std::byte* image, std::vector<std::byte>& result) {
    LaunchFailure failure = gpu.run(variant, g);
    if (!failure) {
      result = gpu.to_host(image, bytes);
      gpu.copy(image, gpu.scratch.begin(), bytes);
    }
    return failure;
  };
  std::vector<std::byte> first_alone, second_alone;
  if (LaunchFailure failure = run_alone(given, first_c, first_alone)) return failure;
  if (LaunchFailure failure = run_alone(second, second_c, second_alone)) return failure;
  cuda_check(cudaStreamSynchronize(gpu.stream), "restoring C");

  enqueue_spin(50'000, gpu.stream);  // both are enqueued before either can start
  enqueue_spin(50'000, gpu.beside);
  for (const LaunchFailure& failure : {gpu.start(variant, given, gpu.stream),
                                       gpu.start(variant, second, gpu.beside), gpu.wait()}) {
    if (failure) return failure;
  }
  if (!variant.deterministic) return std::nullopt;
  if (gpu.to_host(first_c, bytes) == first_alone && gpu.to_host(second_c, bytes) == second_alone)
    return std::nullopt;
  return launches_disturb();
}

LaunchFailure launch_on_busy_gpu(CudaMachine& gpu, const Variant& variant, const Given& given) {
  const Slot& c = gpu.slots[operand_c];
  const std::vector<std::byte> before = gpu.to_host(c.image, c.bytes);
  if (LaunchFailure failure = gpu.run(variant, given)) return failure;
  const std::vector<std::byte> alone = gpu.to_host(c.image, c.bytes);
  cuda_check(cudaMemcpyAsync(c.image, before.data(), c.bytes, cudaMemcpyHostToDevice, gpu.stream),
             "restoring C");
  cuda_check(cudaStreamSynchronize(gpu.stream), "restoring C");

  constexpr std::int64_t noise_floats = 1 << 22;
  gpu.scratch.reserve(noise_floats * sizeof(float));
  enqueue_bustle(reinterpret_cast<float*>(gpu.scratch.begin()), noise_floats, 30, gpu.beside);
  const LaunchFailure failure = gpu.run(variant, given);
  if (failure || !variant.deterministic) return failure;
  if (gpu.to_host(c.image, c.bytes) == alone) return std::nullopt;
  return launch_crashed("other bits while another stream keeps the GPU busy");
}

}  // namespace

LaunchFailure launch_once_more(CudaMachine& gpu, const Variant& variant, const Given& given) {
  save(gpu, operand_c);
  gpu.start(variant, given, gpu.stream);
  const LaunchFailure failure = gpu.wait();
  if (!failure) restore(gpu, operand_c);
  return failure;
}

LaunchFailure launch_in(Setting setting, CudaMachine& gpu, const Variant& variant,
                        const Given& given) {
  switch (setting) {
    case Setting::plain: return gpu.run(variant, given);
    case Setting::slow_producer: return launch_behind_slow_producer(gpu, variant, given);
    case Setting::graph: return launch_as_graph(gpu, variant, given);
    case Setting::broken_stream: return launch_into_broken_stream(gpu, variant, given);
    case Setting::two_streams: return launch_beside_another(gpu, variant, given);
    case Setting::busy_gpu: return launch_on_busy_gpu(gpu, variant, given);
    case Setting::graph_pair:
    case Setting::dry: break;
  }
  throw std::logic_error("a GPU runs every launch: none is dry there");
}

}  // namespace assay
