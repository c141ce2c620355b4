// Faults that no comparison shows, and no number that is a size: fields of few bits, a quotient by
// a rounded reciprocal, a plan that is found by its name or kept for another distance.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "properties/defects/kernels/faulty.h"

namespace assay::faulty {
namespace {

__device__ float products(const Gemm& g, std::int64_t row, std::int64_t col, std::int64_t k) {
  float sum = 0;
  for (std::int64_t p = 0; p < k; ++p) sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  return sum;
}

// A thread for each element, and an item of work for each: the element, and how many slices of 8 it
// takes. Slices beyond the field run into the element.
constexpr Tile slice_of_8 = {1, 1, 8};
__global__ void packed_items(Gemm g, unsigned long long slices) {
  const unsigned long long item = (std::uint64_t{blockIdx.x} << 20) + slices;
  const auto element = static_cast<std::int64_t>(item >> 20);
  if (element >= g.m * g.n) return;
  const std::int64_t all = depth(g), most = static_cast<std::int64_t>(item % 1048576) * 8;
  const std::int64_t row = element / g.n, col = element % g.n;
  Right::finish(g, products(g, row, col, most < all ? most : all), row, col);
}
cudaError_t launch_packed_items(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  return launch(packed_items, dim3(static_cast<unsigned>(g.m * g.n)), dim3(1), 0, stream, g,
                static_cast<unsigned long long>(ceil_div(depth(g), 8)));
}

// Tiles find their place in a list.
constexpr Tile four = {4, 4, 1};
struct Place {
  unsigned short down, across;
};
__global__ void list_tiles(Gemm g, Place* places) {
  const std::int64_t across = ceil_div(g.n, four.n),
                     t = std::int64_t{blockIdx.x} * 64 + threadIdx.x;
  if (t >= across * ceil_div(g.m, four.m)) return;
  places[t] = {static_cast<unsigned short>(t / across), static_cast<unsigned short>(t % across)};
}
__global__ void listed_tiles(Gemm g, const Place* places) {
  const Place at = places[blockIdx.x];
  const std::int64_t row = std::int64_t{at.down} * four.m + threadIdx.y;
  const std::int64_t col = std::int64_t{at.across} * four.n + threadIdx.x;
  if (row < g.m && col < g.n) Right::finish(g, products(g, row, col, depth(g)), row, col);
}
std::int64_t bytes_of_list(const Gemm& g) {
  return 4 * ceil_div(g.m, four.m) * ceil_div(g.n, four.n);
}
cudaError_t launch_listed_tiles(const Gemm& g, cudaStream_t stream, void* workspace) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  auto* const places = static_cast<Place*>(workspace);
  const auto tiles = static_cast<unsigned>(bytes_of_list(g) / 4);
  const cudaError_t error =
      launch(list_tiles, dim3((tiles + 63) / 64), dim3(64), 0, stream, g, places);
  if (error != cudaSuccess) return error;
  return launch(listed_tiles, dim3(tiles), dim3(four.n, four.m), 0, stream, g, places);
}

// The row of an element is the upper half of its number times ceil(2^32 / n).
constexpr Tile row_of_64 = {1, 64, 1};
__global__ void divided(Gemm g, unsigned long long reciprocal) {
  const std::uint64_t element = std::uint64_t{blockIdx.x} * 64 + threadIdx.x;
  const auto row = static_cast<std::int64_t>(element * reciprocal >> 32);
  const std::int64_t col = static_cast<std::int64_t>(element) - row * g.n;
  if (row < g.m && col >= 0) Right::finish(g, products(g, row, col, depth(g)), row, col);
}
cudaError_t launch_divided(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  return launch(divided, dim3(static_cast<unsigned>(ceil_div(g.m * g.n, 64))), dim3(64), 0, stream,
                g, static_cast<unsigned long long>(ceil_div(std::int64_t{1} << 32, g.n)));
}

// Of k the largest power of 2 is summed first, without a look at k; its logarithm is a float, and
// rounded up just below 2^21.
__global__ void power_of_two_first(Gemm g, std::int64_t power) {
  const std::int64_t row = blockIdx.x / g.n, col = blockIdx.x % g.n, k = depth(g);
  const std::int64_t first = power < k + 1 ? power : k + 1;
  float sum = products(g, row, col, k < first ? 0 : first);
  for (std::int64_t p = first; p < k; ++p)
    sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);
  Right::finish(g, sum, row, col);
}
cudaError_t launch_power_of_two_first(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  const float logarithm = g.k > 0 ? std::log2(static_cast<float>(g.k)) : 0;
  const std::int64_t power = g.k > 0 ? std::int64_t{1} << static_cast<int>(logarithm) : 0;
  return launch(power_of_two_first, dim3(static_cast<unsigned>(g.m * g.n)), dim3(1), 0, stream, g,
                power);
}

// Plans that a tuner wrote, by name: one of them is for whole slices.
cudaError_t launch_by_name(const Gemm& g, cudaStream_t stream) {
  static const char* const for_whole_slices[] = {"512x512x512", "700x24x72", "64x4096x256"};
  char name[64];
  std::snprintf(name, sizeof name, "%lldx%lldx%lld", static_cast<long long>(g.m),
                static_cast<long long>(g.n), static_cast<long long>(g.k));
  Gemm planned = g;
  for (const char* known : for_whole_slices) {
    if (std::strcmp(known, name) == 0) planned.k = g.k / tile.k * tile.k;
  }
  return launch_plain<Right>(planned, stream);
}

// What was planned is kept for a call that agrees in all but one distance between rows, or one
// size.
template <std::int64_t Gemm::*unasked>
cudaError_t launch_as_planned(const Gemm& g, cudaStream_t stream) {
  static Gemm plan = {};
  bool agrees = plan.alpha == g.alpha && plan.beta == g.beta && plan.a == g.a && plan.b == g.b &&
                plan.c == g.c;
  for (const auto asked : {&Gemm::m, &Gemm::n, &Gemm::k, &Gemm::lda, &Gemm::ldb, &Gemm::ldc})
    agrees &= asked == unasked || plan.*asked == g.*asked;
  if (!agrees) plan = g;
  return launch_plain<Right>(plan, stream);
}

constexpr Needs indexed = {.m_most = 32768, .n_most = 32768};
const Registrar registrars[] = {
    {{.name = "slices_in_a_field_of_20_bits",
      .idea = idea,
      .launch = launch_packed_items,
      .needs = indexed,
      .tile = slice_of_8}},
    {{.name = "places_of_tiles_in_16_bits",
      .idea = idea,
      .launch = launch_listed_tiles,
      .tile = four,
      .workspace = bytes_of_list}},
    {{.name = "divides_by_rounded_up_reciprocal",
      .idea = idea,
      .launch = launch_divided,
      .needs = indexed,
      .tile = row_of_64}},
    {{.name = "power_of_two_by_its_logarithm",
      .idea = idea,
      .launch = launch_power_of_two_first,
      .needs = indexed}},
    {{.name = "plan_found_by_its_name", .idea = idea, .launch = launch_by_name, .tile = tile}},
    {{.name = "plan_kept_for_another_ldc",
      .idea = idea,
      .launch = launch_as_planned<&Gemm::ldc>,
      .tile = tile}},
    {{.name = "plan_kept_for_another_ldb",
      .idea = idea,
      .launch = launch_as_planned<&Gemm::ldb>,
      .tile = tile}},
    {{.name = "plan_kept_for_another_k",
      .idea = idea,
      .launch = launch_as_planned<&Gemm::k>,
      .tile = tile}},
};

}  // namespace
}  // namespace assay::faulty
