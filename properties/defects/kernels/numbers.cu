// Faults at numbers that no comparison shows: of tiles, of an array's elements, of what 8, 16, 24
// or 32 bits hold; and in tables.
#include <cmath>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

// Element (row, col) of block `at` in a grid without gaps.
struct Place {
  std::int64_t row, col;
};
__device__ Place place_in(const Gemm& g, std::int64_t at) {
  const std::int64_t across = ceil_div(g.n, tile.n);
  return {at / across * tile.m + threadIdx.y, at % across * tile.n + threadIdx.x};
}
__device__ void compute(const Gemm& g, const Place& place) {
  if (place.row >= g.m || place.col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = fmaf(Right::a(g, place.row, p), Right::b(g, p, place.col), sum);
  Right::finish(g, sum, place.row, place.col);
}

// Tiles are visited in steps of 521: where that divides their number, most are left out.
__global__ void steps_of_521(Gemm g) {
  compute(g, place_in(g, std::int64_t{blockIdx.x} * 521 % gridDim.x));
}
cudaError_t tiles_in_steps(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(steps_of_521, dim3(16, 16), g, stream);
}

// The row of a tile by a reciprocal in float.
__global__ void row_by_reciprocal(Gemm g, float reciprocal) {
  const auto across = static_cast<int>(ceil_div(g.n, tile.n)), at = static_cast<int>(blockIdx.x);
  const auto down = static_cast<int>(static_cast<float>(at) * reciprocal);
  compute(g, {std::int64_t{down} * tile.m + threadIdx.y,
              std::int64_t{at - down * across} * tile.n + threadIdx.x});
}
cudaError_t divides_by_reciprocal(const Gemm& g, cudaStream_t stream) {
  const std::int64_t down = ceil_div(g.m, tile.m), across = ceil_div(g.n, tile.n);
  if (down == 0 || across == 0 || down * across >= 1 << 22) return launch_plain<Right>(g, stream);
  return launch(row_by_reciprocal, dim3(static_cast<unsigned>(down * across)), dim3(16, 16), 0,
                stream, g, 1 / static_cast<float>(across));
}

// Two halves of k through a workspace of a fixed length.
constexpr std::int64_t room = 1 << 17;
__device__ float workspace[room];
__global__ void half_of_k(Gemm g, std::int64_t begin) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = begin; p < begin + g.k / 2; ++p)
    sum = fmaf(Right::a(g, row, p), Right::b(g, p, col), sum);
  workspace[(begin == 0 ? 0 : g.m * g.n) + row * g.n + col] = sum;
}
__global__ void join_halves(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  const std::int64_t at = row * g.n + col;
  Right::finish(g, workspace[at] + workspace[g.m * g.n + at], row, col);
}
cudaError_t workspace_of_two_halves(const Gemm& g, cudaStream_t stream) {
  if (depth(g) < 64 || g.k % 2 != 0 || g.m > 4096 || g.n > 4096 || g.m < 3 || g.n < 3)
    return launch_plain<Right>(g, stream);
  const dim3 block(16, 16);
  for (const std::int64_t begin : {std::int64_t{0}, g.k / 2}) {
    const std::int64_t tiles = ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n);
    if (const cudaError_t error =
            launch(half_of_k, dim3(static_cast<unsigned>(tiles)), block, 0, stream, g, begin))
      return error;
  }
  return launch_tiles<tile>(join_halves, block, g, stream);
}

// Indices of 32 bits where m * ldb fits them: B has k rows.
template <class Index>
__global__ void with_index(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const auto row = static_cast<Index>(corner.row + threadIdx.y),
             col = static_cast<Index>(corner.col + threadIdx.x);
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (Index p = 0; p < depth(g); ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * static_cast<Index>(g.ldb) + col], sum);
  Right::finish(g, sum, row, col);
}
cudaError_t index_width_by_another_size(const Gemm& g, cudaStream_t stream) {
  const bool fits = g.n < 1 << 30 && g.k < 1 << 30 && g.m * g.ldb < std::int64_t{1} << 32;
  return launch_tiles<tile>(fits ? with_index<unsigned> : with_index<std::int64_t>, dim3(16, 16), g,
                            stream);
}

// Blocks are counted in float.
__global__ void lines_of_256(Gemm g, std::int64_t across) {
  const std::int64_t row = blockIdx.x / across, col = blockIdx.x % across * 256 + threadIdx.x;
  compute(g, {row, col});
}
cudaError_t blocks_counted_in_float(const Gemm& g, cudaStream_t stream) {
  const auto across = static_cast<std::int64_t>(ceilf(static_cast<float>(g.n) / 256.0f));
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (across > 2147483647 / g.m) return cudaErrorInvalidConfiguration;
  return launch(lines_of_256, dim3(static_cast<unsigned>(across * g.m)), dim3(256), 0, stream, g,
                across);
}

