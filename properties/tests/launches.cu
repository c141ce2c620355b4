// Launch functions for the tests of what is tried of them without running a kernel.
#include <algorithm>

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
                                by("planted_plan", launch_by_plan),
                                by("planted_half_addresses", launch_by_half_addresses),
                                by("planted_constant", launch_by_kept_constant),
                                by("planted_shares", launch_shares),
                                by("planted_work", launch_by_work_in_int),
                                by("planted_reads_operands", launch_if_finite),
                                by("planted_each_row", launch_each_row)};

}  // namespace
}  // namespace assay
