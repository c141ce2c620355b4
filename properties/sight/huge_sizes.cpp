#include "properties/sight/huge_sizes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/registry.h"
#include "oracle/operands.h"
#include "oracle/vast/vast_trial.h"
#include "properties/draws/dice.h"
#include "properties/fitting.h"

namespace assay {
namespace {

constexpr double large = 0x1p24;  // elements that some matrix spreads over

std::string why_not_huge(const Case& c) {
  const auto [of_a, of_b, of_c] = c.spreads();
  if (c.k == 0 || c.alpha == 0)
    return of_c < large ? "it takes a C that spreads over 2^24 elements, or something to multiply"
                        : "";
  return std::max({of_a, of_b, of_c}) < large ? "it takes a matrix that spreads over 2^24 elements"
                                              : "";
}

// Slices of k of all tiles, together between 2^31 and 2^32. What no tile declares is 16.
Case with_many_slices(const Tile& declared) {
  constexpr std::int64_t tiles_in_line = 257, slices = 2'700'000'000;
  const auto side = [](int of_tile) { return of_tile > 1 ? of_tile : 16; };
  const Tile tile = {side(declared.m), side(declared.n), side(declared.k)};
  return {.m = (tiles_in_line - 1) * tile.m + 1,
          .n = (tiles_in_line - 1) * tile.n + 1,
          .k = slices / (tiles_in_line * tiles_in_line) * tile.k};
}

// Whole tiles alone, an odd number of them, so that none may be missing; of 8 x 8 more than 2^24.
Case of_whole_tiles(const Tile& declared) {
  constexpr std::int64_t most_tiles = 5001, most = 65'536;  // in a line; rows and columns
  const auto side = [&](int of_tile) {
    const std::int64_t tile = of_tile > 1 ? of_tile : 8;
    return std::min(most_tiles, (most / tile - 1) | 1) * tile;
  };
  return {.m = side(declared.m), .n = side(declared.n), .k = 1};
}

// Of the least k for which a launch has more floats of memory than a float counts, than an int
// does, and than 32 bits do, and of sizes whose products are no floats; none where none is found.
std::vector<Case> with_much_memory(const Entry& entry) {
  constexpr std::int64_t floats[] = {std::int64_t{1} << 26, std::int64_t{1} << 31,
                                     std::int64_t{1} << 32};
  std::vector<Case> chosen;
  for (const std::int64_t k : {8209, 16'411, 32'803, 65'539, 1'048'583, 16'777'259})
    for (const std::int64_t side : {709, 2053, 4099, 8209, 12'301, 16'411, 24'611, 32'803}) {
      const Case c = fitted({.m = side, .n = side, .k = k}, entry.variant.needs);
      if (memory_of_launch(entry, c) / 4 <= floats[chosen.size()]) continue;
      chosen.push_back(c);
      if (chosen.size() == std::size(floats)) return chosen;
    }
  return chosen;
}

// Beside the roots of 2^31 and 2^32, also where there is nothing to multiply; more than 65535 tiles
// in a line, and more than 65535 bands of eight; more rows than blocks of a device times these are
// in 32 bits, or than 2^20 tiles have; the last step of a loop below 2^31; more slices than an int
// counts; workspaces of some GiB; rows that lie farther apart than 2^31 or 2^32, and many rows
// that together do.
std::vector<Case> huge_cases(const Entry& entry, std::uint64_t seed) {
  Dice dice(seed + 77);
  const Needs& needs = entry.variant.needs;
  const Tile& tile = entry.variant.tile;
  constexpr std::int64_t root_of_2_31 = 46'341, root_of_2_32 = 65'536, far = std::int64_t{1} << 31;
  const auto few = [&] { return dice.between(1, 4); };
  const auto beside = [&](std::int64_t size) { return size + dice.between(1, 40); };
  const std::int64_t line = std::int64_t{65536} * std::max({tile.m, tile.n, 16});
  const std::int64_t below_2_31 = far - 1100 - few();  // tiles of 1024 are counted without overflow
  const std::int64_t within = needs.int_indices ? root_of_2_31 - 100 : root_of_2_31;
  std::vector<Case> cases = {
      with_many_slices(tile),
      {.m = beside(root_of_2_32), .n = beside(root_of_2_32), .k = few()},
      {.m = beside(within), .n = beside(within), .k = few(), .beta = 1},
      of_whole_tiles(tile),
      {.m = beside(line), .n = 15 + few(), .k = 8 + few()},
      {.m = 15 + few(), .n = beside(line), .k = 8 + few()},
      {.m = beside(8 * line), .n = few(), .k = few()},
      {.m = few(), .n = beside(8 * line), .k = few()},
      {.m = beside(20'000'000), .n = few(), .k = few()},
      {.m = beside(67'108'864), .n = 1, .k = few()},
      {.m = 256 + 8 * few(), .n = 1'000'003, .k = 4 + few()},
      {.m = 1'000'003, .n = 256 + 8 * few(), .k = 4 + few()},
      {.m = beside(root_of_2_31 / 2), .n = beside(root_of_2_31 / 2), .k = 2048},
  };
  const std::vector<Case> of_memory = with_much_memory(entry);
  cases.insert(cases.begin(), of_memory.begin(), of_memory.end());
  for (const auto gap : {&Case::lda, &Case::ldb, &Case::ldc})
    for (const std::int64_t distance : {far + 8, 2 * far + 8}) {
      Case c{.m = 1 + few(), .n = 2 + few(), .k = 3 + few()};
      (c.*gap).floats = distance;
      cases.push_back(c);
    }
  constexpr std::int64_t side = 2048;  // which may have a path of its own
  Case wide{.m = side + few(), .n = side + few(), .k = side + few()};
  for (const auto gap : {&Case::lda, &Case::ldb, &Case::ldc}) (wide.*gap).floats = far / side + 8;
  cases.push_back(wide);
  cases.push_back({.m = 1, .n = below_2_31, .k = 1});
  cases.push_back({.m = below_2_31, .n = 1, .k = 1});
  cases.push_back(
      {.m = beside(root_of_2_32), .n = beside(root_of_2_32), .k = few(), .alpha = 0, .beta = 0.5f});
  cases.push_back({.m = beside(within), .n = beside(within), .k = 0});
  // That these are launched at all: few come to their end.
  for (const std::int64_t k : {far / 16, far})
    cases.push_back({.m = few(), .n = few(), .k = beside(k)});
  for (Case& c : cases) {
    if (c.alpha != 0) c.alpha = dice.of({1.0f, 1.5f, -2.0f});
    c.seed = static_cast<std::uint64_t>(dice.between(0, 65535));
    c = fitted(c, needs);
  }
  const auto is_not_huge = [](const Case& c) { return !why_not_huge(c).empty(); };  // by its needs
  if (!std::all_of(cases.begin(), cases.end(), is_not_huge)) std::erase_if(cases, is_not_huge);
  return cases;
}

Case to_huge_sizes(Case c, const Entry& entry) {
  if (why_not_huge(c).empty()) return c;
  const std::vector<Case> all = huge_cases(entry, c.seed);
  return all[c.seed % all.size()];
}

Verdict judge_huge(const Entry& entry, const Case& c, const Resources&) {
  return run_vast_trial(entry, c);
}

}  // namespace

std::string why_not_seen(const Entry& entry) {
  return entry.backend == Backend::ptx ? "" : "it takes the backend ptx, which sees every access";
}

Claim claim_about_huge_sizes() {
  return {.name = "huge_sizes",
          .sentence = "is right where counts and indices leave 32 bits",
          .heading = "huge",
          .judge = judge_huge,
          .takes_sight = true,
          .excludes_variant = why_not_seen,
          .excludes_case = why_not_huge,
          .move_case = to_huge_sizes,
          .most_cases = 20,
          .own_cases = huge_cases,
          .enough_cases = 1,
          .is_about_huge = true,
          .trials = 0};  // that cost anything: few blocks are run
}

}  // namespace assay
