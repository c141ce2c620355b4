#include "properties/draws/cost.h"

#include <algorithm>
#include <cmath>

#include "oracle/machine.h"
#include "oracle/watched/watched_run.h"
#include "properties/fitting.h"

namespace assay {
namespace {

// Of the CPU executor, for each: multiplication in a thread's registers, and what a thread adds
// that has but one; start of a thread, where none stops or where some do; stop at a barrier.
constexpr double per_product = 0.4, per_lone_product = 3;
constexpr double per_free_thread = 20, per_thread = 150, per_stop = 40;
constexpr double stops_per_slice = 2;
// Of the harness, for each: element of a matrix, float between rows, row on a page of its own,
// product of the reference.
constexpr double per_element = 30, per_gap_float = 3, per_page = 25'000;
constexpr double per_product_of_reference = 0.35;
// Of a GPU, where the kernel and the reference run.
constexpr double per_launch = 5e5, per_product_on_gpu = 1e-3;

double pieces(std::int64_t size, int side) { return static_cast<double>(ceil_div(size, side)); }

// Who declares no tile computes 16 x 16 elements with a block.
Tile supposed(const Tile& tile) { return tile.m * tile.n * tile.k == 1 ? Tile{16, 16, 1} : tile; }

double area_of(const Tile& tile) { return double{1} * tile.m * tile.n; }

// What threads do on the executor, for a tile: of all of them, also their stops at barriers and
// operations of warps.
struct Work {
  double threads = 0, stops = 0, stops_per_k = 0;
};

Effort effort_by(const Work& work, const Tile& tile) {
  const double lone_threads = std::min(area_of(tile), work.threads);
  const bool any_stops = work.stops + work.stops_per_k > 0;
  return {.is_known = true,
          .tile = work.threads * (any_stops ? per_thread : per_free_thread) + work.stops * per_stop,
          .tile_per_k = area_of(tile) * per_product + lone_threads * per_lone_product +
                        work.stops_per_k * per_stop};
}

// By the tile, where nothing was counted.
Effort supposed_effort(const Tile& tile) {
  const double threads = area_of(tile) <= 1024 ? area_of(tile) : 256;
  const double stops = tile.k > 1 ? stops_per_slice * threads / tile.k : 0;
  return effort_by({.threads = threads, .stops_per_k = stops}, tile);
}

double tiles_of(const Case& c, const Tile& tile) {
  return pieces(c.m, tile.m) * pieces(c.n, tile.n);
}

double cost_on_cpu(const Case& c, const Tile& declared, const Effort& counted) {
  const Tile tile = supposed(declared);
  const Effort effort = counted.is_known ? counted : supposed_effort(tile);
  const double k = c.alpha == 0 ? 0 : pieces(c.k, tile.k) * tile.k;
  const double longest = std::max(pieces(c.m, tile.m), pieces(c.n, tile.n));
  const double tiles = tiles_of(c, tile), elements = static_cast<double>(c.m) * c.n;
  const double whole_tiles =
      std::floor(static_cast<double>(c.m) / tile.m) * std::floor(static_cast<double>(c.n) / tile.n);
  const double per_short_k =
      effort.element_per_k > effort.tile_per_k
          ? whole_tiles * effort.tile_per_k + (tiles - whole_tiles) * effort.element_per_k
      : effort.element_per_k > 0
          ? std::min(tiles * effort.tile_per_k, elements * effort.element_per_k)
          : tiles * effort.tile_per_k;
  const bool is_long = effort.long_from > 0 && c.k >= effort.long_from;
  const double per_k =
      is_long ? std::max(per_short_k, tiles * effort.tile_per_long_k) : per_short_k;
  const double of_line =
      (c.m == 1 ? effort.element_of_row : 0) + (c.n == 1 ? effort.element_of_column : 0);
  return effort.launch + tiles * effort.tile + k * per_k + elements * of_line +
         longest * (effort.tile_of_line + longest * effort.tile_of_square);
}

double cost_of_kernel(const Case& c, const Entry& entry, const Effort& effort) {
  switch (entry.backend) {
    case Backend::simt:
    case Backend::ptx: return cost_on_cpu(c, entry.variant.tile, effort);
    case Backend::cuda: return per_launch + c.multiply_adds() * per_product_on_gpu;
    case Backend::host: break;
  }
  return c.multiply_adds() * per_product;
}

// Filling, placing, fetching and comparing the matrices, and the reference.
double cost_of_harness(const Case& c, Backend backend) {
  const auto matrix = [](std::int64_t rows, std::int64_t columns, Gap gap) {
    const bool is_stored = gap.floats <= widest_stored_gap;
    return static_cast<double>(rows) *
           (static_cast<double>(columns) * per_element +
            (is_stored ? static_cast<double>(gap.floats) * per_gap_float : per_page));
  };
  const double product = backend == Backend::cuda ? per_product_on_gpu : per_product_of_reference;
  return matrix(c.m, c.k, c.lda) + matrix(c.k, c.n, c.ldb) + matrix(c.m, c.n, c.ldc) +
         c.multiply_adds() * product;
}

Effort effort_on_executor(const Entry& entry) {
  constexpr std::uint64_t most_calls = 20'000'000;
  constexpr std::int64_t elements_of_line = 512;
  const Tile tile = supposed(entry.variant.tile);
  const auto run = [&](std::int64_t k) {
    const Case c{.m = tile.m, .n = tile.n, .k = k};
    return watched_run(entry, fitted(c, entry.variant.needs), most_calls);
  };
  const std::int64_t little = tile.k, more = little + 4 * std::max(tile.k, 8);
  const WatchedRun first = run(little), second = run(more);
  if (first.threads == 0) return {};
  const auto stops = static_cast<double>(first.stops);
  const double stops_per_k =
      std::max(0.0, static_cast<double>(second.stops) - stops) / static_cast<double>(more - little);
  Effort effort =
      effort_by({.threads = static_cast<double>(first.threads),
                 .stops = std::max(0.0, stops - stops_per_k * static_cast<double>(little)),
                 .stops_per_k = stops_per_k},
                tile);
  // A path for vectors may have a block for each element.
  const auto of_element = [&](std::int64_t m, std::int64_t n) {
    const Case c = fitted({.m = m, .n = n, .k = little}, entry.variant.needs);
    const auto line = static_cast<double>(watched_run(entry, c, most_calls).stops);
    return per_stop * std::max(0.0, line - tiles_of(c, tile) * stops) /
           static_cast<double>(c.m * c.n);
  };
  effort.element_of_row = of_element(1, elements_of_line);
  effort.element_of_column = of_element(elements_of_line, 1);
  return effort;
}

// Some of a launch it always does, some for each tile, some for each tile and k. A grid may have as
// many blocks however little there is to do, and a block may compute several tiles.
Effort effort_on_ptx(const Entry& entry) {
  struct Launch {
    double tiles = 0, elements = 0, k = 0, operations = 0, blocks = 0;
  };
  const Tile tile = supposed(entry.variant.tile);
  const auto launch = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const Case c = fitted({.m = m, .n = n, .k = k}, entry.variant.needs);
    const auto work = work_on_ptx(entry, c);
    if (!work) return Launch{};
    return Launch{tiles_of(c, tile), static_cast<double>(c.m * c.n), static_cast<double>(c.k),
                  static_cast<double>(work->operations), static_cast<double>(work->blocks)};
  };
  const std::int64_t side = std::clamp(64 / std::max(tile.m, tile.n), 2, 4);
  const std::int64_t little = tile.k;
  const std::int64_t m = tile.m, n = tile.n;
  const Launch one = launch(m, n, little), many = launch(side * m, side * n, little),
               row = launch(m, 128 * n, little);
  std::int64_t more = little + 4 * std::max(tile.k, 8);
  Launch deep = launch(side * m, side * n, more);
  // Warps that ask and wait may do as much for one slice as for several.
  constexpr std::int64_t deepest = 4096;
  while (deep.blocks > 0 && deep.operations < 1.1 * many.operations && more < deepest)
    deep = launch(side * m, side * n, more *= 4);
  if (one.blocks * many.blocks * deep.blocks * row.blocks == 0) return {};
  const auto slope = [](double rise, double run) {
    return run > 0 ? std::max(0.0, rise) / run : 0;
  };
  const double per_k = slope((deep.operations - many.operations) / deep.tiles, deep.k - many.k);
  const Launch lone = launch(1, 1, little), deep_lone = launch(1, 1, more);
  const double of_element =
      lone.elements == 1 ? slope(deep_lone.operations - lone.operations, deep_lone.k - lone.k) : 0;
  const double of_tile = many.tiles > one.tiles
                             ? slope(many.operations - one.operations, many.tiles - one.tiles)
                             : one.operations / one.tiles;
  const double of_launch = std::max(0.0, one.operations - of_tile * one.tiles);
  const bool is_square = row.blocks > 4 * one.blocks * row.tiles;
  const double idle = row.operations - of_launch - of_tile * row.tiles;
  return {.is_known = true,
          .launch = per_operation * of_launch,
          .tile = per_operation * std::max(0.0, of_tile - per_k * one.k),
          .tile_per_k = per_operation * per_k,
          .element_per_k = per_operation * of_element,
          .tile_of_line = is_square ? 0 : per_operation * slope(idle, row.tiles),
          .tile_of_square = is_square ? per_operation * slope(idle, row.tiles * row.tiles) : 0};
}

}  // namespace

