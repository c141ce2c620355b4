#include "properties/draws/sizes.h"

#include <algorithm>

#include "properties/fitting.h"

namespace assay {
namespace {

// The sides that kernels usually have, where a variant declares none.
int side_of(Dice& dice, int declared) {
  return declared > 1 ? declared : dice.of({8, 16, 32, 64, 128});
}
Tile supposed(Dice& dice, const Tile& tile) {
  return {side_of(dice, tile.m), side_of(dice, tile.n), tile.k > 1 ? tile.k : dice.of({8, 16, 32})};
}

std::int64_t beside_edge(Dice& dice, int tile) {
  static const std::vector<std::int64_t> primes = {2,  3,  5,  7,  13,  17,  31,
                                                   37, 61, 67, 97, 127, 131, 257};
  static const std::vector<std::int64_t> beside_powers = {7,  8,  9,  15,  16,  31,  32, 33,
                                                          63, 64, 65, 127, 128, 129, 255};
  const std::int64_t t = tile, which = dice.between(1, 21);
  if (which <= 8) {
    return std::max<std::int64_t>(
        1, dice.of({t - 1, t, t + 1, t / 2 + 1, 2 * t - 1, 2 * t, 2 * t + 1, 3 * t, 3 * t + 1}));
  }
  if (which <= 12) return dice.of(primes);
  if (which <= 15) return dice.of(beside_powers);
  if (which <= 18) return dice.between(2, 99);
  if (which == 19) return dice.between(258, 1100);
  return which - 20;  // 0 or 1
}

// As it is, or beside a power of 2, or beside a multiple of 256 or 1024.
std::int64_t often_round(Dice& dice, std::int64_t size) {
  const std::int64_t off = dice.between(-1, 1);
  switch (dice.between(1, 4)) {
    case 1:
      return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size))) + off;
    case 2: return round_up(size, size < 2048 ? 256 : 1024) + off;
    default: return size;
  }
}

// A long size: half of them where a path for long problems usually begins.
std::int64_t long_size(Dice& dice) {
  return often_round(
      dice, dice.one_in(2) ? dice.log_between(2048, 20000) : dice.log_between(1101, longest_size));
}

// `count` pieces of `piece`, the last of them whole or cut off.
std::int64_t ragged(Dice& dice, std::int64_t count, int piece) {
  const std::int64_t whole = piece, last = dice.of({whole, dice.between(1, whole), 1L});
  return (count - 1) * whole + last;
}

Sizes of_tiles(Dice& dice, const Tile& declared, std::int64_t least, std::int64_t most) {
  const Tile tile = supposed(dice, declared);
  const std::int64_t tiles = dice.log_between(least, most);
  const std::int64_t down =
      dice.one_in(5) ? 1 : dice.log_between(2, std::max<std::int64_t>(2, tiles / 2));
  const std::int64_t across = (tiles + down - 1) / down;
  const bool turned = dice.one_in(2);
  return {ragged(dice, turned ? across : down, tile.m),
          ragged(dice, turned ? down : across, tile.n),
          ragged(dice, dice.of({1, 1, 2, 3}), tile.k)};
}

}  // namespace

Sizes beside_edges(Dice& dice, const Tile& tile) {
  return {beside_edge(dice, tile.m), beside_edge(dice, tile.n), beside_edge(dice, tile.k)};
}

Sizes of_whole_tiles(Dice& dice, const Tile& declared) {
  Tile tile = supposed(dice, declared);
  if (dice.one_in(3)) tile.m = tile.n = dice.of({32, 64, 128});  // as a path of its own may ask for
  Sizes sizes = beside_edges(dice, declared);
  const std::int64_t only = dice.between(0, 5);  // or all, from 3 on
  if (only == 0 || only >= 3) sizes.m = std::int64_t{tile.m} * dice.between(1, 2);
  if (only == 1 || only >= 3) sizes.n = std::int64_t{tile.n} * dice.between(1, 2);
  if (only == 2 || only >= 3)
    sizes.k = round_up(std::max<std::int64_t>(1, sizes.k), dice.of({tile.k, tile.k, 8, 4}));
  return sizes;
}

Sizes of_powers_of_two(Dice& dice, const Tile&) {
  const auto power = [&] { return std::int64_t{1} << dice.between(0, 8); };
  const std::int64_t m = power(), n = power();
  return {m, n, power()};
}

Sizes of_vectors(Dice& dice, const Tile& tile) {
  Sizes sizes = beside_edges(dice, tile);
  const std::int64_t ones = dice.between(1, 6);  // every choice of one dimension or two
  if (ones & 1) sizes.m = 1;
  if (ones & 2) sizes.n = 1;
  if (ones & 4) sizes.k = 1;
  return sizes;
}

Sizes of_long_k(Dice& dice, const Tile& declared) {
  const Tile tile = supposed(dice, declared);
  Sizes sizes{dice.between(1, 3), dice.between(1, 3), long_size(dice)};
  if (dice.one_in(4)) sizes.m = dice.between(1, tile.m + 1);
  if (dice.one_in(4)) sizes.n = dice.between(1, tile.n + 1);
  return sizes;
}

Sizes of_long_side(Dice& dice, const Tile& declared) {
  const Tile tile = supposed(dice, declared);
  Sizes sizes{long_size(dice), dice.between(1, 4), dice.between(1, 4)};
  if (dice.one_in(3)) sizes.n = 1;
  if (dice.one_in(4)) sizes.k = dice.between(1, 2 * tile.k + 1);
  if (dice.one_in(2)) std::swap(sizes.m, sizes.n);
  return sizes;
}

Sizes of_few_tiles(Dice& dice, const Tile& tile) { return of_tiles(dice, tile, 2, 12); }
Sizes of_many_tiles(Dice& dice, const Tile& tile) { return of_tiles(dice, tile, 13, 400); }

}  // namespace assay
