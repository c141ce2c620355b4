#include "properties/aims/numbers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "oracle/fills/filling.h"
#include "oracle/fills/pattern.h"
#include "oracle/reference.h"
#include "properties/claims.h"
#include "properties/draws/cost.h"

namespace assay {
namespace {

constexpr std::int64_t most_elements = 1 << 21;  // of C, in a case that may aim at nothing
constexpr std::int64_t least_field = 1 << 15;    // a number that a count may be cut to
constexpr std::int64_t longest_k = (1 << 24) + (1 << 12);

std::int64_t side_of_square(std::int64_t elements) {
  return static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements)));
}

struct Grid {
  std::int64_t down, across;
};

// The smallest ones, each of another width, whose last row begins with a tile that is misplaced.
std::vector<Grid> misplacing_grids() {
  constexpr int widest = 128, tallest = 64;
  constexpr std::size_t enough = 3;
  std::vector<Grid> grids;
  for (int across = 2; across <= widest; ++across) {
    const float reciprocal = 1.0f / static_cast<float>(across);
    for (int row = 1; row < tallest; ++row) {
      if (static_cast<int>(static_cast<float>(row * across) * reciprocal) == row) continue;
      grids.push_back({row + 1, across});
      break;
    }
  }
  std::sort(grids.begin(), grids.end(),
            [](const Grid& x, const Grid& y) { return x.down * x.across < y.down * y.across; });
  grids.resize(std::min(enough, grids.size()));
  return grids;
}

}  // namespace

std::vector<Case> cases_of_tiles(const std::vector<std::int64_t>& numbers, const Tile& tile) {
  std::vector<Case> cases;
  for (const std::int64_t number : numbers) {
    if (number * tile.m <= most_elements) cases.push_back({.m = number * tile.m, .n = 1, .k = 1});
    if (number * tile.n <= most_elements) cases.push_back({.m = 1, .n = number * tile.n, .k = 1});
    const std::int64_t k = (number + 1) * tile.k + 1;
    if (number >= least_field && k <= longest_k) cases.push_back({.m = 1, .n = 1, .k = k});
  }
  return cases;
}

std::vector<Case> cases_of_cells() {
  constexpr std::int64_t small = 8, least = 3, longest = 1 << 17;
  constexpr double most_products = 5e5;
  std::vector<Case> cases;
  for (std::int64_t m = 1; m <= small; ++m)
    for (std::int64_t n = 1; n <= small; ++n)
      for (const std::int64_t k : {5, 50, 600, 5000}) cases.push_back({.m = m, .n = n, .k = k});
  for (std::int64_t m = least; m < longest; m *= 2)
    for (std::int64_t n = least; n < longest; n *= 2)
      for (std::int64_t k = least; k < longest; k *= 4) {
        const Case c{.m = m, .n = n, .k = k};
        if (std::max(m, n) > small && c.multiply_adds() < most_products) cases.push_back(c);
      }
  return cases;
}

std::vector<Case> cases_at_length(std::int64_t bytes, const std::vector<std::int64_t>& all_k) {
  constexpr std::int64_t least = 1024;
  const auto floats = bytes / static_cast<std::int64_t>(sizeof(float));
  std::vector<Case> cases;
  if (floats < least) return cases;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    cases.push_back({.m = m, .n = n, .k = k});
  };
  for (const std::int64_t times : {1, 2, 4, 8, 16}) {
    const std::int64_t held = floats / times, side = side_of_square(held);
    if (held > most_elements) continue;
    for (const std::int64_t k : all_k) {
      add(side, side, k);
      add(side + 1, side + 1, k + 1);
      add(3, held / 2, k);
    }
    if (times > 2) continue;
    add(side + 1, 3, side + 1);
    add(3, side + 1, side + 1);
  }
  return cases;
}

Case lone_products(std::int64_t k, Arithmetic arithmetic) {
  Case c{.m = 1, .n = 1, .k = k, .fill = Fill::one_hot, .seed = 1};
  if (!keeps_inputs(arithmetic)) return c;
  c.fill = Fill::patterned;
  while (pattern_of(c.seed, Operand::a) != Pattern::seams ||
         exception_of(c.seed, Operand::a) != Exception::none ||
         pattern_of(c.seed, Operand::b) != Pattern::plain)
    ++c.seed;
  return c;
}

std::vector<Case> lone_products_of(const std::vector<std::int64_t>& numbers, const Entry& entry) {
  const std::int64_t least = 1 << 14, most = entry.backend == Backend::simt ? 1 << 20 : 1 << 23;
  constexpr std::size_t most_cases = 4;
  std::set<std::int64_t, std::greater<>> pieces;
  for (const std::int64_t number : numbers) pieces.insert({number, number * entry.variant.tile.k});
  std::vector<Case> cases;
  for (const std::int64_t piece : pieces)
    if (piece >= least && piece <= most && cases.size() < most_cases)
      cases.push_back(lone_products(piece + piece / 8 + 3, entry.variant.arithmetic));
  return cases;
}

