#include "properties/draws/wide_gaps.h"

#include <algorithm>
#include <array>
#include <limits>

#include "properties/scopes.h"

namespace assay {

std::string why_not_wide(const Case& c) {
  const auto wide = [](std::int64_t rows, std::int64_t ld) {
    return (rows - 1) * ld >= std::int64_t{1} << 29;
  };
  const bool any = wide(c.m, c.k + c.lda.floats) || wide(c.k, c.n + c.ldb.floats) ||
                   wide(c.m, c.n + c.ldc.floats);
  return any ? why_no_bound(c) : "it takes an operand that spreads over 2^31 bytes";
}

std::string why_packed(const Entry& entry) {
  return entry.variant.needs.packed ? "it takes packed matrices only" : "";
}

namespace {

// With room for the rows themselves, and for what the needs round up to.
std::int64_t widest_within_int(const Case& c, std::int64_t rows) {
  constexpr std::int64_t room = 1 << 10;
  const std::int64_t apart = std::numeric_limits<std::int32_t>::max() / rows;
  return std::max<std::int64_t>(0, apart - std::max(c.n, c.k) - rows - room);
}

struct Spread {
  std::int64_t rows, gap;
};

// Within reach of a product with a row of 32 bits, or of the last one alone.
constexpr std::array<Spread, 13> spreads = {{{5, 1 << 30},
                                             {2, 1 << 30},
                                             {5, 3 << 27},
                                             {9, 3 << 26},
                                             {17, 3 << 25},
                                             {5, 3 << 26},
                                             {9, 1 << 28},
                                             {17, 1 << 27},
                                             {33, 1 << 26},
                                             {65, 1 << 25},
                                             {17, 1 << 28},
                                             {33, 1 << 27},
                                             {65, 1 << 26}}};

// Whole tiles and slices, as most kernels have them.
constexpr Tile whole = {128, 128, 16};
constexpr std::array<Spread, 2> spreads_of_tiles = {{{129, 1 << 25}, {129, 1 << 26}}};
constexpr std::array<Spread, 2> spreads_of_slices = {{{33, 1 << 28}, {17, 1 << 29}}};

bool takes_whole(const Needs& needs) {
  return !needs.int_indices && std::min({needs.m_most, needs.n_most, needs.k_most}) > 2 * whole.m;
}

}  // namespace

// The last row begins at 2^32 or beyond, where an unsigned index wraps too; at 2^31, so that the
// product of a row of the tile and the distance wraps; or below, for kernels that look at that, and
// then wrap in bytes. Where one operand is wide, the size that counts its rows is far from others:
// multiplied by the wrong one, its distance gives what 32 bits hold. A case of every third seed has
// a whole tile and a whole slice, which may be read in another way. Where the variant takes fewer
// rows, they lie farther apart; where its indices have 32 bits, as far as those reach, which is
// beyond 2^31 bytes; of two rows, one begins there. A case of many rows keeps them: there may be a
// way for these.
Case with_wide_gaps(Case c, const Entry& entry) {
  enum Wide { all, only_a, only_b, only_c };
  const Needs& needs = entry.variant.needs;
  const auto wide = needs.m_most < 2 ? only_b : static_cast<Wide>(c.seed % 4);
  constexpr std::int64_t many = 256, most_apart = 1 << 14;  // each row takes a page of its own
  const bool are_many = (wide == only_a || wide == only_c) && c.m >= many && c.m <= most_apart;
  const bool is_whole = !are_many && takes_whole(needs) && c.seed / 192 % 3 == 0;
  const auto choice = c.seed / 4;
  const Spread drawn = !is_whole        ? spreads[choice % spreads.size()]
                       : wide == only_b ? spreads_of_slices[choice % spreads_of_slices.size()]
                                        : spreads_of_tiles[choice % spreads_of_tiles.size()];
  const auto little = drawn.rows == 2 ? 1 : static_cast<std::int64_t>(1 + c.seed / 64 % 3);
  const std::int64_t few = is_whole ? little + (wide == only_b ? whole.m : whole.k) : little;
  const std::int64_t most = wide == only_b ? needs.k_most
                            : wide == all  ? std::min(needs.m_most, needs.k_most - few)
                                           : needs.m_most;
  const Spread spread = are_many ? Spread{c.m, (3 << 28) / c.m} : drawn;
  const std::int64_t rows = std::clamp<std::int64_t>(most, 2, spread.rows);
  const std::int64_t gap = spread.gap * ceil_div(spread.rows - 1, rows - 1);
  const std::int64_t widest = widest_within_int(c, rows + few);
  c.m = wide == only_b ? few : rows;
  c.k = wide == only_b ? rows : wide == all ? rows + few : few;
  c.n = std::max<std::int64_t>(is_whole ? whole.n + little : 1, c.n);
  if (needs.square) c.m = c.n = c.k = rows;
  const auto widen = [&](Gap& of, Wide own) {
    if (wide != all && wide != own) return;
    of.floats += gap;  // to what was drawn
    if (needs.int_indices) of.floats = std::min(of.floats, widest);
  };
  widen(c.lda, only_a), widen(c.ldb, only_b), widen(c.ldc, only_c);
  return c;
}

}  // namespace assay
