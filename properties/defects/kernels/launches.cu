// Faults in launch functions: state between calls, the host at work, errors, limits.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

cudaError_t launch_right(const Gemm& g, cudaStream_t stream) {
  return launch_plain<Right>(g, stream);
}

cudaError_t host_computes(const Gemm& g, cudaStream_t) {
  for (std::int64_t row = 0; row < g.m; ++row)
    for (std::int64_t col = 0; col < g.n; ++col) {
      float sum = 0;
      for (std::int64_t p = 0; p < depth(g); ++p)
        sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
      Right::finish(g, sum, row, col);
    }
  return cudaSuccess;
}
cudaError_t host_computes_small_ones(const Gemm& g, cudaStream_t stream) {
  return g.m * g.n < 16 ? host_computes(g, stream) : launch_right(g, stream);
}
// Looks into A to choose a path.
cudaError_t host_reads_a(const Gemm& g, cudaStream_t stream) {
  if (g.m > 0 && depth(g) > 0 && g.a[0] == 12345.0f) return cudaErrorInvalidValue;
  return launch_right(g, stream);
}
cudaError_t host_clears_c(const Gemm& g, cudaStream_t stream) {
  if (g.beta == 0)
    for (std::int64_t row = 0; row < g.m; ++row)
      for (std::int64_t col = 0; col < g.n; ++col) g.c[row * g.ldc + col] = 0;
  return launch_right(g, stream);
}
cudaError_t falls_back_to_host(const Gemm& g, cudaStream_t stream) {
  return launch_right(g, stream) == cudaSuccess ? cudaSuccess : host_computes(g, stream);
}

// As many rows as the first problem had.
cudaError_t keeps_first_size(const Gemm& g, cudaStream_t stream) {
  static const std::int64_t rows = g.m;
  Gemm h = g;
  h.m = h.m < rows || rows == 0 ? h.m : rows;
  return launch_right(h, stream);
}
struct FromTheEnd : Right {
  static __device__ float a(const Gemm& g, std::int64_t row, std::int64_t p) {
    return Right::a(g, row, g.k - 1 - p);
  }
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    return Right::b(g, g.k - 1 - p, col);
  }
};
// Every third launch takes another path, which sums in another order.
cudaError_t changes_every_third_time(const Gemm& g, cudaStream_t stream) {
  static int launches = 0;
  return ++launches % 3 == 0 ? launch_plain<FromTheEnd>(g, stream) : launch_right(g, stream);
}
// Scalars are copied to the device where they differ from the last ones in alpha.
cudaError_t keeps_scalars(const Gemm& g, cudaStream_t stream) {
  static float alpha = 0, beta = 0;
  if (g.alpha != alpha) alpha = g.alpha, beta = g.beta;
  Gemm h = g;
  h.beta = beta;
  return launch_right(h, stream);
}
// What the blocks add up is set to 0 when the program starts.
__device__ float total[16][16];
__global__ void adds_to_a_total(Gemm g) {
  const std::int64_t row = threadIdx.y, col = threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  for (std::int64_t p = 0; p < depth(g); ++p)
    total[row][col] = Right::add(total[row][col], Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, total[row][col], row, col);
}
cudaError_t launch_adds_to_a_total(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(adds_to_a_total, dim3(16, 16), g, stream);
}

// Starts a grid of no blocks.
cudaError_t empty_grid(const Gemm& g, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n));
  return launch(plain<Right>, dim3(blocks), dim3(16, 16), 0, stream, g);
}
cudaError_t takes_whole_tiles_unsaid(const Gemm& g, cudaStream_t stream) {
  return g.m % 16 != 0 ? cudaErrorInvalidValue : launch_right(g, stream);
}
// Eight rows of A for each block, in shared memory that may take 48 KiB without asking: k <= 1536.
constexpr Tile square = {8, 8, 1};
__global__ void rows_in_shared(Gemm g) {
  const Corner corner = block_corner<square>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  float* row_of_a = dynamic_shared<float>() + threadIdx.y * g.k;
  if (row < g.m)
    for (std::int64_t p = threadIdx.x; p < depth(g); p += 8) row_of_a[p] = Right::a(g, row, p);
  __syncthreads();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, row_of_a[p], Right::b(g, p, col));
  Right::finish(g, sum, row, col);
}
cudaError_t launch_rows_in_shared(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<square>(rows_in_shared, dim3(8, 8), g, stream,
                              static_cast<std::size_t>(g.k) * 8 * sizeof(float));
}
// A row for each block, with a thread for each column: 1024 at most.
__global__ void row_for_each_block(Gemm g) {
  const std::int64_t row = blockIdx.x, col = threadIdx.x;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, sum, row, col);
}
cudaError_t block_as_wide_as_c(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  return launch(row_for_each_block, dim3(static_cast<unsigned>(g.m)),
                dim3(static_cast<unsigned>(g.n)), 0, stream, g);
}
// Two launches of which the first may fail alone.
cudaError_t first_error_forgotten(const Gemm& g, cudaStream_t stream) {
  Gemm scaling = g;
  scaling.k = 0;
  if (launch_right(scaling, stream) != cudaSuccess) return cudaSuccess;
  Gemm adding = g;
  adding.beta = 1;
  return launch_right(adding, stream);
}

constexpr Variant by(const char* name, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {.name = name, .idea = idea, .launch = launch, .tile = tile};
}
const Registrar registrars[] = {
    by("host_computes", host_computes),
    by("host_computes_small_ones", host_computes_small_ones),
    by("host_reads_a", host_reads_a),
    by("host_clears_c", host_clears_c),
    by("falls_back_to_host", falls_back_to_host),
    by("keeps_first_size", keeps_first_size),
    by("changes_every_third_time", changes_every_third_time),
    by("keeps_scalars", keeps_scalars),
    {{.name = "adds_to_a_total",
      .idea = idea,
      .launch = launch_adds_to_a_total,
      .needs = {.m_most = 16, .n_most = 16},
      .tile = tile}},
    by("starts_no_blocks", empty_grid),
    by("takes_whole_tiles_unsaid", takes_whole_tiles_unsaid),
    {{.name = "rows_beyond_shared_memory",
      .idea = idea,
      .launch = launch_rows_in_shared,
      .tile = square}},
    by("block_as_wide_as_c", block_as_wide_as_c),
    by("first_error_forgotten", first_error_forgotten),
};

}  // namespace
}  // namespace assay::faulty