namespace {
// Half of A is 0, or a little more, so that a list of the other elements is long.
Case half_empty(std::int64_t k) {
  Case c{.m = 1, .n = 1, .k = k, .fill = Fill::patterned};
  const auto is_it = [&] {
    if (pattern_of(c.seed, Operand::a) != Pattern::sparse ||
        exception_of(c.seed, Operand::a) != Exception::none)
      return false;
    const Filling filling(c, Operand::a);
    std::int64_t zeros = 0;
    for (std::int64_t p = 0; p < k; ++p) zeros += filling.at(0, p) == 0;
    return zeros >= k / 2 && zeros < k / 2 + k / 16;
  };
  while (!is_it()) ++c.seed;
  return c;
}
}  // namespace

std::vector<Case> cases_of_long_sums(const Entry& entry, const Effort& effort) {
  constexpr std::int64_t million = 1 << 20;
  constexpr double most_nanoseconds = 1.2e9;
  std::vector<Case> cases;
  for (const std::int64_t times : {3, 6, 12}) {
    const Case c = lone_products(times * million, entry.variant.arithmetic);
    if (cost_of(c, claim_named("within_bound"), entry, effort) < most_nanoseconds)
      cases.push_back(c);
  }
  for (const auto& [pattern, longest] : {std::pair{Pattern::bytes, longest_sum_without_signs},
                                         {Pattern::signs, longest_sum_of_signs * 5 / 4}}) {
    Case& c =
        cases.emplace_back(Case{.m = 3, .n = 5, .k = longest + 1000, .fill = Fill::patterned});
    while (pattern_of(c.seed, Operand::a) != pattern) ++c.seed;
  }
  Case of_ones{.m = 1, .n = 1, .k = 3 * million, .fill = Fill::patterned};
  while (pattern_of(of_ones.seed, Operand::a) != Pattern::signs) ++of_ones.seed;
  if (cost_of(of_ones, claim_named("within_bound"), entry, effort) < most_nanoseconds)
    cases.push_back(of_ones);
  // Where one element costs a whole tile, these take an executor longer than they are worth.
  const double most_half_empty = entry.backend == Backend::simt ? 0.3e9 : most_nanoseconds;
  for (const std::int64_t k : {70'001, 140'001}) {
    const Case c = half_empty(k);
    if (cost_of(c, claim_named("within_bound"), entry, effort) < most_half_empty)
      cases.push_back(c);
  }
  return cases;
}

std::vector<Case> cases_beyond_16_bits(const Tile& tile, const Entry& entry) {
  constexpr std::int64_t countable = 1 << 16, least_slice = 4, largest_side = 64;
  std::vector<Case> cases;
  // A barrier for each few steps of k would take the executor longer than all other cases together.
  if (tile.k == 1 || entry.backend != Backend::simt)
    cases.push_back(lone_products((1 << 24) + 1, entry.variant.arithmetic));
  if (tile.k <= least_slice || entry.backend != Backend::simt)
    cases.push_back({.m = 1, .n = 1, .k = countable * least_slice + 5});
  for (const auto size : {&Case::m, &Case::n}) {
    const std::int64_t side = size == &Case::m ? tile.m : tile.n;
    if (side > largest_side) continue;
    cases.push_back({.m = 1, .n = 1, .k = 1});
    cases.back().*size = countable * side + side + 1;
  }
  return cases;
}

std::vector<Case> cases_beyond_reciprocals(const Tile& tile,
                                           const std::vector<std::int64_t>& all_k) {
  std::vector<Case> cases;
  const auto add = [&](std::int64_t rows, std::int64_t columns, std::int64_t k = 1) {
    cases.push_back({.m = rows, .n = columns, .k = k});
  };
  for (const auto& [few, many] : {std::pair<std::int64_t, std::int64_t>{6, 32767}, {3, 65535}}) {
    add(few, many);
    add(many, few);
    for (const std::int64_t k : all_k) add(few, many, k);
    if (tile.m * tile.n == 1) continue;
    add((few - 1) * tile.m + 1, many * tile.n);
    add(many * tile.m, (few - 1) * tile.n + 1);
  }
  return cases;
}

Case case_beyond_sums_of_bytes() {
  Case c{.m = 1, .n = 1, .k = longest_sum_of_bytes * 5 / 4, .fill = Fill::patterned};
  while (pattern_of(c.seed, Operand::a) != Pattern::bytes) ++c.seed;
  return c;
}

std::vector<Case> cases_beyond_sums_of_ints() {
  std::vector<Case> cases;
  Case c{.m = 3, .n = 5, .fill = Fill::patterned};
  while (pattern_of(c.seed, Operand::a) != Pattern::words_of_16_bits || !leaves_32_bits(c.seed))
    ++c.seed;
  for (const std::int64_t k : {170, 700, 2700, 10800, 43200}) {  // a bit less in each
    c.k = k;
    cases.push_back(c);
  }
  return cases;
}

std::vector<Case> cases_beyond_floats(const Tile& tile) {
  constexpr std::int64_t countable = 1 << 24;
  std::vector<Case> cases;
  for (const auto& [down, across] : misplacing_grids()) {
    cases.push_back({.m = down * tile.m, .n = across * tile.n, .k = 1});
    cases.push_back({.m = across * tile.m, .n = down * tile.n, .k = 1});
  }
  for (const auto size : {&Case::m, &Case::n, &Case::k}) {
    for (const std::int64_t beyond : {1, 3}) {  // which round down, and up
      Case& c = cases.emplace_back(Case{.m = 1, .n = 1, .k = 1});
      c.*size = countable + beyond;
    }
  }
  return cases;
}

}  // namespace assay
