#include "oracle/cuda/device_kernels.h"

#include "oracle/cuda/cuda_check.h"
#include "oracle/cuda/device_code.h"

namespace assay {
namespace {

__global__ void spin(long long nanoseconds) {
  const long long start = nanoseconds_now();
  while (nanoseconds_now() - start < nanoseconds) {
  }
}

__global__ void bustle(float* memory, std::int64_t floats, int rounds) {
  const std::int64_t stride = number_of_threads();
  float sum = static_cast<float>(threadIdx.x);
  for (int r = 0; r < rounds; ++r) {
    for (std::int64_t i = index_of_thread(); i < floats; i += stride) {
      sum = fmaf(sum, 0.5f, memory[i]);
      memory[i] = sum;
    }
  }
}

__global__ void double_numbers(float* image, std::int64_t floats) {
  const std::int64_t i = index_of_thread();
  if (i < floats && !isnan(image[i])) image[i] *= 2;
}

__global__ void widen(const float* first, std::int64_t ld, std::int64_t columns, std::int64_t count,
                      bool absolute, double* packed) {
  const std::int64_t i = index_of_thread();
  if (i >= count) return;
  const double value = first[i / columns * ld + i % columns];
  packed[i] = absolute ? fabs(value) : value;
}

__global__ void product_check(Gemm g, std::int64_t guard_floats, double relative_bound,
                              ProductCheck* found) {
  const std::int64_t count = g.m * g.n, stride = number_of_threads();
  for (std::int64_t at = index_of_thread() - guard_floats; at < count + guard_floats; at += stride) {
    if (at < 0 || at >= count) {
      if (!isnan(g.c[at])) atomicAdd(&found->guard_changes, 1ull);
      continue;
    }
    const float* a = g.a + at / g.n * g.lda;
    const float* b = g.b + at % g.n;
    double sum = 0, gauge = 0;
    for (std::int64_t p = 0; p < g.k; ++p) {
      const double product = double{a[p]} * b[p * g.ldb];
      sum += product;
      gauge += fabs(product);
    }
    const bool right =
        fabs(g.c[at] - g.alpha * sum) <= relative_bound * fabs(double{g.alpha}) * gauge;
    if (!right) {
      atomicAdd(&found->wrong, 1ull);
      atomicMin(&found->first_wrong, static_cast<unsigned long long>(at));
    }
  }
}

constexpr unsigned threads = 256;
unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace

void enqueue_spin(long long nanoseconds, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>(nanoseconds);
  launch_check("spin");
}

void enqueue_bustle(float* memory, std::int64_t floats, int rounds, cudaStream_t stream) {
  bustle<<<512, threads, 0, stream>>>(memory, floats, rounds);
  launch_check("bustle");
}

void enqueue_double_numbers(float* image, std::int64_t floats, cudaStream_t stream) {
  if (floats == 0) return;
  double_numbers<<<blocks_for(floats), threads, 0, stream>>>(image, floats);
  launch_check("double_numbers");
}

void enqueue_widen(const float* first, std::int64_t ld, std::int64_t rows, std::int64_t columns,
                   bool absolute, double* packed, cudaStream_t stream) {
  const std::int64_t count = rows * columns;
  if (count == 0) return;
  widen<<<blocks_for(count), threads, 0, stream>>>(first, ld, columns, count, absolute, packed);
  launch_check("widen");
}

void enqueue_product_check(const Gemm& g, std::int64_t guard_floats, double relative_bound,
                           ProductCheck* found, cudaStream_t stream) {
  product_check<<<4096, threads, 0, stream>>>(g, guard_floats, relative_bound, found);
  launch_check("product_check");
}

}  // namespace assay
