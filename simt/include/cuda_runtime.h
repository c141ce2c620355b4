// The part of CUDA that kernels use, for a C++ compiler on a CPU: put this folder in front of the
// include path. simt/cuda has one header for each subject. Code that compiles means the same as on
// a GPU; a part of CUDA that is missing here does not compile.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdio>
#include <ctime>

#include "simt/cuda/atomics.h"
#include "simt/cuda/launch.h"
#include "simt/cuda/math.h"
#include "simt/cuda/sync.h"
#include "simt/cuda/vectors.h"

#define SIMT
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
// One copy per worker, because a worker runs one block at a time. A block-scope thread_local is
// static.
#define __shared__ thread_local
#if defined(SIMT_DEVICE_CODE)
// C++ wants alignas in front of thread_local, but CUDA code says `__shared__ alignas(16) float
// tile[64]`.
#define __noinline__ __attribute__((noinline))
#define alignas(...) __attribute__((aligned(simt::alignment<__VA_ARGS__>())))
#endif

namespace simt {
template <class T>
consteval std::size_t alignment() {
  return alignof(T);
}
template <std::size_t Bytes>
consteval std::size_t alignment() {
  return Bytes;
}
}  // namespace simt

// libsimt is there from the start: these lie at a fixed distance, not behind a call.
#define SIMT_FIXED __attribute__((tls_model("initial-exec")))
extern constinit thread_local uint3 threadIdx SIMT_FIXED, blockIdx SIMT_FIXED;
extern constinit thread_local dim3 blockDim SIMT_FIXED, gridDim SIMT_FIXED;
#undef SIMT_FIXED
inline constexpr int warpSize = 32;

// Loads and stores that only choose how to go through the caches.
#define SIMT_LOAD(NAME) \
  template <class T>    \
  T NAME(const T* p) {  \
    return *p;          \
  }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldcv)
SIMT_LOAD(__ldlu)
#undef SIMT_LOAD
#define SIMT_STORE(NAME)                           \
  template <class T>                               \
  void NAME(T* p, std::type_identity_t<T> value) { \
    *p = value;                                    \
  }
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwb)
SIMT_STORE(__stwt)
#undef SIMT_STORE

// Ticks that never go back; their length means nothing here.
inline long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}
