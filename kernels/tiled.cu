// A block of T x T threads computes a T x T tile of C and goes through k in slices of T: it copies
// a T x T tile of A and one of B into shared memory, where each element is then used T times.
//
// Where a tile sticks out of its matrix, it is filled with zeros, which add nothing to a sum. Every
// thread, even one without an element of C, loads, computes and reaches both barriers.
//
// Assumes nothing.
// Wins against `coalesced` when the matrices outgrow the caches: T times fewer global loads.
// Loses against every later stage, because it waits for shared memory: two loads for each
// multiplication. T = 4 is there to be counted by hand, not for speed.
#include "kernels/gemm.h"

namespace assay {
namespace {

template <int T>
constexpr Tile tile = {T, T, T};

template <int T>
__global__ void tiled(Gemm g) {
  __shared__ float a_tile[T][T];
  __shared__ float b_tile[T][T];
  const Corner corner = block_corner<tile<T>>(g);
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = corner.row + y;
  const std::int64_t col = corner.col + x;

  const std::int64_t k = depth(g);
  float sum = 0;
  for (std::int64_t p0 = 0; p0 < k; p0 += T) {
    a_tile[y][x] = row < g.m && p0 + x < k ? g.a[row * g.lda + p0 + x] : 0.0f;
    b_tile[y][x] = p0 + y < k && col < g.n ? g.b[(p0 + y) * g.ldb + col] : 0.0f;
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int p = 0; p < T; ++p) sum = fmaf(a_tile[y][p], b_tile[p][x], sum);
    __syncthreads();  // nobody reads them any more
  }

  if (row < g.m && col < g.n) {
    float* c = &g.c[row * g.ldc + col];
    *c = blend(g, sum, c);
  }
}

template <int T>
cudaError_t launch_tiled(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile<T>>(tiled<T>, dim3(T, T), g, stream);
}

template <int T>
constexpr Variant variant(const char* name) {
  return {
      .name = name,
      .idea = "Square tiles of A and B pass through shared memory; one thread per element.",
      .launch = launch_tiled<T>,
      .order = Order::one_fma_chain,
      .tile = tile<T>,
  };
}

const Registrar registrar_4{variant<4>("tiled_4")};
const Registrar registrar_16{variant<16>("tiled_16")};
const Registrar registrar_32{variant<32>("tiled_32")};

}  // namespace
}  // namespace assay
