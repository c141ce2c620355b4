// What calls of the CUDA runtime return, above all where they are forbidden or too early: run on a
// GPU, and on the machine, whose answers are to be the same. Prints each scene's calls with the
// names of their errors. Every scene has a process of its own, so that none sees another's faults.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace {

__global__ void set_one(float* p) { p[0] = 1; }
__global__ void __launch_bounds__(64) set_one_in_64(float* p) { p[0] = 1; }
__global__ void take_long(float* p, int steps) {
  float x = p[0];
  for (int i = 0; i < steps; ++i) x = x * 1.0001f + 0.5f;
  p[0] = x;
}

// What a scene may use: two streams and two events, none of which the legacy stream waits for.
struct Stage {
  float* memory = nullptr;
  cudaStream_t s = nullptr, t = nullptr;
  cudaEvent_t e = nullptr, f = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;

  cudaError_t begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    return cudaStreamBeginCapture(s, mode);
  }
  cudaError_t end() { return cudaStreamEndCapture(s, &graph); }
  cudaError_t instantiate() { return cudaGraphInstantiate(&executable, graph, 0); }
  cudaError_t replay() { return cudaGraphLaunch(executable, s); }
  cudaError_t kernel(cudaStream_t stream) {
    set_one<<<1, 1, 0, stream>>>(memory);
    return cudaGetLastError();
  }
  cudaError_t long_kernel() {
    take_long<<<1, 1, 0, s>>>(memory, 20'000'000);
    return cudaGetLastError();
  }
  cudaError_t fork() {
    const cudaError_t failed = cudaEventRecord(e, s);
    return failed != cudaSuccess ? failed : cudaStreamWaitEvent(t, e, 0);
  }
};

void says(const char* call, cudaError_t error) {
  std::printf("  %s: %s\n", call, cudaGetErrorName(error));
}
#define SAY(...) says(#__VA_ARGS__, __VA_ARGS__)

template <class Act>
void scene(const char* name, const Act& act) {
  std::printf("%s\n", name);
  std::fflush(stdout);
  if (const pid_t child = ::fork(); child != 0) {
    int how = 0;
    if (::waitpid(child, &how, 0) != child || how != 0) std::printf("  ended with %d\n", how);
    return;
  }
  Stage stage;
  cudaMalloc(&stage.memory, 4096);
  cudaMemset(stage.memory, 0, 4096);
  for (cudaStream_t* stream : {&stage.s, &stage.t})
    cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
  for (cudaEvent_t* event : {&stage.e, &stage.f})
    cudaEventCreateWithFlags(event, cudaEventDisableTiming);
  cudaDeviceSynchronize();
  cudaGetLastError();
  act(stage);
  says("afterwards cudaGetLastError()", cudaGetLastError());
  std::fflush(stdout);
  ::_exit(0);
}

constexpr auto relaxed = cudaStreamCaptureModeRelaxed;
constexpr auto of_thread = cudaStreamCaptureModeThreadLocal;

