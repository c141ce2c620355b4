// Right results, whatever else the thread of element (0, 0) touches: some memory that it may not,
// and makes nothing of it. For the looks at every access.
#include <cstring>

#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr Tile tile = {8, 8, 1};

struct Three {
  float floats[3];
};

__device__ float first_of(const float* p) { return *static_cast<const volatile float*>(p); }
__device__ float first_of(const float4* p) {
  const float4 quad = *p;
  return quad.x;
}
__device__ float first_of(const Three* p) {
  const Three three = *p;
  return three.floats[0];
}
template <class T>
__device__ void touch(const float* p) {
  [[maybe_unused]] volatile float sink = first_of(reinterpret_cast<const T*>(p));
}

using Touch = void (*)(const Gemm&);

__device__ void nothing(const Gemm&) {}

// Where rows are three floats long, and lie four apart.
__device__ void reads_gap(const Gemm& g) { touch<float>(g.b + g.n); }
__device__ void reads_gap_by_quads(const Gemm& g) {
  if (reinterpret_cast<std::uintptr_t>(g.b) % sizeof(float4) == 0) touch<float4>(g.b);
}
__device__ void reads_gap_by_copies(const Gemm& g) { touch<Three>(g.b + g.n - 1); }
__device__ void reads_gap_by_memcpy(const Gemm& g) {
  float row[4];
  std::memcpy(row, g.a, static_cast<std::size_t>(g.lda) * sizeof(float));
}
__device__ void reads_gap_of_c(const Gemm& g) { touch<float>(g.c + g.n); }
__device__ void reads_behind(const Gemm& g) { touch<float>(g.a + (g.m - 1) * g.lda + g.k); }
__device__ void reads_behind_by_quads(const Gemm& g) { touch<float4>(g.b + (g.k - 1) * g.ldb); }
__device__ void reads_far_behind(const Gemm& g) { touch<float>(g.a + g.m * g.lda + 1000); }
__device__ void reads_before(const Gemm& g) { touch<float>(g.b - 1); }
__device__ void reads_all_of_b(const Gemm& g) {
  for (std::int64_t row = 0; row < g.k; ++row) touch<Three>(g.b + row * g.ldb);
}
// By quads that cross from row to row, where no gap lies between them.
__device__ void reads_packed_rows(const Gemm& g) {
  for (std::int64_t i = 0; i + 4 <= g.k * g.n; i += 4) touch<float4>(g.b + i);
}

__device__ void writes_gap(const Gemm& g) {
  volatile float* const gap = g.c + g.n;
  *gap = *gap;
}
__device__ void writes_gap_by_quads(const Gemm& g) {
  const float4 quad = *reinterpret_cast<const float4*>(g.c);
  *reinterpret_cast<float4*>(g.c) = quad;
}
__device__ void writes_gap_by_atomics(const Gemm& g) { atomicAdd(g.c + g.n, 0.0f); }
__device__ void writes_gap_by_memcpy(const Gemm& g) {
  float row[4];
  std::memcpy(row, g.c, static_cast<std::size_t>(g.ldc) * sizeof(float));
  std::memcpy(g.c, row, static_cast<std::size_t>(g.ldc) * sizeof(float));
}
__device__ void writes_behind(const Gemm& g) {
  volatile float* const behind = g.c + (g.m - 1) * g.ldc + g.n;
  *behind = *behind;
}
__device__ void writes_a(const Gemm& g) {
  auto* const a = const_cast<volatile float*>(g.a + g.lda + 2);
  *a = *a;
}
__device__ void writes_gap_of_b(const Gemm& g) {
  auto* const gap = const_cast<volatile float*>(g.b + g.n);
  *gap = *gap;
}

__device__ void reads_c(const Gemm& g) { touch<float>(g.c + g.ldc + 1); }
__device__ void reads_c_by_copies(const Gemm& g) { touch<Three>(g.c); }
__device__ void reads_c_by_atomics(const Gemm& g) { atomicAdd(g.c, 0.0f); }
__device__ void reads_c_that_it_wrote(const Gemm& g) {
  g.c[1] = 7;
  touch<float>(g.c + 1);
  atomicAdd(g.c + 1, 0.0f);
}

template <Touch touch_more>
__global__ void multiply(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  if (row == 0 && col == 0) touch_more(g);
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  float* const c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}
template <Touch touch_more>
cudaError_t launch_multiply(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(multiply<touch_more>, dim3(tile.n, tile.m), g, stream);
}

// Adds to a packed C that was set to 0, for beta = 0.
__global__ void add_product(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  for (std::int64_t p = 0; p < depth(g); ++p)
    atomicAdd(&g.c[row * g.ldc + col], g.alpha * g.a[row * g.lda + p] * g.b[p * g.ldb + col]);
}
cudaError_t launch_upon_zeros(const Gemm& g, cudaStream_t stream) {
  cudaMemsetAsync(g.c, 0, static_cast<std::size_t>(g.m * g.ldc) * sizeof(float), stream);
  return launch_tiles<tile>(add_product, dim3(tile.n, tile.m), g, stream);
}

// Another's memory, through which no operand goes but the rows of A with all between them.
cudaError_t launch_after_a_copy(const Gemm& g, cudaStream_t stream) {
  static float copy[1024];
  cudaMemcpyAsync(copy, g.a, static_cast<std::size_t>((g.m - 1) * g.lda + g.k) * sizeof(float),
                  cudaMemcpyDefault, stream);
  return launch_multiply<nothing>(g, stream);
}

Variant variant(const char* name, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {.name = name, .idea = "Touches too much.", .launch = launch, .tile = tile};
}

#define PLANT(touch) Registrar(variant("planted_" #touch, launch_multiply<touch>))

const Registrar all[] = {
    PLANT(nothing),
    PLANT(reads_gap),
    PLANT(reads_gap_by_quads),
    PLANT(reads_gap_by_copies),
    PLANT(reads_gap_by_memcpy),
    PLANT(reads_gap_of_c),
    PLANT(reads_behind),
    PLANT(reads_behind_by_quads),
    PLANT(reads_far_behind),
    PLANT(reads_before),
    PLANT(reads_all_of_b),
    PLANT(reads_packed_rows),
    PLANT(writes_gap),
    PLANT(writes_gap_by_quads),
    PLANT(writes_gap_by_atomics),
    PLANT(writes_gap_by_memcpy),
    PLANT(writes_behind),
    PLANT(writes_a),
    PLANT(writes_gap_of_b),
    PLANT(reads_c),
    PLANT(reads_c_by_copies),
    PLANT(reads_c_by_atomics),
    PLANT(reads_c_that_it_wrote),
    variant("planted_upon_zeros", launch_upon_zeros),
    variant("planted_after_a_copy", launch_after_a_copy),
};

}  // namespace
}  // namespace assay
