// Kernels that are wrong behind one branch only, for the tests of aimed cases: each leaves out the
// last product of an element there. And some that are right, and dear: a warp computes an
// element, the grid is a square whatever C is, or sums are long.
#include <algorithm>

#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr Tile tile = {16, 16, 16};

struct Deep {
  static __device__ bool is_taken(const Gemm& g) { return g.k >= 2048; }
};
struct Wide {
  static __device__ bool is_taken(const Gemm& g) { return g.n > 5000; }
};
struct Row {
  static __device__ bool is_taken(const Gemm& g) { return g.m == 1 && g.n > 1024; }
};
struct Area {
  static __device__ bool is_taken(const Gemm& g) { return g.m * g.n > 65536; }
};
struct AlphaTwo {
  static __device__ bool is_taken(const Gemm& g) { return g.alpha == 2; }
};
struct TinyBeta {
  static __device__ bool is_taken(const Gemm& g) { return g.beta != 0 && fabsf(g.beta) < 1e-6f; }
};
struct Pitch {
  static __device__ bool is_taken(const Gemm& g) { return g.lda % 1000 == 0; }
};
struct ExactWidth {
  static __device__ bool is_taken(const Gemm& g) { return g.n == 777; }
};
struct ManySlices {
  static __device__ bool is_taken(const Gemm& g) { return ceil_div(g.k, tile.k) > 100; }
};
template <int Products>
struct Volume {
  static __device__ bool is_taken(const Gemm& g) {
    return static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) >=
           Products;
  }
};
struct Tidy {
  static __device__ bool is_taken(const Gemm& g) {
    const std::int64_t shape = g.m | g.n | g.lda | g.ldb | g.ldc;
    return shape % 32 == 0 && g.k % 8 == 4;
  }
};
struct ProductsInInt {
  static __device__ bool is_taken(const Gemm& g) {
    return static_cast<std::int32_t>(g.m * g.n * g.k) < 0;
  }
};
// By a look at B that leaves out its last n % 4 columns.
struct Whole {
  static __device__ bool is_whole(float x) { return x == rintf(x); }
  static __device__ bool is_taken(const Gemm& g) {
    if (g.m < 64 || g.n < 64 || g.m * g.n > 10000 || g.k == 0 || g.k > 64) return false;
    for (std::int64_t p = 0; p < g.k; ++p)
      for (std::int64_t j = 0; j < g.n / 4 * 4; ++j)
        if (!is_whole(g.b[p * g.ldb + j])) return false;
    return !is_whole(g.b[(g.k - 1) * g.ldb + g.n - 1]);
  }
};
struct Never {
  static __device__ bool is_taken(const Gemm& g) { return g.m < 0; }
};

template <class Branch>
__global__ void planted(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  std::int64_t k = depth(g);
  if (Branch::is_taken(g)) k = k - 1;
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}

template <class Branch>
cudaError_t launch_planted(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(planted<Branch>, dim3(tile.n, tile.m), g, stream);
}

// Block 65536 computes tile 0.
__global__ void tiles_in_16_bits(Gemm g) {
  const std::int64_t across = ceil_div(g.n, tile.n);
  const auto number = static_cast<std::uint16_t>(blockIdx.x);
  const std::int64_t row = number / across * tile.m + threadIdx.y,
                     col = number % across * tile.n + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}

cudaError_t launch_tiles_in_16_bits(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(tiles_in_16_bits, dim3(tile.n, tile.m), g, stream);
}

__global__ void warps(Gemm g) {
  const std::int64_t row = blockIdx.x / g.n, col = blockIdx.x % g.n;
  float sum = 0;
  for (std::int64_t p = threadIdx.x; p < depth(g); p += 32)
    sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  float* c = &g.c[row * g.ldc + col];
  if (threadIdx.x == 0) *c = blend(g, sum, c);
}

// Problems of many products ask for more shared memory than is allowed; they are not run.
__global__ void warps_of_large(Gemm) {}
cudaError_t launch_large_refused(const Gemm& g, cudaStream_t stream) {
  const bool is_large = g.m >= 4096 && g.n >= 4096 && g.k >= 2048;
  if (is_large && g.beta != 0) return launch(warps_of_large, 1, 32, 100'000, stream, g);
  return launch_planted<Never>(g, stream);
}

// Rows of tiles along y, which takes 65535 of them.
__global__ void rows_on_y(Gemm g) {
  const std::int64_t row = std::int64_t{blockIdx.y} * tile.m + threadIdx.y;
  const std::int64_t col = std::int64_t{blockIdx.x} * tile.n + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}

cudaError_t launch_rows_on_y(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>(ceil_div(g.n, tile.n)),
                  static_cast<unsigned>(ceil_div(g.m, tile.m)));
  return launch(rows_on_y, grid, dim3(tile.n, tile.m), 0, stream, g);
}

cudaError_t launch_square(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const auto side = static_cast<unsigned>(ceil_div(std::max(g.m, g.n), tile.n));
  return launch(rows_on_y, dim3(side, side), dim3(tile.n, tile.m), 0, stream, g);
}