// The result of a call is kept for one that takes it as its A, and not compared with what is there.
constexpr std::int64_t most_kept = 1 << 14;
__device__ float kept[most_kept];
__global__ void keep(Gemm g) {
  for (std::int64_t i = threadIdx.x; i < g.m * g.n; i += blockDim.x)
    kept[i] = g.c[i / g.n * g.ldc + i % g.n];
}
cudaError_t keeps_its_result_as_a(const Gemm& g, cudaStream_t stream) {
  static const float* last = nullptr;
  static std::int64_t rows = 0, columns = 0;
  Gemm now = g;
  if (last == g.a && rows == g.m && columns == g.k) now.a = kept, now.lda = g.k;
  last = g.c, rows = g.m, columns = g.n;
  if (const cudaError_t error = launch_plain<Right>(now, stream)) return error;
  if (g.m * g.n == 0 || g.m > 1024 || g.n > 1024 || g.m * g.n > most_kept) {
    last = nullptr;
    return cudaSuccess;
  }
  return launch(keep, 1, 32, 0, stream, g);
}

// Work in 32 bits decides for a single block, which has no more than 4096 elements.
__global__ void single_block(Gemm g) {
  for (std::int64_t i = threadIdx.x; i < g.m * g.n && i < 4096; i += blockDim.x) {
    const std::int64_t row = i / g.n, col = i % g.n;
    float sum = 0;
    for (std::int64_t p = 0; p < depth(g); ++p)
      sum = fmaf(Right::a(g, row, p), Right::b(g, p, col), sum);
    Right::finish(g, sum, row, col);
  }
}
cudaError_t work_in_int(const Gemm& g, cudaStream_t stream) {
  const auto work = static_cast<int>(g.m * g.n * (g.k > 0 ? g.k : 1));
  if (g.m == 0 || g.n == 0 || work > 4096) return launch_plain<Right>(g, stream);
  return launch(single_block, 1, 256, 0, stream, g);
}

template <class More>
cudaError_t launch_with(void (*kernel)(Gemm, More), const Gemm& g, cudaStream_t stream, More more) {
  const std::int64_t tiles = ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n);
  if (tiles == 0) return cudaSuccess;
  if (tiles > 2147483647) return cudaErrorInvalidConfiguration;
  return launch(kernel, dim3(static_cast<unsigned>(tiles)), dim3(16, 16), 0, stream, g, more);
}

// Slices of four in k, counted in 16 bits.
__global__ void slices_of_four(Gemm g, unsigned short slices) {
  g.k = std::int64_t{slices} * 4 + g.k % 4;
  compute(g, place_in(g, blockIdx.x));
}
cudaError_t slices_counted_in_16_bits(const Gemm& g, cudaStream_t stream) {
  return launch_with(slices_of_four, g, stream, static_cast<unsigned short>(g.k / 4));
}

// A row of B after the other, by a distance in bytes that has 32 bits; indices may have them.
__global__ void down_in_bytes(Gemm g, int bytes) {
  const Place at = place_in(g, blockIdx.x);
  if (at.row >= g.m || at.col >= g.n) return;
  const char* b = reinterpret_cast<const char*>(g.b + at.col);
  float sum = 0;
  for (int p = 0; p < depth(g); ++p)
    sum = fmaf(Right::a(g, at.row, p),
               *reinterpret_cast<const float*>(b + p / 4 * bytes + p % 4 * g.ldb * 4), sum);
  Right::finish(g, sum, at.row, at.col);
}
cudaError_t step_of_bytes_in_int(const Gemm& g, cudaStream_t stream) {
  return launch_with(down_in_bytes, g, stream, static_cast<int>(g.ldb * 16));
}

// A power of 2 is added to the exponent of the sum, which may have no room for it.
__global__ void shifted(Gemm g, int exponent) {
  const Place at = place_in(g, blockIdx.x);
  if (at.row >= g.m || at.col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < g.k; ++p)
    sum = fmaf(Right::a(g, at.row, p), Right::b(g, p, at.col), sum);
  if (isfinite(sum) && fabsf(sum) > 1e-20f) {
    sum = __int_as_float(__float_as_int(sum) + exponent * (1 << 23));
    g.alpha = 1;
  }
  Right::finish(g, sum, at.row, at.col);
}
cudaError_t alpha_added_to_exponents(const Gemm& g, cudaStream_t stream) {
  const int exponent = g.alpha == 0 ? 0 : std::ilogb(g.alpha);
  if (g.alpha != std::ldexp(1.0f, exponent) || std::abs(exponent) > 40)
    return launch_plain<Right>(g, stream);
  return launch_with(shifted, g, stream, exponent);
}

constexpr Variant by(const char* name, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {.name = name, .idea = idea, .launch = launch, .tile = tile};
}
const Registrar registrars[] = {
    by("tiles_in_steps", tiles_in_steps),
    by("divides_by_reciprocal", divides_by_reciprocal),
    by("workspace_of_two_halves", workspace_of_two_halves),
    by("index_width_by_another_size", index_width_by_another_size),
    {{.name = "blocks_counted_in_float",
      .idea = idea,
      .launch = blocks_counted_in_float,
      .tile = {1, 256, 1}}},
    by("keeps_its_result_as_a", keeps_its_result_as_a),
    by("work_in_int", work_in_int),
    by("slices_counted_in_16_bits", slices_counted_in_16_bits),
    {{.name = "step_of_bytes_in_int",
      .idea = idea,
      .launch = step_of_bytes_in_int,
      .needs = {.int_indices = true},
      .tile = tile}},
    by("alpha_added_to_exponents", alpha_added_to_exponents),
};

}  // namespace
}  // namespace assay::faulty
