// Launch functions for the tests of what is tried of them without running a kernel.
#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "kernels/gemm.h"

namespace assay {
namespace {

constexpr Tile tile = {16, 16, 16};

__global__ void plain(Gemm g) {
  const Corner corner = block_corner<tile>(g);
  const std::int64_t row = corner.row + threadIdx.y, col = corner.col + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}
cudaError_t launch_right(const Gemm& g, cudaStream_t stream) {
  return launch_tiles<tile>(plain, dim3(tile.n, tile.m), g, stream);
}
cudaError_t launch_all_but(int products, Gemm g, cudaStream_t stream) {
  g.k = std::max<std::int64_t>(0, g.k - products);
  return launch_right(g, stream);
}

cudaError_t launch_by_hash(const Gemm& g, cudaStream_t stream) {
  return launch_all_but((g.m * 40507 + g.n * 9967 + g.k * 607) % 9973 == 11, g, stream);
}
cudaError_t launch_by_addresses(const Gemm& g, cudaStream_t stream) {
  const auto line = [](const float* p) { return reinterpret_cast<std::uintptr_t>(p) >> 4 & 15; };
  return launch_all_but(line(g.a) == 9 && line(g.c) == 14, g, stream);
}
cudaError_t launch_after_exchange(const Gemm& g, cudaStream_t stream) {
  static std::int64_t last_m = 0, last_k = 0;
  const bool is_exchanged = g.m == last_k && g.k == last_m && g.m != g.k;
  last_m = g.m, last_k = g.k;
  return launch_all_but(is_exchanged, g, stream);
}
// Behind a test of multiples: wrong for some of those alone.
cudaError_t launch_by_multiples(const Gemm& g, cudaStream_t stream) {
  const bool has_whole_tiles = g.m % 128 == 0 && g.n % 128 == 0 && g.k % 8 == 0;
  const bool is_large = g.m * g.n >= 512 * 512;
  return launch_all_but(is_large && has_whole_tiles && g.k % 16 == 8, g, stream);
}
cudaError_t launch_enormous(const Gemm& g, cudaStream_t stream) {
  if (g.m * g.n > 4'000'000'000'000) return cudaErrorInvalidConfiguration;
  if (g.m * g.n > 3'000'000'000) return launch_all_but(1, g, stream);
  return launch_right(g, stream);
}
// Plans are kept for as many elements: a grid, or an argument.
cudaError_t launch_by_plan(const Gemm& g, cudaStream_t stream) {
  static std::int64_t elements = -1;
  static dim3 grid;
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (elements != g.m * g.n) {
    elements = g.m * g.n;
    grid = dim3(static_cast<unsigned>(ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n)));
  }
  return launch(plain, grid, dim3(tile.n, tile.m), 0, stream, g);
}
__global__ void in_a_line(Gemm g, std::int64_t columns) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t row = i / columns, col = i % columns;
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (std::int64_t p = 0; p < depth(g); ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, sum, c);
}
cudaError_t launch_by_kept_constant(const Gemm& g, cudaStream_t stream) {
  static std::int64_t elements = -1, columns = 1;
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  if (elements != g.m * g.n) elements = g.m * g.n, columns = g.n;
  return launch(in_a_line, static_cast<unsigned>(ceil_div(elements, 256)), 256, 0, stream, g,
                columns);
}
cudaError_t launch_shares(const Gemm& g, cudaStream_t stream) {
  const std::int64_t shares = std::min<std::int64_t>(ceil_div(g.k, 512), 40);
  return launch_all_but(static_cast<int>(std::max<std::int64_t>(0, g.k - shares * 512)), g, stream);
}
__global__ void single(Gemm g) {
  for (std::int64_t i = threadIdx.x; i < std::min<std::int64_t>(g.m * g.n, 4096); i += blockDim.x) {
    float* c = &g.c[i / g.n * g.ldc + i % g.n];
    *c = blend(g, 0, c);
  }
}
cudaError_t launch_by_work_in_int(const Gemm& g, cudaStream_t stream) {
  const auto work = static_cast<int>(g.m * g.n * std::max<std::int64_t>(1, g.k));
  if (work == 0 || work > 4096) return launch_right(g, stream);
  return launch(single, 1, 256, 0, stream, g);
}
cudaError_t launch_if_finite(const Gemm& g, cudaStream_t stream) {
  if (g.m > 0 && g.k > 0 && !isfinite(*g.a)) return cudaErrorInvalidValue;
  return launch_right(g, stream);
}
cudaError_t launch_each_row(const Gemm& g, cudaStream_t stream) {
  for (std::int64_t row = 0; row < g.m; ++row) {
    Gemm one = g;
    one.m = 1, one.a += row * g.lda, one.c += row * g.ldc;
    if (const cudaError_t error = launch_right(one, stream)) return error;
  }
  return cudaSuccess;
}

// A way that only very many products lead to, of even sizes or of any.
template <int unit>
cudaError_t launch_large(const Gemm& g, cudaStream_t stream) {
  const bool is_large = depth(g) > 0 && g.m * g.n >= (std::int64_t{1} << 32) / g.k;
  return launch_all_but(is_large && g.m % unit == 0 && g.n % unit == 0, g, stream);
}

// A thread for each column, with a kernel for each number of rows.
constexpr int columns = 64;
template <int rows>
__global__ void of_rows(Gemm g) {
  const std::int64_t col = std::int64_t{blockIdx.x} * columns + threadIdx.x;
  if (col >= g.n) return;
  for (std::int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (std::int64_t p = 0; p < depth(g); ++p)
      sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
    float* c = &g.c[row * g.ldc + col];
    *c = blend(g, sum, c);
  }
}
cudaError_t launch_rows(void (*kernel)(Gemm), const Gemm& g, cudaStream_t stream) {
  return launch(kernel, dim3(static_cast<unsigned>(ceil_div(g.n, columns))), dim3(columns), 0,
                stream, g);
}
// Which stand in a table, one of them twice.
cudaError_t launch_by_table(const Gemm& g, cudaStream_t stream) {
  static constexpr void (*of_sizes[])(Gemm) = {of_rows<1>, of_rows<2>, of_rows<3>, of_rows<4>,
                                               of_rows<4>, of_rows<6>, of_rows<7>};
  if (g.m < 1 || g.m > 7 || g.n < 300 || depth(g) < 300) return launch_right(g, stream);
  return launch_rows(of_sizes[g.m - 1], g, stream);
}
cudaError_t launch_row(const Gemm& g, cudaStream_t stream) {
  return g.m == 1 && depth(g) >= 64 ? launch_rows(of_rows<1>, g, stream) : launch_right(g, stream);
}

// As many blocks as were planned for the first problem that has these sizes in 13 bits each.
cudaError_t launch_by_packed_sizes(const Gemm& g, cudaStream_t stream) {
  static std::map<std::int64_t, unsigned> plans;
  if (g.m * g.n * depth(g) < 1 << 20) return launch_right(g, stream);
  const std::int64_t blocks = ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n);
  const auto plan =
      plans.emplace(g.m + (g.n << 13) + (g.k << 26), static_cast<unsigned>(blocks)).first;
  return launch(plain, dim3(plan->second), dim3(tile.n, tile.m), 0, stream, g);
}

