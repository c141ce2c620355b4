// A right kernel, with one thread for each element, and copies of it with one fault each. Unless a
// comment says otherwise, the thread of element (0, 0) commits the fault.
#include <cuda_runtime.h>

#include "kernels/gemm.h"

namespace assay {
namespace {

enum class Fault {
  none,
  one_element_off,      // the last one
  reads_past_a,         // one float, and forgets it
  reads_before_b,       // the same
  reads_far_past_a,     // beyond the guard, and adds 0 times what was there
  uses_past_b,          // adds 0 times what was there
  writes_past_c,        // one float
  writes_far_past_c,    // beyond the guard
  writes_before_c,      // one float
  writes_row_too_many,  // the first float of row m
  writes_gap,           // the float after row 0
  writes_a,
  writes_b,
  loads_float4_of_a,  // and adds 0 times what was there
  waits_at_two_barriers,
  leaves_before_barrier,  // without an element of C, which is no fault
  reads_c_always,
  reads_a_always,  // one float, and forgets it
  loops_forever,
  takes_the_greatest,  // of a sum and unwritten shared memory, which hides a NaN; in all threads
  races,               // takes a factor from shared memory before it is surely there
};

__device__ void touch(const float* p) {
  [[maybe_unused]] const float value = *static_cast<const volatile float*>(p);
}

template <Fault fault>
__device__ void go_wrong(const Gemm& g) {
  float* const past_c = g.c + (g.m - 1) * g.ldc + g.n;
  const float* const past_a = g.a + (g.m - 1) * g.lda + g.k;
  const float* const past_b = g.b + (g.k - 1) * g.ldb + g.n;
  if constexpr (fault == Fault::reads_past_a) touch(past_a);
  if constexpr (fault == Fault::reads_before_b) touch(g.b - 1);
  if constexpr (fault == Fault::reads_far_past_a) g.c[0] += 0.0f * past_a[100];
  if constexpr (fault == Fault::uses_past_b) g.c[0] += 0.0f * *past_b;
  if constexpr (fault == Fault::writes_past_c) *past_c = 0;
  if constexpr (fault == Fault::writes_far_past_c) past_c[100] = 0;
  if constexpr (fault == Fault::writes_before_c) g.c[-1] = 0;
  if constexpr (fault == Fault::writes_row_too_many) g.c[g.m * g.ldc] = 0;
  if constexpr (fault == Fault::writes_gap) g.c[g.n] = 0;
  if constexpr (fault == Fault::writes_a) const_cast<float*>(g.a)[g.k - 1] += 1;
  if constexpr (fault == Fault::writes_b) const_cast<float*>(g.b)[0] += 1;
  if constexpr (fault == Fault::loads_float4_of_a) {
    const float4 quad = *reinterpret_cast<const float4*>(g.a);
    g.c[0] += 0.0f * quad.w;
  }
  if constexpr (fault == Fault::reads_a_always) touch(g.a);
  if constexpr (fault == Fault::loops_forever) {
    for (volatile int i = 0; i == 0;) {
    }
  }
}

constexpr int Side = 8;
constexpr Tile tile = {Side, Side, 1};

template <Fault fault>
__global__ void multiply(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if constexpr (fault == Fault::waits_at_two_barriers) {
    if (row == 0 && col == 0) {
      __syncthreads();
    } else {
      __syncthreads();
    }
  }
  if constexpr (fault == Fault::leaves_before_barrier) {
    if (row >= g.m || col >= g.n) return;
    __syncthreads();
  }
  float factor = 1;
  if constexpr (fault == Fault::races) {
    __shared__ float shared;
    if (threadIdx.x == 0 && threadIdx.y == 0) shared = 1;
    factor = shared;
  }
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  if constexpr (fault == Fault::takes_the_greatest) {
    __shared__ float sums[Side * Side + 1];
    sums[threadIdx.y * Side + threadIdx.x] = sum;
    if (sum < sums[Side * Side]) sum = sums[Side * Side];
  }
  float* c = &g.c[row * g.ldc + col];
  if constexpr (fault == Fault::reads_c_always) {
    *c = fmaf(g.beta, *c, g.alpha * sum);
  } else {
    *c = blend(g, sum * factor, c);
  }
  if (fault == Fault::one_element_off && row == g.m - 1 && col == g.n - 1) *c += 1;
  if (row == 0 && col == 0) go_wrong<fault>(g);
}

template <Fault fault>
cudaError_t launch_multiply(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(multiply<fault>, dim3(Side, Side), g, stream);
}

// Faults of the launch, before any thread runs.
cudaError_t launch_nothing(const Gemm&, cudaStream_t) { return cudaSuccess; }
cudaError_t launch_too_many_threads(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(multiply<Fault::none>, dim3(64, 32), g, stream);
}
cudaError_t launch_and_swallow(const Gemm& g, cudaStream_t stream) {
  (void)launch_too_many_threads(g, stream);
  return cudaSuccess;
}
cudaError_t launch_no_blocks(const Gemm& g, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(g.m / 1024);
  return launch(multiply<Fault::none>, dim3(blocks), dim3(Side, Side), 0, stream, g);
}
cudaError_t return_error(const Gemm&, cudaStream_t) { return cudaErrorInvalidValue; }

// Faults of host code, which cannot reach the memory of a GPU.
cudaError_t launch_after_a_look(const Gemm& g, cudaStream_t stream) {
  if (g.a[0] == 0x1p100f) return cudaSuccess;
  return launch_multiply<Fault::none>(g, stream);
}
void multiply_on_host(const Gemm& g, const float* a, const float* b, float* c) {
  for (std::int64_t i = 0; i < g.m * g.n; ++i) {
    const std::int64_t row = i / g.n, col = i % g.n;
    float sum = 0;
    for (std::int64_t p = 0; p < depth(g); ++p)
      sum = fmaf(a[row * g.lda + p], b[p * g.ldb + col], sum);
    c[row * g.ldc + col] = blend(g, sum, &c[row * g.ldc + col]);
  }
}
cudaError_t launch_from_host(const Gemm& g, cudaStream_t) {
  multiply_on_host(g, g.a, g.b, g.c);
  return cudaSuccess;
}
// Of packed matrices.
cudaError_t launch_through_copies(const Gemm& g, cudaStream_t stream) {
  static float a[1000], b[1000], c[1000];
  const std::size_t c_bytes = sizeof(float) * static_cast<std::size_t>(g.m * g.n);
  cudaMemcpyAsync(a, g.a, sizeof(float) * static_cast<std::size_t>(g.m * g.k), cudaMemcpyDefault,
                  stream);
  cudaMemcpyAsync(b, g.b, sizeof(float) * static_cast<std::size_t>(g.k * g.n), cudaMemcpyDefault,
                  stream);
  cudaMemcpyAsync(c, g.c, c_bytes, cudaMemcpyDefault, stream);
  multiply_on_host(g, a, b, c);
  return cudaMemcpyAsync(g.c, c, c_bytes, cudaMemcpyDefault, stream);
}

Variant planted(const char* name, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {.name = name,
          .idea = "One fault, or none.",
          .launch = launch,
          .order = Order::one_fma_chain,
          .tile = tile};
}

#define PLANT(fault) Registrar(planted(#fault, launch_multiply<Fault::fault>))

const Registrar all[] = {
    PLANT(none),
    PLANT(one_element_off),
    PLANT(reads_past_a),
    PLANT(reads_before_b),
    PLANT(reads_far_past_a),
    PLANT(uses_past_b),
    PLANT(writes_past_c),
    PLANT(writes_far_past_c),
    PLANT(writes_before_c),
    PLANT(writes_row_too_many),
    PLANT(writes_gap),
    PLANT(writes_a),
    PLANT(writes_b),
    PLANT(loads_float4_of_a),
    PLANT(waits_at_two_barriers),
    PLANT(leaves_before_barrier),
    PLANT(reads_c_always),
    PLANT(reads_a_always),
    PLANT(loops_forever),
    PLANT(takes_the_greatest),
    PLANT(races),
    planted("launches_nothing", launch_nothing),
    planted("too_many_threads", launch_too_many_threads),
    planted("swallows_the_error", launch_and_swallow),
    planted("launches_no_blocks", launch_no_blocks),
    planted("returns_error", return_error),
    planted("launches_after_a_look", launch_after_a_look),
    planted("computes_on_host", launch_from_host),
    planted("computes_on_host_through_copies", launch_through_copies),
};

}  // namespace
}  // namespace assay
