// What the faulty kernels of this folder share: a right kernel, one thread for each element of a
// tile of 16 x 16, in which a fault replaces one step.
#pragma once

#include "kernels/gemm.h"

namespace assay::faulty {

inline constexpr Tile tile = {16, 16, 16};

// Each step as it should be. A fault derives from this and hides one of them.
struct Right {
  static __device__ void misread(Gemm&) {}  // what the kernel takes the problem for
  static __device__ bool covers(const Gemm&, std::int64_t /*row*/, std::int64_t /*col*/) {
    return true;
  }
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    return g.a[row * g.lda + p];
  }
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    return g.b[p * g.ldb + col];
  }
  static __device__ float start() { return 0; }
  static __device__ float add(float sum, float a, float b) { return fmaf(a, b, sum); }
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    float* c = &g.c[row * g.ldc + col];
    *c = blend(g, sum, c);
  }
};

template <class Fault>
__global__ void plain(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n || !Fault::covers(g, row, col)) return;
  Fault::misread(g);
  const std::int64_t k = depth(g);
  float sum = Fault::start();
  for (std::int64_t p = 0; p < k; ++p)
    sum = Fault::add(sum, Fault::a(g, row, p), Fault::b(g, p, col));
  Fault::finish(g, sum, row, col);
}

template <class Fault>
cudaError_t launch_plain(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(plain<Fault>, dim3(tile.n, tile.m), g, stream);
}

inline constexpr const char* idea = "It has one fault, which its name tells.";

template <class Fault>
constexpr Variant in_plain(const char* name, Order order = Order::unspecified) {
  return {.name = name, .idea = idea, .launch = launch_plain<Fault>, .order = order, .tile = tile};
}

// A part of the sum of an element, by its place in C, row after row.
inline __device__ float sum_of(const Gemm& g, std::int64_t at, std::int64_t first,
                               std::int64_t last) {
  float sum = 0;
  for (std::int64_t p = first; p < last; ++p)
    sum = Right::add(sum, Right::a(g, at / g.n, p), Right::b(g, p, at % g.n));
  return sum;
}

// What a copy from host memory tells the device of a problem.
struct Told {
  float alpha = 0, beta = 0;
  float* c = nullptr;
};

template <class Launch>
constexpr Variant named(const char* name, Launch launch,
                        std::int64_t (*workspace)(const Gemm&) = nullptr) {
  return {.name = name, .idea = idea, .launch = launch, .workspace = workspace};
}

}  // namespace assay::faulty