// Up to 16 parts of k of whole slices, of which the last may be empty.
__global__ void part_of_k(Gemm) {}
cudaError_t launch_parts(const Gemm& g, cudaStream_t stream) {
  const std::int64_t parts = std::min<std::int64_t>(16, depth(g) / 224);
  if (parts < 2 || g.m == 0 || g.n == 0) return launch_right(g, stream);
  return launch(part_of_k, dim3(1, static_cast<unsigned>(parts)), dim3(1), 0, stream, g);
}

unsigned tiles_of(const Gemm& g) {
  return static_cast<unsigned>(ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n));
}
cudaError_t launch_in_parts(unsigned parts, bool is_right, const Gemm& g, cudaStream_t stream) {
  if (parts > 1 && tiles_of(g) > 0)
    if (const cudaError_t error =
            launch(part_of_k, dim3(tiles_of(g), parts), dim3(1), 0, stream, g))
      return error;
  return launch_all_but(is_right ? 0 : 1, g, stream);
}
// A table of sizes, in units of 16, of which one is wrong.
cudaError_t launch_tuned(const Gemm& g, cudaStream_t stream) {
  struct Tuned {
    unsigned m, n, k, parts;
    std::uint64_t key() const { return std::uint64_t{m} << 40 | std::uint64_t{n} << 20 | k; }
  };
  static constexpr Tuned all[] = {{1, 8, 32, 8}, {7, 5, 20, 5}, {7, 5, 30, 4}, {28, 28, 9, 2}};
  const auto of = [](std::int64_t size) { return static_cast<unsigned>(size / 16 % (1 << 20)); };
  const Tuned wanted = {of(g.m), of(g.n), of(depth(g)), 0};
  const auto* const at =
      std::lower_bound(std::begin(all), std::end(all), wanted,
                       [](const Tuned& x, const Tuned& y) { return x.key() < y.key(); });
  if (at == std::end(all) || at->key() != wanted.key() || (g.m | g.n | g.k) % 16 != 0)
    return launch_right(g, stream);
  return launch_in_parts(at->parts, at->parts != 4, g, stream);
}
// A table of cells between powers of two, of which one has three parts.
constexpr std::array<unsigned char, 1 << 12> parts_by_cells = [] {
  std::array<unsigned char, 1 << 12> all = {};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = 1 << i % 3;
  all[5 << 8 | 9 << 4 | 10] = 3;
  return all;
}();
cudaError_t launch_by_cells(const Gemm& g, cudaStream_t stream) {
  const auto cell = [](std::int64_t size) {
    return std::bit_width(static_cast<std::uint64_t>(size)) % 16u;
  };
  const unsigned parts = parts_by_cells[cell(g.m) << 8 | cell(g.n) << 4 | cell(depth(g))];
  return launch_in_parts(parts, parts % 2 == 0 || parts == 1, g, stream);
}

