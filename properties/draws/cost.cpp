#include "properties/draws/cost.h"

#include <algorithm>

namespace assay {
namespace {

// Of the CPU executor, for each: multiplication in a thread's registers, and what a thread adds
// that has but one; start of a thread, where none stops or where some do; stop at a barrier.
constexpr double per_product = 0.4, per_lone_product = 3;
constexpr double per_free_thread = 20, per_thread = 150, per_stop = 40;
constexpr double stops_per_slice = 2;
// Of the harness, for each: element of a matrix, float between rows, product of the reference.
constexpr double per_element = 30, per_gap_float = 3, per_product_of_reference = 0.35;
// Of a GPU, where the kernel and the reference run.
constexpr double per_launch = 5e5, per_product_on_gpu = 1e-3;

double pieces(std::int64_t size, int side) { return static_cast<double>(ceil_div(size, side)); }

// What a variant computes that declares no tile: a thread for each element, in blocks of 16 x 16.
Tile supposed(const Tile& tile) {
  return {tile.m > 1 ? tile.m : 16, tile.n > 1 ? tile.n : 16, tile.k};
}

double cost_of_executor(const Case& c, const Tile& declared) {
  const Tile tile = supposed(declared);
  const double area = double{1} * tile.m * tile.n;
  const double threads = area <= 1024 ? area : 256;
  const double blocks = pieces(c.m, tile.m) * pieces(c.n, tile.n);
  const double slices = c.alpha == 0 ? 0 : pieces(c.k, tile.k);
  const double products = slices * tile.k * (area * per_product + threads * per_lone_product);
  const double stops = stops_per_slice * slices * per_stop;
  return blocks * (products + threads * (tile.k > 1 ? per_thread + stops : per_free_thread));
}

double cost_of_kernel(const Case& c, const Entry& entry) {
  switch (entry.backend) {
    case Backend::simt: return cost_of_executor(c, entry.variant.tile);
    case Backend::cuda: return per_launch + c.multiply_adds() * per_product_on_gpu;
    case Backend::host: break;
  }
  return c.multiply_adds() * per_product;
}

// Filling, placing, fetching and comparing the matrices, and the reference.
double cost_of_harness(const Case& c, Backend backend) {
  const auto matrix = [](std::int64_t rows, std::int64_t columns, Gap gap) {
    const auto stored_gap = std::min(gap.floats, widest_stored_gap);
    return static_cast<double>(rows) * (static_cast<double>(columns) * per_element +
                                        static_cast<double>(stored_gap) * per_gap_float);
  };
  const double product = backend == Backend::cuda ? per_product_on_gpu : per_product_of_reference;
  return matrix(c.m, c.k, c.lda) + matrix(c.k, c.n, c.ldb) + matrix(c.m, c.n, c.ldc) +
         c.multiply_adds() * product;
}

}  // namespace

double cost_of(const Case& c, const Claim& claim, const Entry& entry) {
  return claim.trials * (cost_of_kernel(c, entry) + cost_of_harness(c, entry.backend));
}

double cost_per_case(Backend backend) { return backend == Backend::cuda ? 1.5e6 : 6e6; }

}  // namespace assay
