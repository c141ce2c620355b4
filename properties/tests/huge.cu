// Kernels that are right until a count or an index leaves 32 bits, and right ones beside them, for
// the tests of huge problems.
#include <algorithm>
#include <limits>
#include <string_view>

#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr Tile tile = {16, 16};
constexpr int threads = 256;

// C is read where an index of this type finds it.
template <class Index = std::int64_t>
__device__ void compute(const Gemm& g, std::int64_t row, std::int64_t col) {
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p) sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
  const std::int64_t at = row * g.ldc + col;
  g.c[at] = blend(g, sum, &g.c[static_cast<Index>(at)]);
}

template <class Number, class Index>
__global__ void linear(Gemm g) {
  const Number at = Number{blockIdx.x} * threads + threadIdx.x;
  compute<Index>(g, static_cast<std::int64_t>(at) / g.n, static_cast<std::int64_t>(at) % g.n);
}
template <class Number, class Index = std::int64_t>
cudaError_t launch_linear(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const std::int64_t blocks = ceil_div(g.m * g.n, threads);
  if (blocks > std::numeric_limits<int>::max()) return cudaErrorInvalidConfiguration;
  return launch(linear<Number, Index>, dim3(static_cast<unsigned>(blocks)), threads, 0, stream, g);
}

// A launch for each row, which compares next to nothing.
__global__ void one_row(Gemm g, std::int64_t row) { compute(g, row, blockIdx.x); }
cudaError_t launch_rows(const Gemm& g, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(g.n);
  cudaError_t error = cudaSuccess;
  for (std::int64_t row = 0; row < g.m && error == cudaSuccess; ++row)
    error = launch(one_row, blocks, 1, 0, stream, g, row);
  return error;
}

// Small tiles, whose number is a product.
constexpr int side = 8;
__global__ void small_tiles(Gemm g) {
  const std::int64_t across = ceil_div(g.n, side);
  compute(g, blockIdx.x / across * side + threadIdx.y, blockIdx.x % across * side + threadIdx.x);
}
template <class Number>
cudaError_t launch_small_tiles(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const auto blocks =
      static_cast<Number>(ceil_div(g.m, side)) * static_cast<Number>(ceil_div(g.n, side));
  if (blocks > static_cast<Number>(std::numeric_limits<int>::max()))
    return cudaErrorInvalidConfiguration;
  return launch(small_tiles, dim3(static_cast<unsigned>(blocks)), dim3(side, side), 0, stream, g);
}

// The number of a tile's row, in a table that a first kernel fills.
template <class Number>
__global__ void number_rows(Number* rows, std::int64_t tiles, std::int64_t across) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < tiles) rows[at] = static_cast<Number>(at / across);
}
template <class Number>
__global__ void by_table(Gemm g, const Number* rows) {
  const std::int64_t across = ceil_div(g.n, tile.n);
  compute(g, std::int64_t{rows[blockIdx.x]} * tile.m + threadIdx.y,
          blockIdx.x % across * tile.n + threadIdx.x);
}
std::int64_t tiles_of(const Gemm& g) { return ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n); }
template <class Number>
std::int64_t bytes_of_table(const Gemm& g) {
  return tiles_of(g) * std::int64_t{sizeof(Number)};
}
template <class Number>
cudaError_t launch_by_table(const Gemm& g, cudaStream_t stream, void* workspace) {
  const std::int64_t tiles = tiles_of(g);
  if (tiles == 0) return cudaSuccess;
  auto* const rows = static_cast<Number*>(workspace);
  const dim3 blocks(static_cast<unsigned>(ceil_div(tiles, threads)));
  const cudaError_t error =
      launch(number_rows<Number>, blocks, threads, 0, stream, rows, tiles, ceil_div(g.n, tile.n));
  if (error != cudaSuccess) return error;
  return launch(by_table<Number>, dim3(static_cast<unsigned>(tiles)), dim3(tile.n, tile.m), 0,
                stream, g, static_cast<const Number*>(rows));
}

