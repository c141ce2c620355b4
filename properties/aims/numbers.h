// Cases aimed by numbers that no comparison shows: those that stand in the source, the lengths of
// the kernel's own arrays, and those at which 16 bits or a float no longer count.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gemm.h"
#include "kernels/registry.h"
#include "oracle/case.h"
#include "properties/draws/cost.h"

namespace assay {

// Grids of that many tiles, in a row and in a column; and of more slices of k, where it is a number
// that a count may be cut to.
std::vector<Case> cases_of_tiles(const std::vector<std::int64_t>& numbers, const Tile&);

// Where the sizes of a problem look up a cell of a table, one of many may be wrong: all small sizes
// of C, and all magnitudes of sizes, with sums that are short and long.
std::vector<Case> cases_of_cells();

// A workspace may hold several results, or an operand: sizes of which a few times the product just
// fits into an array of that length, or does not, at each of these k or one more.
std::vector<Case> cases_at_length(std::int64_t bytes, const std::vector<std::int64_t>& all_k);

// Among many products, one that is left out is within the bound: here all are 0 but for some beside
// places where such a sum may be cut, and the first and the last one. Where the arithmetic rounds
// what it multiplies, the last one alone is left.
Case lone_products(std::int64_t k, Arithmetic);
// With sums somewhat longer than the greatest of these numbers, taken for products or for slices:
// as long as the machine takes little time for.
std::vector<Case> lone_products_of(const std::vector<std::int64_t>& numbers, const Entry&);
// Whatever a source holds: a k of each number of bits up to 24, where that takes about a second.
// For what goes by its data, sums of bytes without a sign that leave 32 bits, of ones that leave 16
// or 21, and of elements of which half are 0.
std::vector<Case> cases_of_long_sums(const Entry&, const Effort&);

// More tiles in a row than 16 bits count, more slices of four in k (longer ones take the CPU
// executor many seconds), and a k that leaves 32 bits where it is multiplied by 128, and 24 bits.
std::vector<Case> cases_beyond_16_bits(const Tile&, const Entry&);

// For kernels that divide by a multiplication: sizes at which the upper half of a product with a
// reciprocal of 32 bits that was rounded up is no quotient, of elements or of tiles; of elements
// also at each of these k.
std::vector<Case> cases_beyond_reciprocals(const Tile&, const std::vector<std::int64_t>& all_k);

// For kernels that work in bytes: a sum of them that leaves 32 bits.
Case case_beyond_sums_of_bytes();
// For kernels that make whole numbers of floats: sums of such that leave 32 bits, the longer the
// smaller they are.
std::vector<Case> cases_beyond_sums_of_ints();

// For kernels that make floats of whole numbers: sizes beside 2^24, and grids in which the number
// of a tile times the reciprocal of their width is rounded to the row before.
std::vector<Case> cases_beyond_floats(const Tile&);

}  // namespace assay
