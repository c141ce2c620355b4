#include "regress/device/probes.h"

#include "oracle/cuda/cuda_check.h"
#include "oracle/cuda/device_code.h"

namespace assay {
namespace {

__global__ void hold(const volatile int* go, volatile int* gave_up, std::int64_t nanoseconds) {
  const long long start = nanoseconds_now();
  while (*go == 0) {
    if (nanoseconds_now() - start < nanoseconds) continue;
    *gave_up = 1;
    return;
  }
}

__global__ void stamp(Stamp* result) {
  int multiprocessor = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  *result = {clock64(), nanoseconds_now(), multiprocessor};
}

__device__ std::uint64_t mixed(std::uint64_t x) {
  for (int round = 0; round < 3; ++round) {
    x = (x ^ x >> 32) * 0x9e3779b97f4a7c15ull;  // 2^64 over the golden ratio
  }
  return x ^ x >> 32;
}

__global__ void fill(float* first, std::int64_t floats, std::uint64_t seed) {
  const std::int64_t stride = number_of_threads();
  for (std::int64_t i = index_of_thread(); i < floats; i += stride) {
    const std::uint64_t bits = mixed(mixed(seed) + static_cast<std::uint64_t>(i));
    first[i] = static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f;
  }
}

constexpr int loads = 128;
__global__ void latency(const float* first, std::int64_t floats, double* cycles) {
  const std::int64_t stride = floats / loads;
  const float* at = first;
  const long long start = clock64();
  for (int i = 0; i < loads; ++i) {
    float value = 0;
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(at) : "memory");
    at += stride + (value > 2.0f ? 1 : 0);  // never more, but who loads next must wait to know
  }
  *cycles = static_cast<double>(clock64() - start + (at < first ? 1 : 0)) / loads;
}

__global__ void compare(Gemm g, const double* product, const double* gauge, const float* before,
                        double bound, unsigned long long* wrong) {
  const std::int64_t count = g.m * g.n, stride = number_of_threads();
  for (std::int64_t i = index_of_thread(); i < count; i += stride) {
    const std::int64_t at = i / g.n * g.ldc + i % g.n;
    const double old = g.beta == 0 ? 0.0 : double{g.beta} * before[at];
    const double wanted = g.alpha * product[i] + old;
    const double allowed = bound * (fabs(double{g.alpha}) * gauge[i] + fabs(old));
    if (!(fabs(g.c[at] - wanted) <= allowed)) atomicAdd(wrong, 1ull);
  }
}

// Eight independent chains keep the arithmetic units full.
__global__ void arithmetic_canary(float* sink) {
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(threadIdx.x + i);
  for (int step = 0; step < 4096; step += 16) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] = fmaf(x[i], 0.999f, 0.5f);
    }
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == 1234.5f) *sink = sum;
}

__global__ void read_canary(const float4* memory, std::int64_t quads, int times, float* sink) {
  const std::int64_t stride = number_of_threads();
  float sum = 0;
  for (int t = 0; t < times; ++t) {
#pragma unroll 4
    for (std::int64_t i = index_of_thread(); i < quads; i += stride) {
      const float4 quad = __ldcg(memory + i);
      sum += quad.x + quad.y + quad.z + quad.w;
    }
  }
  if (sum == 1234.5f) *sink = sum;
}

__global__ void empty_canary() {}

constexpr int threads = 256, many_blocks = 2048;

}  // namespace

void enqueue_hold(const volatile int* go, volatile int* gave_up, std::int64_t nanoseconds,
                  cudaStream_t stream) {
  hold<<<1, 1, 0, stream>>>(go, gave_up, nanoseconds);
  launch_check("hold");
}
void enqueue_stamp(Stamp* result, cudaStream_t stream) {
  stamp<<<1, 1, 0, stream>>>(result);
  launch_check("stamp");
}
void enqueue_fill(float* first, std::int64_t floats, std::uint64_t seed, cudaStream_t stream) {
  fill<<<many_blocks, threads, 0, stream>>>(first, floats, seed);
  launch_check("fill");
}
void enqueue_latency(const float* first, std::int64_t floats, double* cycles, cudaStream_t stream) {
  latency<<<1, 1, 0, stream>>>(first, floats, cycles);
  launch_check("latency");
}
void enqueue_compare(const Gemm& g, const double* product, const double* gauge, const float* before,
                     double bound, unsigned long long* wrong, cudaStream_t stream) {
  compare<<<many_blocks, threads, 0, stream>>>(g, product, gauge, before, bound, wrong);
  launch_check("compare");
}
void enqueue_arithmetic_canary(int blocks, float* sink, cudaStream_t stream) {
  arithmetic_canary<<<static_cast<unsigned>(blocks), arithmetic_threads, 0, stream>>>(sink);
  launch_check("arithmetic_canary");
}
void enqueue_read_canary(const float* memory, std::int64_t floats, int times, float* sink,
                         cudaStream_t stream) {
  read_canary<<<many_blocks, threads, 0, stream>>>(reinterpret_cast<const float4*>(memory),
                                                   floats / 4, times, sink);
  launch_check("read_canary");
}
void enqueue_empty_canary(cudaStream_t stream) {
  empty_canary<<<1, 1, 0, stream>>>();
  launch_check("empty_canary");
}

}  // namespace assay