// A block for each 16 rows where nothing is multiplied.
__global__ void scale(Gemm g) {
  const std::int64_t row = std::int64_t{blockIdx.y} * tile.m + threadIdx.y,
                     col = std::int64_t{blockIdx.x} * tile.n + threadIdx.x;
  if (row >= g.m || col >= g.n) return;
  float* c = &g.c[row * g.ldc + col];
  *c = blend(g, 0, c);
}
cudaError_t launch_scaling(const Gemm& g, cudaStream_t stream) {
  if (depth(g) > 0 || g.m == 0 || g.n == 0) return launch_right(g, stream);
  const dim3 grid(static_cast<unsigned>(ceil_div(g.n, tile.n)),
                  static_cast<unsigned>(ceil_div(g.m, tile.m)));
  return launch(scale, grid, dim3(tile.n, tile.m), 0, stream, g);
}

// A way that operands lead to which do not fit into a cache.
cudaError_t launch_beyond_cache(const Gemm& g, cudaStream_t stream) {
  return launch_all_but((g.m + g.n) * depth(g) > 300'000 && g.m > 2 * tile.m && g.n > tile.n, g,
                        stream);
}

// Of the last eight plans one is found again by its sizes and the lower half of each address.
cudaError_t launch_by_half_addresses(const Gemm& g, cudaStream_t stream) {
  static Gemm plans[8] = {};
  static int next = 0;
  const auto half = [](const float* p) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(p));
  };
  for (const Gemm& plan : plans) {
    if (g.m != plan.m || g.n != plan.n || g.k != plan.k || half(g.a) != half(plan.a) ||
        half(g.b) != half(plan.b) || half(g.c) != half(plan.c))
      continue;
    Gemm its = g;
    its.a = plan.a, its.b = plan.b, its.c = plan.c;
    return launch_right(its, stream);
  }
  plans[next++ % 8] = g;
  return launch_right(g, stream);
}

Variant by(const char* name, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {.name = name, .idea = "Of the tests.", .launch = launch, .tile = tile};
}
const Registrar registrars[] = {by("planted_hash", launch_by_hash),
                                by("planted_addresses", launch_by_addresses),
                                by("planted_exchange", launch_after_exchange),
                                by("planted_multiples", launch_by_multiples),
                                by("planted_enormous", launch_enormous),
                                by("planted_large", launch_large<1>),
                                by("planted_large_even", launch_large<2>),
                                by("planted_table", launch_by_table),
                                by("planted_long_row", launch_row),
                                by("planted_packed", launch_by_packed_sizes),
                                by("planted_parts", launch_parts),
                                by("planted_tuned", launch_tuned),
                                by("planted_cells", launch_by_cells),
                                by("planted_scaling", launch_scaling),
                                by("planted_cache", launch_beyond_cache),
                                by("planted_plan", launch_by_plan),
                                by("planted_half_addresses", launch_by_half_addresses),
                                by("planted_constant", launch_by_kept_constant),
                                by("planted_shares", launch_shares),
                                by("planted_work", launch_by_work_in_int),
                                by("planted_reads_operands", launch_if_finite),
                                by("planted_each_row", launch_each_row)};

}  // namespace
}  // namespace assay