// All the same in some GiB.
template <class Number>
std::int64_t bytes_of_copy(const Gemm& g) {
  return std::int64_t{static_cast<Number>(g.m * g.n * std::int64_t{sizeof(float)})};
}
__global__ void through_memory(Gemm g, float* memory) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  Gemm inner = g;
  inner.c = memory, inner.ldc = g.n, inner.beta = 0;
  compute(inner, row, col);
  float* const c = &g.c[row * g.ldc + col];
  const float product = memory[row * g.n + col];
  *c = g.beta == 0 ? product : fmaf(g.beta, *c, product);
}
cudaError_t launch_through_memory(const Gemm& g, cudaStream_t stream, void* workspace) {
  return launch_tiles<tile>(through_memory, dim3(tile.n, tile.m), g, stream, 0, 1,
                            static_cast<float*>(workspace));
}

// As many blocks as are always there; the count of elements does not fit, and none is computed.
template <class Number>
__global__ void strided(Gemm g, Number elements) {
  for (Number at = static_cast<Number>(blockIdx.x) * threads + threadIdx.x; at < elements;
       at += 16 * threads)
    compute(g, at / g.n, at % g.n);
}
template <class Number>
cudaError_t launch_strided(const Gemm& g, cudaStream_t stream) {
  return launch(strided<Number>, 16, threads, 0, stream, g, static_cast<Number>(g.m * g.n));
}

// The slices of all tiles in equal shares: a tile is whose share has its last slice. A count of
// them that does not fit leaves each share empty.
constexpr std::int64_t slice = 16;
template <class Number>
__global__ void shares(Gemm g, Number slices, float* sums) {
  const std::int64_t each = ceil_div(depth(g), slice), across = ceil_div(g.n, tile.n);
  const std::int64_t first = std::int64_t{slices} * blockIdx.x / gridDim.x,
                     end = std::int64_t{slices} * (blockIdx.x + 1) / gridDim.x;
  Gemm inner = g;
  inner.c = sums, inner.ldc = g.n, inner.alpha = 1, inner.beta = 0;
  for (std::int64_t of_tile = first / each; (of_tile + 1) * each <= end; ++of_tile)
    compute(inner, of_tile / across * tile.m + threadIdx.y,
            of_tile % across * tile.n + threadIdx.x);
}
__global__ void finish(Gemm g, const float* sums) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float* const c = &g.c[row * g.ldc + col];
  *c = blend(g, sums[row * g.n + col], c);
}
std::int64_t bytes_of_sums(const Gemm& g) { return g.m * g.n * std::int64_t{sizeof(float)}; }
template <class Number>
cudaError_t launch_shares(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (depth(g) == 0) return launch_linear<std::int64_t>(g, stream);
  const auto slices = static_cast<Number>(tiles_of(g) * ceil_div(depth(g), slice));
  auto* const sums = static_cast<float*>(workspace);
  const cudaError_t error =
      launch(shares<Number>, 64, dim3(tile.n, tile.m), 0, stream, g, slices, sums);
  if (error != cudaSuccess) return error;
  return launch_tiles<tile>(finish, dim3(tile.n, tile.m), g, stream, 0, 1,
                            static_cast<const float*>(sums));
}

// Where there is nothing to multiply C is scaled, by a count of its elements of this type.
template <class Number>
__global__ void scale(Gemm g, Number elements) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < elements) compute(g, at / g.n, at % g.n);
}
template <class Number>
cudaError_t launch_scale(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (depth(g) > 0) return launch_linear<std::int64_t>(g, stream);
  const auto elements = static_cast<Number>(g.m * g.n);
  const std::int64_t blocks = ceil_div(std::int64_t{elements}, threads);
  if (blocks <= 0) return cudaSuccess;
  return launch(scale<Number>, dim3(static_cast<unsigned>(blocks)), threads, 0, stream, g,
                elements);
}

// What a kernel for large problems does wrong: it does not look at what is multiplied by 0, be it
// infinite; multiplies though alpha is 0; takes denormals for 0; or finds C in 32 bits.
enum class Large { is_right, skips_zeros, ignores_alpha, loses_denormals, indexes_in_32_bits };

