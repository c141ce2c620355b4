// Kernels that are wrong behind one branch, each in another way, for the tests of what a failure
// says of it; and some that are wrong, but not behind a branch.
#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr Tile tile = {16, 16, 16};

__device__ float product(const Gemm& g, std::int64_t row, std::int64_t col, std::int64_t k) {
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  return sum;
}

struct Deep {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    std::int64_t k = depth(g);
    if (g.k >= 2048) k -= 1;
    return product(g, row, col, k);
  }
};
struct Whole {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    const float sum = product(g, row, col, depth(g));
    return g.m % 32 == 0 ? sum * 1.5f : sum;
  }
};
struct Ragged {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    float sum = product(g, row, col, depth(g));
    if (g.m % 32) sum *= 1.5f;
    return sum;
  }
};
struct Beta {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    float sum = product(g, row, col, depth(g));
    if (g.n > 2 && g.beta == -1.0f) sum = -sum;
    return sum;
  }
};
struct Pitch {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    float sum = product(g, row, col, depth(g));
    if (g.lda > g.k) sum = -sum;
    return sum;
  }
};
struct Narrow {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    float sum = product(g, row, col, depth(g));
    if (g.ldb < 48) {
      for (std::int64_t p = 0; p < g.ldb; ++p) sum += 1;
    }
    return sum;
  }
};
// Wrong in every case, or wherever k is odd, which no branch asks.
struct Always {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    return -product(g, row, col, depth(g));
  }
};
struct Odd {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    return product(g, row, col, depth(g) / 2 * 2);
  }
};

// Takes a factor from shared memory before it is surely there.
struct Racing {
  static __device__ float sum(const Gemm& g, std::int64_t row, std::int64_t col) {
    __shared__ float factor;
    if (row % tile.m == 0 && col % tile.n == 0) factor = 1;
    return product(g, row, col, depth(g)) * factor;
  }
};

template <class Fault>
__global__ void hidden(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, Fault::sum(g, row, col), c);
}

template <class Fault>
Variant variant(const char* name) {
  constexpr auto launch_it = [](const Gemm& g, cudaStream_t stream) {
    return launch_tiles<tile>(hidden<Fault>, dim3(tile.n, tile.m), g, stream);
  };
  return {.name = name, .idea = "Wrong behind a branch.", .launch = launch_it, .tile = tile};
}

const Registrar registrars[] = {
    variant<Deep>("planted_hidden_deep"),     variant<Whole>("planted_hidden_whole"),
    variant<Ragged>("planted_hidden_ragged"), variant<Beta>("planted_hidden_beta"),
    variant<Pitch>("planted_hidden_pitch"),   variant<Narrow>("planted_hidden_narrow"),
    variant<Always>("planted_hidden_always"), variant<Odd>("planted_hidden_odd"),
    variant<Racing>("planted_racing")};

}  // namespace
}  // namespace assay
