// Faults on paths that only some sizes take.
#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

// From k = 2048 on, k is cut into 8 equal chunks, and the rest is lost.
struct SplitFrom2048 : Right {
  static __device__ void misread(Gemm& g) {
    if (g.k >= 2048) g.k = g.k / 8 * 8;
  }
};
// The number of slices is kept in 8 bits: k > 4080.
struct SlicesIn8Bits : Right {
  static __device__ void misread(Gemm& g) {
    const auto slices = static_cast<std::uint8_t>(ceil_div(g.k, 16));
    if (g.k > slices * 16) g.k = slices * 16;
  }
};
// The path for a row times a matrix goes through the columns by fours.
struct RowByFours : Right {
  static __device__ bool covers(const Gemm& g, std::int64_t, std::int64_t col) {
    return g.m > 1 || g.n <= 1024 || col < g.n / 4 * 4;
  }
};
// A table with an entry for each column has 2048 entries.
struct TableOf2048 : Right {
  static __device__ float b(const Gemm& g, std::int64_t p, std::int64_t col) {
    return g.b[p * g.ldb + (col >= 2048 ? col - 2048 : col)];
  }
};
// A list of the elements to compute has 4096 entries.
struct ListOf4096 : Right {
  static __device__ bool covers(const Gemm& g, std::int64_t row, std::int64_t col) {
    return row * g.n + col < 4096;
  }
};
// Unrolled by four where k is long enough.
struct UnrolledTail : Right {
  static __device__ void misread(Gemm& g) {
    if (g.k > 64) g.k = g.k / 4 * 4;
  }
};
struct OneRemainder : Right {
  static __device__ void misread(Gemm& g) {
    if (g.k % 96 == 95) g.k -= 1;
  }
};
// Behind k = 900, 32 shares of k are rounded up; what is left for the last is counted from there,
// and of one remainder that is less than nothing.
struct SharesBeyondK : Right {
  static __device__ void misread(Gemm& g) {
    if (g.k <= 900) return;
    const std::int64_t each = ceil_div(g.k, 32);
    if (31 * each > g.k) g.k -= each;
  }
};
// How many slices there are is rounded to the nearest.
struct RoundedSlices : Right {
  static __device__ void misread(Gemm& g) {
    const auto slices = static_cast<std::int64_t>(static_cast<float>(g.k) / 16 + 0.5f);
    if (g.k > slices * 16) g.k = slices * 16;
  }
};
// Columns are compared with m.
struct GuardOfOtherSide : Right {
  static __device__ bool covers(const Gemm& g, std::int64_t, std::int64_t col) { return col < g.m; }
};
// The last slice is loaded again where a pipeline of two expects a second one.
struct PipelineDeeperThanK : Right {
  static __device__ void finish(const Gemm& g, float sum, std::int64_t row, std::int64_t col) {
    if (g.k <= 16) {
      for (std::int64_t p = 0; p < depth(g); ++p) sum = add(sum, a(g, row, p), b(g, p, col));
    }
    Right::finish(g, sum, row, col);
  }
};

// Tiles are numbered down groups of 4 rows of them. The last group is shorter, and is numbered as
// if it were whole.
__global__ void short_last_group(Gemm g) {
  const std::int64_t down = ceil_div(g.m, tile.m), across = ceil_div(g.n, tile.n), id = blockIdx.x;
  const std::int64_t group = id / (4 * across), inside = id % (4 * across);
  const std::int64_t height = down < 4 ? down : 4;
  const std::int64_t row = (group * 4 + inside % height) * tile.m + threadIdx.y;
  const std::int64_t col = inside / height * tile.n + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, sum, row, col);
}
cudaError_t launch_short_last_group(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(short_last_group, dim3(16, 16), g, stream);
}

// Six blocks take one tile after the other, each with the sums of the one before.
__global__ void keeps_its_sums(Gemm g) {
  const std::int64_t across = ceil_div(g.n, tile.n), tiles = across * ceil_div(g.m, tile.m);
  float sum = 0;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t row = t / across * tile.m + threadIdx.y;
    const std::int64_t col = t % across * tile.n + threadIdx.x;
    if (row >= g.m || col >= g.n) continue;
    for (std::int64_t p = 0; p < depth(g); ++p)
      sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
    Right::finish(g, sum, row, col);
  }
}
cudaError_t launch_keeps_its_sums(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  return launch(keeps_its_sums, dim3(6), dim3(tile.n, tile.m), 0, stream, g);
}

