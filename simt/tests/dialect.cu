#include "simt/tests/dialect.h"

#include "simt/tests/go.h"

namespace simt_test {
namespace {

template <class T, int Bytes>
__device__ void store_addresses(std::uintptr_t* out) {
  __shared__ alignas(T) float as_type[8];
  __shared__ alignas(Bytes / 2) float as_number[8];
  out[0] = reinterpret_cast<std::uintptr_t>(as_type);
  out[1] = reinterpret_cast<std::uintptr_t>(as_number);
}

struct __align__(16) Quad {
  float x;
};
static_assert(sizeof(Quad) == 16 && alignof(Quad) == 16);

__global__ void aligned_shared_kernel(std::uintptr_t* out) {
  __shared__ char one;
  __shared__ __align__(16) float macro_after[64];
  __shared__ alignas(32) float keyword_after[64];
  __align__(64) __shared__ float macro_before[64];
  alignas(128) __shared__ float keyword_before[64];
  one = 1;
  out[0] = reinterpret_cast<std::uintptr_t>(macro_after);
  out[1] = reinterpret_cast<std::uintptr_t>(keyword_after);
  out[2] = reinterpret_cast<std::uintptr_t>(macro_before);
  out[3] = reinterpret_cast<std::uintptr_t>(keyword_before);
  out[4] = reinterpret_cast<std::uintptr_t>(&one);
  store_addresses<float4, 512>(out + 5);
  *reinterpret_cast<float4*>(macro_after + 4) = make_float4(1, 2, 3, 4);
}

__global__ void mixed_atomics_kernel(unsigned* u, float* f, double* d) {
  u[1] += atomicAdd(&u[0], 1);
  atomicCAS(&u[2], 10, 1);
  atomicMax(&u[3], 12);
  atomicAdd(&f[0], 1);
  f[2] = atomicExch(&f[1], 0);
  atomicAdd(&d[0], 0.5f);
}

__global__ void extremes_kernel(const float* in, float* out) {
  out[0] = min(in[0], in[1]), out[1] = min(in[1], in[0]);
  out[2] = max(in[0], in[1]), out[3] = max(in[1], in[0]);
}

__global__ void mixed_extremes_kernel(int minus_one, double* out) {
  out[0] = min(minus_one, 1u);  // as unsigned
  out[1] = max(1.0f, 2.5);
  out[2] = min(static_cast<double>(NAN), 3.0f);
  out[3] = min(1, 2) + max(3ll, 4);
}

}  // namespace

cudaError_t aligned_shared(std::uintptr_t* out) {
  return go(aligned_shared_kernel, 1, 1, 0, out);
}
cudaError_t mixed_atomics(unsigned* u, float* f, double* d) {
  return go(mixed_atomics_kernel, 1, 1, 0, u, f, d);
}
cudaError_t extremes(const float* in, float* out) {
  return go(extremes_kernel, 1, 1, 0, in, out);
}
cudaError_t mixed_extremes(int minus_one, double* out) {
  return go(mixed_extremes_kernel, 1, 1, 0, minus_one, out);
}

}  // namespace simt_test