Effort effort_of(const Entry& entry) {
  if (entry.backend == Backend::ptx) return effort_on_ptx(entry);
  if (entry.backend != Backend::simt || entry.watched_launch == nullptr) return {};
  return effort_on_executor(entry);
}

void look_at_long_sums(const std::set<std::int64_t>& lengths, const Entry& entry, Effort& effort) {
  constexpr double much = 3;
  constexpr std::int64_t least = 256, most = 1 << 16;
  int looks = 4;
  for (const std::int64_t k : lengths) {
    const Case c = fitted({.m = 1, .n = 1, .k = k}, entry.variant.needs);
    if (k < least || k > most || c.k < k || looks-- <= 0) continue;
    const auto work = work_on_ptx(entry, c);
    const double executed = work ? per_operation * static_cast<double>(work->operations) : 0;
    if (executed < much * cost_on_cpu(c, entry.variant.tile, effort)) continue;
    effort.long_from = effort.long_from == 0 ? k : std::min(effort.long_from, k);
    effort.tile_per_long_k = std::max(effort.tile_per_long_k, executed / static_cast<double>(c.k));
  }
}

double cost_of(const Case& c, const Claim& claim, const Entry& entry, const Effort& effort) {
  return claim.trials * (cost_of_kernel(c, entry, effort) + cost_of_harness(c, entry.backend));
}

