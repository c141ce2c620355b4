// The kinds of problems that are drawn, by their sizes: each shows mistakes that the others hide.
#pragma once

#include "kernels/gemm.h"
#include "properties/draws/dice.h"

namespace assay {

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;
};

inline constexpr std::int64_t longest_size = 1'000'000;

// Beside the edges of tiles, primes, beside powers of 2, up to 1100; also 1 and 0.
Sizes beside_edges(Dice&, const Tile&);
// Whole tiles in all dimensions, or in one of them only: many kernels have a path of their own.
Sizes of_whole_tiles(Dice&, const Tile&);
// A power of 2 in every dimension, up to 256.
Sizes of_powers_of_two(Dice&, const Tile&);
// 1 in one dimension or two.
Sizes of_vectors(Dice&, const Tile&);
// k up to a million, m and n within a tile: a path for long sums, or a counter that overflows.
Sizes of_long_k(Dice&, const Tile&);
// m or n up to a million, the others small: a table that is too short, a grid that is too small.
Sizes of_long_side(Dice&, const Tile&);
// Grids of all shapes, of 2 to 12 tiles and of more than that, and k of up to 3 slices: the order
// of tiles, their last groups, and what a block keeps from one tile to the next.
Sizes of_few_tiles(Dice&, const Tile&);
Sizes of_many_tiles(Dice&, const Tile&);

}  // namespace assay
