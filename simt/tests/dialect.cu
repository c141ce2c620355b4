#undef NDEBUG  // assert is tried here
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

static_assert(alignof(float1) == 4 && alignof(float2) == 8 && alignof(float3) == 4);
static_assert(alignof(uint2) == 8 && alignof(uint4) == 16 && alignof(double2) == 16);
static_assert(sizeof(double4) == 32 && sizeof(uint3) == 12);

__noinline__ __device__ unsigned flat(dim3 at, dim3 size) {
  return at.x + size.x * (at.y + size.y * at.z);
}

__constant__ float thirds[2] = {1.0f / 3, 2.0f / 3};

__global__ void words_kernel(float* out, const float* in) {
  const dim3 here(threadIdx);
  const uint3 size = blockDim;
  if (flat(here, size) != 5) return;
  int i = 0;
  out[i++] = isnan(in[0]) && !isnan(in[1]);
  out[i++] = isinf(in[2]) && !isinf(in[0]);
  out[i++] = rsqrtf(in[3]);
  out[i++] = __fdividef(in[3], 2);
  out[i++] = __fdividef(in[3], 0x1p127f);
  out[i++] = static_cast<float>(__popc(0xf0u) + 10 * __clz(0) + 1000 * __clz(1));
  out[i++] = static_cast<float>(__ffs(0) + __ffs(8));
  out[i++] = static_cast<float>(__popcll(~0ull) + 100 * __clzll(1) + 10000 * __ffsll(1ll << 40));
  out[i++] = __ldcg(in + 3) + __ldcs(in + 3);
  __stcs(out + i++, 6);
  out[i++] = thirds[1];
  out[i++] = make_double2(1, 2).y + make_uint4(1, 2, 3, 4).w + make_float1(5).x;
  const long long before = clock64();
  out[i++] = clock64() >= before;
}

__global__ void count_kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  const int few = __syncthreads_count(i % 3 == 0);
  const int none = __syncthreads_count(0);
  const int some = __syncthreads_or(i == 40), nobody = __syncthreads_or(0);
  const int all = __syncthreads_and(i < 64), most = __syncthreads_and(i != 63);
  const int every = __syncthreads_count(1);
  const bool right = few == 22 && none == 0 && some && !nobody && all && !most && every == 64;
  out[i] = right && __activemask() == 1u << (i % 32);
}

__global__ void wrap_around_kernel(unsigned* up, unsigned* down) {
  atomicInc(up, 4);
  atomicDec(down, 4);
}

__global__ void print_kernel(int ever) {
  do {
    printf("thread %d\n", static_cast<int>(threadIdx.x));
  } while (ever != 0);
}

__global__ void assert_kernel(int limit) {
  assert(static_cast<int>(threadIdx.x) < limit);
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
cudaError_t words(float* out, const float* in) {
  return go(words_kernel, 1, dim3(2, 2, 2), 0, out, in);
}
cudaError_t count(int* out) {
  return go(count_kernel, 1, 64, 0, out);
}
cudaError_t wrap_around(unsigned* up, unsigned* down, int threads) {
  return go(wrap_around_kernel, 1, threads, 0, up, down);
}
cudaError_t print(int ever) {
  return go(print_kernel, 1, 2, 0, ever);
}
cudaError_t assert_below(int limit) {
  return go(assert_kernel, 1, 8, 0, limit);
}

}  // namespace simt_test