void show_forbidden_calls_in_a_capture() {
  // What each call makes of a capture that is under way in s.
  const auto during = [](const char* name, const auto& call) {
    scene(name, [&](Stage& x) {
      SAY(x.begin());
      call(x);
      SAY(x.kernel(x.s));
      SAY(x.end());
    });
  };
  static void* p = nullptr;
  static float host[16];
  during("cudaMalloc in a capture", [](Stage&) { SAY(cudaMalloc(&p, 64)); });
  during("cudaMallocHost in a capture", [](Stage&) { SAY(cudaMallocHost(&p, 64)); });
  during("cudaFree in a capture", [](Stage& x) { SAY(cudaFree(x.memory)); });
  during("cudaStreamSynchronize in a capture", [](Stage& x) { SAY(cudaStreamSynchronize(x.s)); });
  during("cudaStreamSynchronize of another stream",
         [](Stage& x) { SAY(cudaStreamSynchronize(x.t)); });
  during("cudaStreamQuery in a capture", [](Stage& x) { SAY(cudaStreamQuery(x.s)); });
  during("cudaStreamQuery of another stream", [](Stage& x) { SAY(cudaStreamQuery(x.t)); });
  during("cudaDeviceSynchronize in a capture", [](Stage&) { SAY(cudaDeviceSynchronize()); });
  during("an event that is captured", [](Stage& x) {
    SAY(cudaEventRecord(x.e, x.s));
    SAY(cudaEventQuery(x.e));
    SAY(cudaEventSynchronize(x.e));
  });
  during("an event of another stream", [](Stage& x) {
    SAY(cudaEventRecord(x.e, x.t));
    SAY(cudaEventQuery(x.e));
  });
  during("cudaMemcpy in a capture",
         [](Stage& x) { SAY(cudaMemcpy(host, x.memory, 64, cudaMemcpyDeviceToHost)); });
  during("cudaMemset in a capture", [](Stage& x) { SAY(cudaMemset(x.memory, 0, 64)); });
  during("cudaMemcpyAsync in a capture", [](Stage& x) {
    SAY(cudaMemcpyAsync(host, x.memory, 64, cudaMemcpyDeviceToHost, x.s));
    SAY(cudaMemcpyAsync(host, x.memory, 64, cudaMemcpyDeviceToHost, x.t));
  });
  during("a kernel in the legacy stream", [](Stage& x) { SAY(x.kernel(nullptr)); });
  during("cudaStreamAddCallback in a capture", [](Stage& x) {
    SAY(cudaStreamAddCallback(
        x.s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0));
  });
  during("a launch that is refused", [](Stage& x) {
    set_one<<<1, 4096, 0, x.s>>>(x.memory);
    SAY(cudaGetLastError());
  });
  during("a second begin", [](Stage& x) { SAY(x.begin()); });
  during("the end of another stream", [](Stage& x) { SAY(cudaStreamEndCapture(x.t, &x.graph)); });
}

