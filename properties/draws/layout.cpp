#include "properties/draws/layout.h"

#include <algorithm>

#include "properties/fitting.h"

namespace assay {
namespace {

// The smallest distance, of those that lie `off` from a multiple of `unit`, that a row fits into.
std::int64_t beside_multiple(std::int64_t row, std::int64_t unit, std::int64_t off) {
  return (std::max<std::int64_t>(1, row - off) + unit - 1) / unit * unit + off;
}

std::int64_t distance_of(Dice& dice, std::int64_t row, const Case& c,
                         const std::vector<std::int64_t>& hints) {
  if (!hints.empty() && dice.one_in(4)) {
    const std::int64_t hint = std::max<std::int64_t>(1, dice.of(hints));
    return beside_multiple(row, hint, dice.of({0, 0, 0, -1, 1}));
  }
  const std::int64_t way = dice.between(1, 20);
  if (way <= 7) return row;
  if (way <= 16) return row + dice.of({1, 2, 3, 4, 5, 8, 16, 64});
  if (way == 17) return std::max(row, dice.of({c.m, c.n, c.k}));
  const std::int64_t unit = dice.of({64, 128, 256, 256, 512, 1024, 2048});
  const std::int64_t power =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(row + 1)));
  return beside_multiple(row, way == 18 ? power : unit, dice.of({0, 0, 0, -1, 1}));
}

void make_distances_equal(Case& c) {
  const std::int64_t distance =
      std::max({c.k + c.lda.floats, c.n + c.ldb.floats, c.n + c.ldc.floats});
  c.lda.floats = distance - c.k;
  c.ldb.floats = c.ldc.floats = distance - c.n;
}

void align_all(Case& c) {
  const auto align = [](Gap& gap, std::int64_t row) {
    gap.floats = (row + gap.floats + 3) / 4 * 4 - row;
  };
  align(c.lda, c.k), align(c.ldb, c.n), align(c.ldc, c.n);
  c.offset = {};
}

}  // namespace

void draw_layout(Dice& dice, Case& c, const std::vector<std::int64_t>& hints) {
  c.lda.floats = distance_of(dice, c.k, c, hints) - c.k;
  c.ldb.floats = distance_of(dice, c.n, c, hints) - c.n;
  c.ldc.floats = distance_of(dice, c.n, c, hints) - c.n;
  for (int& floats : c.offset.floats) floats = static_cast<int>(dice.between(0, 3));
  const std::int64_t way = dice.between(1, 16);
  if (way == 1) make_distances_equal(c);
  if (way >= 14) align_all(c);  // many kernels have a path of their own
}

void make_tidy(Dice& dice, Case& c) {
  c.m = round_up(c.m, 32), c.n = round_up(c.n, 32);
  if (dice.one_in(2)) c.k = round_up(dice.between(1, 40), 4);
  const auto multiple = [&](std::int64_t row) {
    return beside_multiple(row, 32, 0) + dice.of<std::int64_t>({0, 0, 32}) - row;
  };
  c.lda.floats = multiple(c.k), c.ldb.floats = multiple(c.n), c.ldc.floats = multiple(c.n);
  c.offset = {};
}

}  // namespace assay
