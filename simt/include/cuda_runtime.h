// The part of CUDA that kernels use, for a C++ compiler on a CPU: put this folder in front of the
// include path. One header for each subject lies in simt/cuda. What is missing here does not
// compile; what compiles means what it means on a GPU.
#pragma once

#include <cstddef>

#include "simt/cuda/atomics.h"
#include "simt/cuda/launch.h"
#include "simt/cuda/math.h"
#include "simt/cuda/sync.h"
#include "simt/cuda/vectors.h"

#define SIMT
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
// One copy for each worker, as a worker runs one block at a time. A block-scope thread_local is
// static.
#define __shared__ thread_local
#if defined(SIMT_DEVICE_CODE)
// C++ wants alignas in front of thread_local, but `__shared__ alignas(16) float tile[64]` is how
// CUDA is written.
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

extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

template <class T>
T __ldg(const T* p) {
  return *p;
}