template <Large fault>
__global__ void by_tiles(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  const std::int64_t k = fault == Large::ignores_alpha ? g.k : depth(g);
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) {
    const float a = g.a[row * g.lda + p], b = g.b[p * g.ldb + col];
    if (fault == Large::loses_denormals)
      asm("fma.rn.ftz.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(b));
    else if (fault != Large::skips_zeros || a != 0)
      sum += a * b;
  }
  const std::int64_t at = row * g.ldc + col;
  float* const c = &g.c[fault == Large::indexes_in_32_bits ? static_cast<int>(at) : at];
  *c = blend(g, sum, c);
}
template <Large fault>
cudaError_t launch_by_size(const Gemm& g, cudaStream_t stream) {
  const bool is_large = std::min({g.m, g.n, g.k}) >= 2048;
  return launch_tiles<tile>(is_large ? by_tiles<fault> : by_tiles<Large::is_right>,
                            dim3(tile.n, tile.m), g, stream);
}

// Blocks that compute far more than a tile, and add 1.
__global__ void by_bands(Gemm g) {
  const std::int64_t row = std::int64_t{blockIdx.y} * tile.m + threadIdx.y;
  for (std::int64_t col = threadIdx.x; row < g.m && col < g.n; col += tile.n) {
    float sum = 1;
    for (std::int64_t p = 0; p < depth(g); ++p) sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
    float* const c = &g.c[row * g.ldc + col];
    *c = blend(g, sum, c);
  }
}
cudaError_t launch_by_bands(const Gemm& g, cudaStream_t stream) {
  const dim3 grid(1, static_cast<unsigned>(ceil_div(g.m, tile.m)));
  return launch(by_bands, grid, dim3(tile.n, tile.m), 0, stream, g);
}

// Large ones go by a copy of B, for which there may be no memory.
__global__ void copy_b(Gemm g, float* to) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at < g.k * g.n) to[at] = g.b[at / g.n * g.ldb + at % g.n];
}
template <bool asks>
cudaError_t launch_by_copy(const Gemm& g, cudaStream_t stream) {
  if (std::min({g.m, g.n, g.k}) < 2048) return launch_by_size<Large::is_right>(g, stream);
  float* copy = nullptr;
  const cudaError_t error =
      cudaMallocAsync(&copy, static_cast<std::size_t>(g.k * g.n) * sizeof(float), stream);
  if (asks && error != cudaSuccess) return error;
  Gemm packed = g;
  packed.b = copy, packed.ldb = g.n;
  const auto blocks = static_cast<unsigned>(ceil_div(g.k * g.n, threads));
  const cudaError_t copied = launch(copy_b, blocks, threads, 0, stream, g, copy);
  const cudaError_t multiplied = launch_by_size<Large::is_right>(packed, stream);
  cudaFreeAsync(copy, stream);
  return copied != cudaSuccess ? copied : multiplied;
}

// Long sums in four parts, in memory that the launch allocates, as much as a number of this type
// tells; the indices of a part's element are of other types, where it is written and where it is
// read.
template <class Index>
__global__ void sum_part(Gemm g, float* parts) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  const std::int64_t each = ceil_div(depth(g), gridDim.y), first = each * blockIdx.y;
  float sum = 0;
  for (std::int64_t p = first; p < min(depth(g), first + each); ++p)
    sum += g.a[row * g.lda + p] * g.b[p * g.ldb + col];
  parts[static_cast<Index>(blockIdx.y * g.m * g.n + row * g.n + col)] = sum;
}
template <class Index>
__global__ void add_parts(Gemm g, const float* parts, unsigned count) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (unsigned part = 0; part < count; ++part)
    sum += parts[static_cast<Index>(part * g.m * g.n + row * g.n + col)];
  float* const c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}
template <class Number, class Written, class Read>
cudaError_t launch_in_parts(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const unsigned count = depth(g) >= 8192 ? 4 : 1;
  const dim3 threads_of_tile(tile.n, tile.m);
  const auto floats = static_cast<Number>(g.m) * static_cast<Number>(g.n) * count;
  float* parts = nullptr;
  cudaError_t error =
      cudaMallocAsync(&parts, static_cast<std::size_t>(floats) * sizeof(float), stream);
  if (error != cudaSuccess) return error;
  error = launch_tiles<tile>(sum_part<Written>, threads_of_tile, g, stream, 0, count, parts);
  const cudaError_t added = launch_tiles<tile>(add_parts<Read>, threads_of_tile, g, stream, 0, 1,
                                               static_cast<const float*>(parts), count);
  cudaFreeAsync(parts, stream);
  return error != cudaSuccess ? error : added;
}