void show_captures_that_allow_more() {
  static void* p = nullptr;
  static float host[16];
  scene("cudaMalloc in a capture of this thread", [](Stage& x) {
    SAY(x.begin(of_thread));
    SAY(cudaMalloc(&p, 64));
    SAY(x.end());
  });
  scene("a relaxed capture", [](Stage& x) {
    SAY(x.begin(relaxed));
    SAY(cudaMalloc(&p, 64));
    SAY(cudaFree(p));
    SAY(cudaStreamQuery(x.t));
    SAY(cudaMemcpy(host, x.memory, 64, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy(x.memory, host, 64, cudaMemcpyHostToDevice));
    SAY(x.kernel(nullptr));
    SAY(x.kernel(x.s));
    SAY(x.end());
  });
  scene("cudaDeviceSynchronize in a relaxed capture", [](Stage& x) {
    SAY(x.begin(relaxed));
    SAY(cudaDeviceSynchronize());
    SAY(x.end());
  });
  scene("a stream that the legacy stream waits for", [](Stage& x) {
    cudaStream_t blocking;
    cudaStreamCreate(&blocking);
    cudaStreamCaptureStatus status;
    SAY(cudaStreamBeginCapture(blocking, relaxed));
    SAY(cudaStreamIsCapturing(nullptr, &status));
    SAY(x.kernel(nullptr));
    SAY(x.kernel(blocking));
    SAY(cudaStreamEndCapture(blocking, &x.graph));
  });
  scene("cudaMemcpy beside such a capture", [](Stage& x) {
    cudaStream_t blocking;
    cudaStreamCreate(&blocking);
    SAY(cudaStreamBeginCapture(blocking, relaxed));
    SAY(cudaMemcpy(host, x.memory, 64, cudaMemcpyDeviceToHost));
    SAY(cudaStreamEndCapture(blocking, &x.graph));
  });
}

void show_forks_and_events_of_captures() {
  scene("a fork that is not joined", [](Stage& x) {
    SAY(x.begin());
    SAY(x.fork());
    SAY(x.kernel(x.t));
    SAY(x.kernel(x.s));
    SAY(x.end());
    SAY(x.kernel(x.t));
  });
  scene("a fork that is joined", [](Stage& x) {
    SAY(x.begin());
    SAY(x.fork());
    SAY(x.kernel(x.t));
    SAY(cudaEventRecord(x.f, x.t));
    SAY(cudaStreamWaitEvent(x.s, x.f, 0));
    SAY(x.end());
  });
  scene("the fork ends the capture", [](Stage& x) {
    SAY(x.begin());
    SAY(x.fork());
    SAY(x.kernel(x.t));
    SAY(cudaStreamEndCapture(x.t, &x.graph));
    SAY(x.end());
  });
  scene("two captures meet", [](Stage& x) {
    SAY(x.begin());
    SAY(cudaStreamBeginCapture(x.t, relaxed));
    SAY(x.fork());
    SAY(x.end());
    SAY(cudaStreamEndCapture(x.t, &x.graph));
  });
  scene("an event recorded before", [](Stage& x) {
    SAY(cudaEventRecord(x.e, x.t));
    SAY(x.begin());
    SAY(cudaStreamWaitEvent(x.s, x.e, 0));
    SAY(x.end());
  });
  scene("an event never recorded", [](Stage& x) {
    SAY(x.begin());
    SAY(cudaStreamWaitEvent(x.s, x.e, 0));
    SAY(x.kernel(x.s));
    SAY(x.end());
  });
  scene("an event of an ended capture", [](Stage& x) {
    SAY(x.begin());
    SAY(x.kernel(x.s));
    SAY(cudaEventRecord(x.e, x.s));
    SAY(x.end());
    SAY(cudaStreamWaitEvent(x.t, x.e, 0));
    SAY(cudaEventQuery(x.e));
    SAY(cudaEventSynchronize(x.e));
    SAY(cudaEventRecord(x.e, x.t));
    SAY(cudaEventSynchronize(x.e));
  });
  scene("the time between captured events", [](Stage& x) {
    cudaEvent_t first, second;
    cudaEventCreate(&first);
    cudaEventCreate(&second);
    float time;
    SAY(x.begin());
    SAY(cudaEventRecord(first, x.s));
    SAY(cudaEventRecord(second, x.s));
    SAY(x.end());
    SAY(cudaEventElapsedTime(&time, first, second));
  });
  scene("an end without a begin", [](Stage& x) { SAY(x.end()); });
}

void show_graphs() {
  static void* p = nullptr;
  scene("a graph of nothing", [](Stage& x) {
    SAY(x.begin());
    SAY(x.end());
    SAY(x.instantiate());
    SAY(x.replay());
  });
  scene("no graph", [](Stage& x) {
    SAY(x.replay());
    SAY(x.instantiate());
    SAY(cudaGraphDestroy(nullptr));
    SAY(cudaGraphExecDestroy(nullptr));
  });
  scene("a graph in a capture", [](Stage& x) {
    SAY(x.begin());
    SAY(x.kernel(x.s));
    SAY(x.end());
    SAY(x.instantiate());
    SAY(x.begin());
    SAY(x.replay());
    SAY(x.end());
  });
  scene("memory that a graph frees", [](Stage& x) {
    SAY(x.begin());
    SAY(cudaMallocAsync(&p, 64, x.s));
    SAY(cudaFreeAsync(p, x.s));
    SAY(x.end());
    SAY(x.instantiate());
    SAY(x.replay());
    SAY(x.replay());
    SAY(cudaStreamSynchronize(x.s));
  });
  const auto keep_memory = [](Stage& x) {
    SAY(x.begin());
    SAY(cudaMallocAsync(&p, 64, x.s));
    SAY(x.end());
    SAY(x.instantiate());
  };
  scene("memory that a graph keeps", [&](Stage& x) {
    keep_memory(x);
    SAY(x.instantiate());
    SAY(x.replay());
  });
  scene("memory that a graph keeps for too long", [&](Stage& x) {
    keep_memory(x);
    SAY(x.replay());
    SAY(x.replay());
    SAY(cudaStreamSynchronize(x.s));
    SAY(cudaFreeAsync(p, x.s));
    SAY(x.replay());
    SAY(cudaFree(p));
  });
  scene("memory of before is freed in a capture", [](Stage& x) {
    SAY(cudaMallocAsync(&p, 64, x.t));
    SAY(x.begin());
    SAY(cudaFreeAsync(p, x.s));
    SAY(x.end());
  });
}

void show_what_is_not_ready() {
  scene("nothing to wait for", [](Stage& x) {
    float time;
    SAY(cudaStreamQuery(x.s));
    SAY(cudaEventQuery(x.e));
    SAY(cudaEventSynchronize(x.e));
    SAY(cudaEventElapsedTime(&time, x.e, x.f));
  });
  scene("a kernel that takes long", [](Stage& x) {
    SAY(x.long_kernel());
    SAY(cudaEventRecord(x.e, x.s));
    SAY(cudaStreamQuery(x.s));
    SAY(cudaPeekAtLastError());
    SAY(cudaEventQuery(x.e));
    SAY(cudaPeekAtLastError());
    SAY(cudaStreamQuery(x.t));
    SAY(cudaStreamSynchronize(x.s));
    SAY(cudaEventQuery(x.e));
  });
  scene("a time that is not over", [](Stage& x) {
    cudaEvent_t first, second;
    cudaEventCreate(&first);
    cudaEventCreate(&second);
    float time;
    SAY(cudaEventRecord(first, x.s));
    SAY(x.long_kernel());
    SAY(cudaEventRecord(second, x.s));
    SAY(cudaEventElapsedTime(&time, first, second));
    SAY(cudaPeekAtLastError());
    SAY(cudaStreamSynchronize(x.s));
    SAY(cudaEventElapsedTime(&time, first, second));
  });
}

template <class... Shape>
cudaError_t launched(float* memory, const Shape&... shape) {
  set_one<<<shape...>>>(memory);
  const cudaError_t peeked = cudaPeekAtLastError(), error = cudaGetLastError();
  return peeked == error ? error : cudaErrorUnknown;
}

void show_launches_and_memory_that_are_refused() {
  scene("launches that are refused", [](Stage& x) {
    SAY(launched(x.memory, 1, 2048));
    SAY(launched(x.memory, 0, 1));
    SAY(launched(x.memory, 1, 0));
    SAY(launched(x.memory, dim3(1, 65536), 1));
    SAY(launched(x.memory, 1, dim3(1, 1, 65)));
    SAY(launched(x.memory, 1, 1, 300'000));
    SAY(launched(x.memory, 1, 1, 60'000));
    SAY(cudaFuncSetAttribute(set_one, cudaFuncAttributeMaxDynamicSharedMemorySize, 300'000));
  });
  scene("more threads than __launch_bounds__ allow", [](Stage& x) {
    set_one_in_64<<<1, 128>>>(x.memory);
    SAY(cudaGetLastError());
  });
  scene("an attribute and 2048 threads", [](Stage& x) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(2048);
    SAY(cudaLaunchKernelEx(&config, set_one, x.memory));
  });
  scene("more blocks than fit together", [](Stage& x) {
    void* arguments[] = {&x.memory};
    SAY(cudaLaunchCooperativeKernel(set_one, dim3(100'000), dim3(1024), arguments, 0, x.s));
  });
  scene("memory that is freed twice", [](Stage& x) {
    SAY(cudaFree(x.memory));
    SAY(cudaFree(x.memory));
  });
  scene("memory that is freed in its middle", [](Stage& x) {
    SAY(cudaFree(x.memory + 4));
    SAY(cudaFree(x.memory));
  });
  scene("memory of a stream that is freed at once", [](Stage& x) {
    void* p = nullptr;
    SAY(cudaMallocAsync(&p, 64, x.s));
    SAY(cudaFree(p));
    SAY(cudaFreeAsync(p, x.s));
  });
  scene("a device that is not there", [](Stage&) {
    int count = 0, value = 0;
    SAY(cudaGetDeviceCount(&count));
    SAY(cudaSetDevice(100));
    SAY(cudaSetDevice(-1));
    SAY(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 100));
  });
}

}  // namespace

int main() {
  show_forbidden_calls_in_a_capture();
  show_captures_that_allow_more();
  show_forks_and_events_of_captures();
  show_graphs();
  show_what_is_not_ready();
  show_launches_and_memory_that_are_refused();
}
