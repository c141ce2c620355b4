// The part of CUDA that kernels use, for a C++ compiler on a CPU: put this folder in front of the
// include path. What is missing here does not compile; what compiles means what it means on a GPU.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#define SIMT
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __grid_constant__
// One copy for each worker, as a worker runs one block at a time. A block-scope thread_local is
// static.
#define __shared__ thread_local

using std::fma;
using std::fmaf;

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define SIMT_VECTOR(T, NAME, BYTES)                      \
  struct alignas(BYTES / 2) NAME##2 {                    \
    T x, y;                                              \
  };                                                     \
  struct NAME##3 {                                       \
    T x, y, z;                                           \
  };                                                     \
  struct alignas(BYTES) NAME##4 {                        \
    T x, y, z, w;                                        \
  };                                                     \
  constexpr NAME##2 make_##NAME##2(T x, T y) {           \
    return {x, y};                                       \
  }                                                      \
  constexpr NAME##3 make_##NAME##3(T x, T y, T z) {      \
    return {x, y, z};                                    \
  }                                                      \
  constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { \
    return {x, y, z, w};                                 \
  }
SIMT_VECTOR(float, float, 16)
SIMT_VECTOR(int, int, 16)
#undef SIMT_VECTOR

extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}

template <class T>
T __ldg(const T* p) {
  return *p;
}
inline float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
// Rounded by themselves: the compiler must not fuse them with what comes next.
inline float __fmul_rn(float a, float b) {
  volatile float product = a * b;
  return product;
}
inline float __fadd_rn(float a, float b) {
  volatile float sum = a + b;
  return sum;
}

inline unsigned __float_as_uint(float f) { return std::bit_cast<unsigned>(f); }
inline float __uint_as_float(unsigned u) { return std::bit_cast<float>(u); }
inline int __float_as_int(float f) { return std::bit_cast<int>(f); }
inline float __int_as_float(int i) { return std::bit_cast<float>(i); }

// Host side.

using cudaStream_t = struct CUstream_st*;

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
};
using cudaError_t = cudaError;

const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t = nullptr);

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace simt {

// A kernel with its arguments: `call(kernel, arguments)` runs one thread of it.
struct Kernel {
  const void* code;
  const void* arguments;
  void (*call)(const void* code, const void* arguments);
};
cudaError_t launch(const cudaLaunchConfig_t&, const Kernel&);
cudaError_t allow_dynamic_shared(const void* code, int bytes);
void* dynamic_shared();

void barrier(int line);
// Waits for the lanes of this warp that `mask` names and returns what each of the 32 brought.
const std::array<std::uint64_t, 32>& warp_exchange(unsigned mask, std::uint64_t value, int line);
unsigned lane();

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

// The value of the lane that `source` picks; `first` and `end` are the own group of `width` lanes.
template <class T, class Source>
T shuffle(unsigned mask, T value, int width, int line, Source source) {
  const int self = static_cast<int>(lane()), first = self / width * width;
  const int from = source(self, first, first + width);
  return from_bits<T>(warp_exchange(mask, to_bits(value), line)[from]);
}

template <class T, class Change>
T atomic_update(T* p, Change change) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto* bits = reinterpret_cast<Bits*>(p);
  Bits before = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(bits, &before,
                                      std::bit_cast<Bits>(change(std::bit_cast<T>(before))), true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return std::bit_cast<T>(before);
}

}  // namespace simt

template <class... Params, class... Args>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                               Args&&... args) {
  const std::tuple<Params...> arguments(std::forward<Args>(args)...);
  const auto call = [](const void* code, const void* packed) {
    std::apply(reinterpret_cast<void (*)(Params...)>(reinterpret_cast<std::uintptr_t>(code)),
               *static_cast<const std::tuple<Params...>*>(packed));
  };
  return simt::launch(*config, {reinterpret_cast<const void*>(kernel), &arguments, call});
}
template <class... Params>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Params...), cudaFuncAttribute, int value) {
  return simt::allow_dynamic_shared(reinterpret_cast<const void*>(kernel), value);
}

// Device side: what makes threads wait for each other.

inline void __syncthreads(int line = __builtin_LINE()) {
  simt::barrier(line);
}
inline void __syncwarp(unsigned mask = ~0u, int line = __builtin_LINE()) {
  simt::warp_exchange(mask, 0, line);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE()) {
  return simt::shuffle(mask, value, width, line, [=](int, int first, int end) {
    return first + (source & (end - first - 1));
  });
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 int line = __builtin_LINE()) {
  return simt::shuffle(mask, value, width, line, [=](int self, int first, int) {
    const int from = self - static_cast<int>(delta);
    return from < first ? self : from;
  });
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   int line = __builtin_LINE()) {
  return simt::shuffle(mask, value, width, line, [=](int self, int, int end) {
    const int from = self + static_cast<int>(delta);
    return from >= end ? self : from;
  });
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, int line = __builtin_LINE()) {
  return simt::shuffle(mask, value, width, line, [=](int self, int, int end) {
    const int from = self ^ bits;
    return from >= end ? self : from;
  });
}

inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  const auto& lanes = simt::warp_exchange(mask, predicate != 0, line);
  unsigned votes = 0;
  for (unsigned i = 0; i < 32; ++i) votes |= (mask >> i & 1) && lanes[i] == 1 ? 1u << i : 0u;
  return votes;
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, !predicate, line) == 0;
}

template <class T>
T atomicAdd(T* p, T value) {
  return simt::atomic_update(p, [=](T old) { return old + value; });
}
template <class T>
T atomicMin(T* p, T value) {
  return simt::atomic_update(p, [=](T old) { return min(old, value); });
}
template <class T>
T atomicMax(T* p, T value) {
  return simt::atomic_update(p, [=](T old) { return max(old, value); });
}
template <class T>
T atomicExch(T* p, T value) {
  return simt::atomic_update(p, [=](T) { return value; });
}
template <class T>
T atomicCAS(T* p, T compare, T value) {
  return simt::atomic_update(p, [=](T old) { return old == compare ? value : old; });
}
inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_block() {
  __threadfence();
}
[[noreturn]] inline void __trap() {
  __builtin_trap();
}
