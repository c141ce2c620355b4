#include "properties/draws/cost.h"

#include <algorithm>

#include "oracle/watched/watched_run.h"
#include "properties/fitting.h"

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

// Who declares no tile computes 16 x 16 elements with a block.
Tile supposed(const Tile& tile) { return tile.m * tile.n * tile.k == 1 ? Tile{16, 16, 1} : tile; }

double area_of(const Tile& tile) { return double{1} * tile.m * tile.n; }

// By the tile, where nothing was counted.
Effort supposed(const Effort& counted, const Tile& tile) {
  if (counted.is_known) return counted;
  const double threads = area_of(tile) <= 1024 ? area_of(tile) : 256;
  return {.threads = threads, .stops_per_k = tile.k > 1 ? stops_per_slice * threads / tile.k : 0};
}

double cost_of_executor(const Case& c, const Tile& declared, const Effort& counted) {
  const Tile tile = supposed(declared);
  const Effort effort = supposed(counted, tile);
  const double k = c.alpha == 0 ? 0 : pieces(c.k, tile.k) * tile.k;
  const double lone_threads = std::min(area_of(tile), effort.threads);
  const double products = k * (area_of(tile) * per_product + lone_threads * per_lone_product);
  const double stops = effort.stops + k * effort.stops_per_k;
  const bool any_stops = effort.stops + effort.stops_per_k > 0;
  return pieces(c.m, tile.m) * pieces(c.n, tile.n) *
         (products + stops * per_stop +
          effort.threads * (any_stops ? per_thread : per_free_thread));
}

double cost_of_kernel(const Case& c, const Entry& entry, const Effort& effort) {
  switch (entry.backend) {
    case Backend::simt:
    case Backend::ptx: return cost_of_executor(c, entry.variant.tile, effort);
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

Effort effort_of(const Entry& entry) {
  if (entry.watched_launch == nullptr || entry.backend != Backend::simt) return {};
  constexpr std::uint64_t most_calls = 20'000'000;
  const Tile tile = supposed(entry.variant.tile);
  const auto run = [&](std::int64_t k) {
    const Case c{.m = tile.m, .n = tile.n, .k = k};
    return watched_run(entry, fitted(c, entry.variant.needs), most_calls);
  };
  const std::int64_t little = tile.k, more = little + 4 * std::max(tile.k, 8);
  const WatchedRun first = run(little), second = run(more);
  const auto stops = static_cast<double>(first.stops);
  const double stops_per_k =
      std::max(0.0, static_cast<double>(second.stops) - stops) / static_cast<double>(more - little);
  return {.is_known = first.threads > 0,
          .threads = static_cast<double>(first.threads),
          .stops = std::max(0.0, stops - stops_per_k * static_cast<double>(little)),
          .stops_per_k = stops_per_k};
}

double cost_of(const Case& c, const Claim& claim, const Entry& entry, const Effort& effort) {
  return claim.trials * (cost_of_kernel(c, entry, effort) + cost_of_harness(c, entry.backend));
}

double cost_per_case(Backend backend) { return backend == Backend::cuda ? 1.5e6 : 5e6; }

}  // namespace assay