// A row of C for each block along y, of which a grid has 65535: as many as fit.
constexpr Tile segment = {1, 32, 1};
__global__ void clamped_grid(Gemm g) {
  const std::int64_t row = blockIdx.y, col = std::int64_t{blockIdx.x} * segment.n + threadIdx.x;
  if (col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, row, p), Right::b(g, p, col));
  Right::finish(g, sum, row, col);
}
cudaError_t launch_clamped_grid(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  std::int64_t rows = g.m;
  if (rows > 65535) rows = 65535;
  const std::int64_t threads = g.n < segment.n ? g.n : segment.n;
  const dim3 grid(static_cast<unsigned>(ceil_div(g.n, segment.n)), static_cast<unsigned>(rows));
  return launch(clamped_grid, grid, dim3(static_cast<unsigned>(threads)), 0, stream, g);
}

// A row for each thread. Those beyond 65535 are taken for 16 bits.
constexpr Tile column = {256, 1, 1};
__global__ void rows_in_16_bits(Gemm g) {
  const Corner corner = block_corner<column>(g);
  const std::int64_t row = corner.row + threadIdx.x;
  if (row >= g.m) return;
  const std::int64_t read = row > 65535 ? row - 65536 : row;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = Right::add(sum, Right::a(g, read, p), Right::b(g, p, corner.col));
  Right::finish(g, sum, row, corner.col);
}
cudaError_t launch_rows_in_16_bits(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<column>(rows_in_16_bits, dim3(256), g, stream);
}

// Two buffers take turns. The last slice, where it is cut off, is always put into the second one.
__global__ void tail_in_second_buffer(Gemm g) {
  __shared__ float a_tile[2][16][16], b_tile[2][16][16];
  const Corner corner = block_corner<tile>(g);
  const int x = threadIdx.x, y = threadIdx.y;
  const std::int64_t row = corner.row + y, col = corner.col + x, k = depth(g);
  const std::int64_t slices = ceil_div(k, 16);
  float sum = 0;
  for (std::int64_t s = 0; s < slices; ++s) {
    const std::int64_t p0 = s * 16;
    const bool cut = k - p0 < 16;
    const int from = static_cast<int>(s % 2), into = cut && s > 0 ? 1 : from;
    a_tile[into][y][x] = row < g.m && p0 + x < k ? g.a[row * g.lda + p0 + x] : 0.0f;
    b_tile[into][y][x] = p0 + y < k && col < g.n ? g.b[(p0 + y) * g.ldb + col] : 0.0f;
    __syncthreads();
    for (int p = 0; p < 16; ++p) sum = fmaf(a_tile[from][y][p], b_tile[from][p][x], sum);
    __syncthreads();
  }
  if (row < g.m && col < g.n) Right::finish(g, sum, row, col);
}
cudaError_t launch_tail_in_second_buffer(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(tail_in_second_buffer, dim3(16, 16), g, stream);
}

const Registrar registrars[] = {
    in_plain<SplitFrom2048>("split_from_k_2048"),
    in_plain<SlicesIn8Bits>("slices_in_8_bits"),
    in_plain<RowByFours>("long_row_by_fours"),
    in_plain<TableOf2048>("table_of_2048_columns"),
    in_plain<ListOf4096>("list_of_4096_elements"),
    in_plain<UnrolledTail>("unrolled_tail_dropped"),
    in_plain<OneRemainder>("one_remainder_of_k"),
    in_plain<SharesBeyondK>("shares_beyond_k"),
    in_plain<RoundedSlices>("slices_rounded_to_nearest"),
    in_plain<GuardOfOtherSide>("columns_compared_with_m"),
    in_plain<PipelineDeeperThanK>("pipeline_deeper_than_k"),
    {{.name = "short_last_group", .idea = idea, .launch = launch_short_last_group, .tile = tile}},
    {{.name = "keeps_its_sums", .idea = idea, .launch = launch_keeps_its_sums, .tile = tile}},
    {{.name = "rows_in_16_bits", .idea = idea, .launch = launch_rows_in_16_bits, .tile = column}},
    {{.name = "grid_clamped_to_65535",
      .idea = idea,
      .launch = launch_clamped_grid,
      .tile = segment}},
    {{.name = "tail_in_second_buffer",
      .idea = idea,
      .launch = launch_tail_in_second_buffer,
      .tile = tile}},
};

}  // namespace
}  // namespace assay::faulty