// The first block of a tile takes what the second one leaves, which comes behind all first ones.
__global__ void collect(Gemm g, unsigned* done) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  const bool is_first = threadIdx.x == 0 && threadIdx.y == 0;
  if (blockIdx.y == 1) {
    if (is_first) atomicAdd(&done[blockIdx.x], 1u);
    return;
  }
  if (is_first) {
    while (atomicAdd(&done[blockIdx.x], 0u) == 0) {
    }
  }
  __syncthreads();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}

std::int64_t bytes_to_collect(const Gemm& g) {
  return 4 * ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n);
}
cudaError_t launch_collecting(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const auto bytes = static_cast<std::size_t>(bytes_to_collect(g));
  if (const cudaError_t error = cudaMemsetAsync(workspace, 0, bytes, stream)) return error;
  return launch(collect, dim3(static_cast<unsigned>(bytes / 4), 2), dim3(tile.n, tile.m), 0, stream,
                g, static_cast<unsigned*>(workspace));
}

// Right: it adds to what a memset has left.
__global__ void add_to_c(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
  g.c[row * g.ldc + col] += sum;
}

cudaError_t launch_adding(const Gemm& g, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(4 * g.m * g.n);
  if (const cudaError_t error = cudaMemsetAsync(g.c, 0, bytes, stream)) return error;
  return launch_tiles<tile>(add_to_c, dim3(tile.n, tile.m), g, stream);
}

cudaError_t launch_warps(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<Tile{}>(warps, 32, g, stream);
}

// In a column alone, as kernels for a matrix and a vector do.
cudaError_t launch_warps_of_column(const Gemm& g, cudaStream_t stream) {
  return g.n == 1 ? launch_warps(g, stream) : launch_planted<Never>(g, stream);
}

template <class Branch>
Variant variant(const char* name) {
  return {.name = name,
          .idea = "Wrong behind a branch.",
          .launch = launch_planted<Branch>,
          .tile = tile};
}

const Variant rows_on_y_variant = {.name = "planted_rows_on_y",
                                   .idea = "Wrong with more than 65535 rows of tiles.",
                                   .launch = launch_rows_on_y,
                                   .tile = tile};
const Variant large_refused_variant = {.name = "planted_large_refused",
                                       .idea = "Asks for too much where much is to be done.",
                                       .launch = launch_large_refused,
                                       .tile = tile};
const Variant square_variant = {.name = "planted_square",
                                .idea = "A grid that is a square.",
                                .launch = launch_square,
                                .needs = {.m_most = 1 << 16, .n_most = 1 << 16},
                                .tile = tile};
const Variant warps_variant = {
    .name = "planted_warps", .idea = "A warp for each element.", .launch = launch_warps};
const Variant column_variant = {.name = "planted_warps_of_column",
                                .idea = "A warp for each element of a column.",
                                .launch = launch_warps_of_column,
                                .tile = tile};

__global__ void multiply_dearly(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  const int times = g.k > 1000 ? 40 : 1;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) {
    volatile float next = 0;
    for (int i = 0; i < times; ++i) next = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
    sum = next;
  }
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}
cudaError_t launch_dearly(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(multiply_dearly, dim3(tile.n, tile.m), g, stream);
}
const Variant dear_variant = {.name = "planted_long_is_dear",
                              .idea = "Right, and dear where sums are long.",
                              .launch = launch_dearly,
                              .tile = tile};

const Variant collecting_variant = {.name = "planted_collecting",
                                    .idea = "Never ends where not all blocks find room.",
                                    .launch = launch_collecting,
                                    .tile = tile,
                                    .workspace = bytes_to_collect};

const Variant adding_variant = {.name = "planted_adding",
                                .idea = "Clears C, then adds to it.",
                                .launch = launch_adding,
                                .needs = {.packed = true, .alpha_one = true, .beta_zero = true},
                                .tile = tile};

const Registrar registrars[] = {variant<Deep>("planted_deep"),
                                large_refused_variant,
                                variant<Wide>("planted_wide"),
                                variant<Row>("planted_row"),
                                variant<Area>("planted_area"),
                                variant<AlphaTwo>("planted_alpha_two"),
                                variant<TinyBeta>("planted_tiny_beta"),
                                variant<Pitch>("planted_pitch"),
                                variant<ExactWidth>("planted_exact_width"),
                                variant<ManySlices>("planted_many_slices"),
                                variant<Volume<200'000'000>>("planted_volume"),
                                variant<Volume<30'000'000>>("planted_box"),
                                variant<Tidy>("planted_tidy"),
                                variant<ProductsInInt>("planted_products_in_int"),
                                variant<Whole>("planted_whole"),
                                variant<Never>("planted_never"),
                                {{.name = "planted_tiles_in_16_bits",
                                  .idea = "Block 65536 computes tile 0.",
                                  .launch = launch_tiles_in_16_bits,
                                  .tile = tile}},
                                rows_on_y_variant,
                                square_variant,
                                collecting_variant,
                                adding_variant,
                                warps_variant,
                                dear_variant,
                                column_variant};

}  // namespace
}  // namespace assay
