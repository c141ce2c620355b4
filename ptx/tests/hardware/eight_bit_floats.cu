// Conversions to numbers of 8 bits and from them: of all pairs of bytes, all halves, and a million
// floats of every exponent. Prints what all results of each add up to.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

namespace {

using u32 = unsigned;
using u64 = unsigned long long;

enum class From { bytes, halves, floats };

// The i-th operand, the same on every device.
__device__ u32 bits_of(u32 i) { return i * 2654435761u ^ i >> 7; }

#define CONVERT(name, narrow_floats, narrow_halves, widen)                                       \
  struct name {                                                                                  \
    static __device__ u32 of(From from, u32 i) {                                                 \
      unsigned short bytes = 0;                                                                  \
      u32 halves = 0;                                                                            \
      if (from == From::floats)                                                                  \
        asm(narrow_floats " %0, %1, %2;"                                                         \
            : "=h"(bytes)                                                                        \
            : "f"(__uint_as_float(bits_of(i))), "f"(__uint_as_float(bits_of(i + 77))));          \
      if (from == From::halves) asm(narrow_halves " %0, %1;" : "=h"(bytes) : "r"(i | ~i << 16)); \
      if (from == From::bytes)                                                                   \
        asm(widen " %0, %1;" : "=r"(halves) : "h"(static_cast<unsigned short>(i)));              \
      return from == From::bytes ? halves : bytes;                                               \
    }                                                                                            \
  };
CONVERT(E4M3, "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e4m3x2.f16x2", "cvt.rn.f16x2.e4m3x2")
CONVERT(E5M2, "cvt.rn.satfinite.e5m2x2.f32", "cvt.rn.satfinite.e5m2x2.f16x2", "cvt.rn.f16x2.e5m2x2")
CONVERT(E4M3Relu, "cvt.rn.satfinite.relu.e4m3x2.f32", "cvt.rn.satfinite.relu.e4m3x2.f16x2",
        "cvt.rn.relu.f16x2.e4m3x2")
CONVERT(E5M2Relu, "cvt.rn.satfinite.relu.e5m2x2.f32", "cvt.rn.satfinite.relu.e5m2x2.f16x2",
        "cvt.rn.relu.f16x2.e5m2x2")

template <class Convert>
__global__ void add_up(From from, u32 count, u64* sums) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const u64 result = Convert::of(from, i);
    atomicAdd(sums, result);
    atomicAdd(sums + 1, (result + 1) * (i % 65521 + 1));
  }
}

template <class Convert>
void show(const char* name) {
  u64* sums = nullptr;
  cudaMallocManaged(&sums, 2 * sizeof(u64));
  for (const From from : {From::bytes, From::halves, From::floats}) {
    sums[0] = sums[1] = 0;
    const u32 count = from == From::floats ? 1u << 20 : 1u << 16;
    add_up<Convert><<<16, 256>>>(from, count, sums);
    const cudaError_t error = cudaDeviceSynchronize();
    static const char* const names[] = {"bytes", "halves", "floats"};
    std::printf("%s of %s: %s %llx %llx\n", name, names[static_cast<int>(from)],
                cudaGetErrorName(error), sums[0], sums[1]);
  }
  cudaFree(sums);
}

}  // namespace

int main() {
  show<E4M3>("e4m3");
  show<E5M2>("e5m2");
  show<E4M3Relu>("e4m3 relu");
  show<E5M2Relu>("e5m2 relu");
}
