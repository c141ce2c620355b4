// fill=patterned: data with structure, as people have it and as kernels take for granted. Its seed
// picks the structure.
#pragma once

#include "oracle/fills/randomness.h"

namespace assay {

enum class Pattern {
  plain,
  // Of A and of B, each for itself:
  zero_block,        // zeros in a block at the end of k, or everywhere but there
  lone_in_tiles,     // one element in each tile of 8, 16 or 32, or in some of them
  equal_beginnings,  // rows of A, columns of B: equal elements up to one of them, or to the end
  symmetric,
  symmetric_corner,  // in the first 4 to 32 rows and columns
  triangular,
  banded,
  diagonal,
  constant,
  periodic,       // along k, with a period of 2 to 32
  permutation,    // one element in each line along k, each at another place as far as there are any
  toeplitz,       // equal along diagonals
  equal_lines,    // all rows of A, all columns of B
  one_exception,  // lines along k of one number each, but for one element
  // Of both, along k:
  opposite_slopes,  // A grows by powers of 2 where B falls, or the other way round
  parallel_slopes,  // both grow, or fall
  opposite_levels,  // A is tiny for a while where B is large, or the other way round
  levels,           // products are tiny for a while
  dominated,        // one product of each sum is far above all others
  narrow,           // all elements fit a type of fewer bits: signs, short whole numbers, bfloat16
  one_sided,        // no sum cancels
};

// Whether it gives A and B one structure along k.
bool is_of_both(Pattern);

// What has structure in an operand of a case with fill=patterned.
Pattern pattern_of(std::uint64_t seed, Operand);

// The elements of A, B or C under it. Where both A and B repeat elements, these have few bits, so
// that the roundings of a long sum do not all go one way: then the sums are exact.
class Patterned {
 public:
  Patterned(const Case&, Operand);
  float value(std::uint64_t random, std::int64_t i, std::int64_t j) const;

 private:
  void choose_block(Choices&);
  float structured(std::uint64_t random, std::int64_t i, std::int64_t j) const;
  float equal_to(std::int64_t i, std::int64_t j) const;
  int exponent(std::int64_t p) const;
  std::int64_t place_in(std::int64_t line) const;

  std::uint64_t seed_;
  Operand o_;
  std::int64_t k_, rows_, columns_;
  Pattern pattern_;
  // The block of zeros, as [begin, end) in rows and columns.
  std::int64_t rows_from_ = 0, rows_to_ = 0, columns_from_ = 0, columns_to_ = 0;
  bool inverted_ = false;  // zeros outside it; the upper triangle; falling; sparser
  // Of a tile, corner or band; period; length of a level or beginning; bits of a narrow type.
  std::int64_t side_ = 1;
  int range_ = 0;  // of exponents
};

}  // namespace assay