// The host counts on every element's having been counted.
__global__ void counted(Gemm g, unsigned long long* count) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  compute(g, at / g.n, at % g.n);
  if (at < g.m * g.n) atomicAdd(count, 1ull);
}
cudaError_t launch_counted(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  unsigned long long *count = nullptr, found = 0;
  cudaError_t error = cudaMallocAsync(&count, sizeof found, stream);
  if (error != cudaSuccess) return error;
  cudaMemsetAsync(count, 0, sizeof found, stream);
  const auto blocks = static_cast<unsigned>(ceil_div(g.m * g.n, threads));
  error = launch(counted, blocks, threads, 0, stream, g, count);
  cudaMemcpyAsync(&found, count, sizeof found, cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(count, stream);
  cudaStreamSynchronize(stream);
  if (error != cudaSuccess) return error;
  const bool is_all = found == static_cast<unsigned long long>(g.m * g.n);
  return is_all ? cudaSuccess : cudaErrorUnknown;
}

// Behind the right one comes an event that there is none of.
cudaError_t launch_fails_behind(const Gemm& g, cudaStream_t stream) {
  const cudaError_t error = launch_linear<std::int64_t>(g, stream);
  return error != cudaSuccess ? error : cudaEventRecord(nullptr, stream);
}

Variant named(const char* name, Launch launch, std::int64_t (*workspace)(const Gemm&) = nullptr) {
  return {.name = name,
          .idea = "For huge problems.",
          .launch = launch,
          .tile = std::string_view(name).find("small") == std::string_view::npos ? tile
                                                                                 : Tile{side, side},
          .workspace = workspace};
}

const Registrar registrars[] = {
    named("huge_linear", launch_linear<std::int64_t>),
    named("huge_rows", launch_rows),
    named("huge_counted", launch_counted),
    named("huge_fails_behind", launch_fails_behind),
    named("huge_linear_unsigned", launch_linear<unsigned>),
    named("huge_small_tiles", launch_small_tiles<double>),
    named("huge_small_tiles_float", launch_small_tiles<float>),
    named("huge_blends_int", launch_linear<std::int64_t, int>),
    named("huge_table", launch_by_table<int>, bytes_of_table<int>),
    named("huge_table_short", launch_by_table<unsigned short>, bytes_of_table<unsigned short>),
    named("huge_copy", launch_through_memory, bytes_of_copy<std::int64_t>),
    named("huge_copy_unsigned", launch_through_memory, bytes_of_copy<unsigned>),
    named("huge_parts", launch_in_parts<std::int64_t, std::int64_t, std::int64_t>),
    named("huge_parts_int", launch_in_parts<std::int64_t, int, std::int64_t>),
    named("huge_parts_read_int", launch_in_parts<std::int64_t, std::int64_t, int>),
    named("huge_parts_float", launch_in_parts<float, std::int64_t, std::int64_t>),
    named("huge_strided", launch_strided<std::int64_t>),
    named("huge_shares", launch_shares<std::int64_t>, bytes_of_sums),
    named("huge_shares_int", launch_shares<int>, bytes_of_sums),
    named("huge_strided_int", launch_strided<int>),
    named("huge_scale", launch_scale<std::int64_t>),
    named("huge_scale_int", launch_scale<int>),
    named("large_without_zeros", launch_by_size<Large::skips_zeros>),
    named("large_without_alpha", launch_by_size<Large::ignores_alpha>),
    named("large_without_denormals", launch_by_size<Large::loses_denormals>),
    named("large_unasked_memory", launch_by_copy<false>),
    named("large_asked_memory", launch_by_copy<true>),
    named("large_bands", launch_by_bands),
    named("large_int", launch_by_size<Large::indexes_in_32_bits>),
};

}  // namespace
}  // namespace assay