std::vector<Entry> beside_each_other(std::vector<Entry> entries) {
  for (Entry& entry : entries)
    entry.is_on_ptx_too = entry.backend == Backend::simt &&
                          std::any_of(entries.begin(), entries.end(), [&](const Entry& other) {
                            return other.backend == Backend::ptx &&
                                   unmet(other.variant.needs, other.backend).empty() &&
                                   std::string_view(other.variant.name) == entry.variant.name;
                          });
  return entries;
}

double share_of_cases(const Claim& claim, const Entry& entry) {
  constexpr double beside_the_machine = 0.25;  // which takes all of them, and sees more
  if (entry.backend == Backend::cuda) return 1;
  if (entry.backend == Backend::ptx) return claim.share_without_gpu * claim.share_with_sight;
  return claim.share_without_gpu * (entry.is_on_ptx_too ? beside_the_machine : 1);
}

// On the PTX machine every trial sees more than values, so that it takes less of them; but cases of
// whole tiles must still come where tiles are huge.
double cost_per_case(const Entry& entry) {
  constexpr double usual = 5e6, on_gpu = 1.5e6, with_sight = 4e6, huge_tile = 128 * 128;
  if (entry.backend == Backend::cuda) return on_gpu;
  const bool has_small_tiles = area_of(entry.variant.tile) <= huge_tile;
  return entry.backend == Backend::ptx && has_small_tiles ? with_sight : usual;
}

}  // namespace assay
