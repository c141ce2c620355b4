// fill=patterned: data with structure, as people have it and as kernels take for granted. Its seed
// picks the structure.
#pragma once

#include <limits>
#include <optional>

#include "oracle/fills/narrow.h"
#include "oracle/fills/randomness.h"
#include "oracle/fills/seams.h"

namespace assay {

enum class Pattern {
  plain,
  // Of A and of B, each for itself, and some of them of C:
  zero_block,        // zeros in a block at the end of k, or everywhere but there
  lone_in_tiles,     // one element in each tile of 8, 16 or 32, or in some of them
  equal_beginnings,  // rows of A, columns of B: equal elements up to one of them, or to the end
  symmetric,         // for half of the seeds but for the sign, with zeros on the diagonal
  symmetric_corner,  // so in the first 4 to 32 rows and columns
  triangular,        // for half of the seeds with ones on the diagonal
  banded,
  diagonal,  // for half of the seeds the other one
  constant,
  periodic,       // along k, with a period of 2 to 32
  permutation,    // one element in each line along k, each at another place as far as there are any
  toeplitz,       // equal along diagonals, for half of the seeds along those across
  equal_lines,    // all rows of A, all columns of B; for half of the seeds multiples of one
  one_exception,  // lines along k of one number each, but for one element
  sparse,         // about every second, eighth or 32nd element, or a checkerboard
  pruned,         // two of each four elements along k; for half of the seeds one in about 8 to
                  // 1024, or all but that
  counting,       // 1, 2, ... 8 along k, again and again
  seams,          // about a hundred elements along k, beside places where long sums are cut
  // Of both, along k:
  opposite_slopes,  // A grows by powers of 2 where B falls, or the other way round
  parallel_slopes,  // both grow, or fall
  opposite_levels,  // A is tiny for a while where B is large, or the other way round
  levels,           // products are tiny for a while
  dominated,        // one product of each sum is far above all others
  signs,  // from here on, all elements fit a type of fewer bits; for some seeds, numbers of
          // the next four have a bit or two more, so that they just do not, or whole ones have
          // the first that does not among them; in long sums nearly all are 1, the others 0
  bytes,  // whole numbers; large ones where k is so long that their sum leaves 32 bits
  words_of_16_bits,
  bfloat16,
  tf32,
  four_bits,  // whole numbers from 8 to 15
  powers_of_two,
  one_sided,  // no sum cancels; for half of the seeds B is the transpose of A
};

// Beyond it, a sum of products of the largest bytes takes more than 31 bits, of those without a
// sign or of all; and one of signs 16 bits.
inline constexpr std::int64_t longest_sum_of_bytes = std::int64_t{1} << 17,
                              longest_sum_without_signs = 40'000,
                              longest_sum_of_signs = std::int64_t{1} << 16;

// Whether it gives A and B one structure along k.
bool is_of_both(Pattern);
// Whether all elements fit a type of fewer bits.
bool is_narrow(Pattern);
// Whether it is about which elements of A or B are 0.
bool has_zeros(Pattern);

// Where the structure of A or B ends: whoever has seen most of it may not have seen that.
enum class Exception {
  none,
  element,      // one of another value, anywhere
  other_line,   // a row or a column in which other numbers stand where not 0 does
  filled_line,  // one without any structure
  rest,         // what lies behind some place along k
  slight,       // half of the elements are a little larger or smaller
  pair,         // two neighbours, of which one is what the other one is but for the sign
};

// What has structure in an operand of a case with fill=patterned, and with which exception.
Pattern pattern_of(std::uint64_t seed, Operand);
Exception exception_of(std::uint64_t seed, Operand);

// Whether structure of two kinds is of the second one.
bool is_of_second_kind(std::uint64_t seed);

// The elements of A, B or C under it. Where both A and B repeat elements, these have few bits, so
// that the roundings of a long sum do not all go one way: then the sums are exact.
class Patterned {
 public:
  Patterned(const Case&, Operand);
  float value(std::uint64_t random, std::int64_t i, std::int64_t j) const;

 private:
  void choose_block(Choices&);
  void choose_exception(Choices&);
  float structured(std::uint64_t random, std::int64_t i, std::int64_t j) const;
  float with_exception(std::uint64_t random, std::int64_t i, std::int64_t j) const;
  float equal_to(std::int64_t i, std::int64_t j) const;
  int exponent(std::int64_t p) const;
  float narrow(std::uint64_t random, std::int64_t p, std::int64_t line) const;
  float beside_narrow(std::uint64_t random, std::int64_t line) const;
  std::int64_t place_in(std::int64_t line) const;
  bool is_last(std::int64_t p, std::int64_t line) const;
  bool is_in_runs(std::int64_t p, std::int64_t line) const;

  std::uint64_t seed_;
  Operand o_;
  std::int64_t k_, rows_, columns_;
  Pattern pattern_;
  // The block of zeros, as [begin, end) in rows and columns.
  std::int64_t rows_from_ = 0, rows_to_ = 0, columns_from_ = 0, columns_to_ = 0;
  bool inverted_ = false;  // zeros outside it; the upper triangle; falling; sparser
  bool of_ones_ = false;   // what is not 0
  Exception exception_ = Exception::none;
  std::int64_t odd_row_ = -1, odd_column_ = -1;  // -1 for all of them
  std::int64_t rest_from_ = std::numeric_limits<std::int64_t>::max();
  float little_ = 0;  // by how much some are larger or smaller
  Seams seams_;
  // Of a tile, corner or band; period; length of a level or beginning; one of how many.
  std::int64_t side_ = 1;
  int range_ = 0;  // of exponents
  std::optional<Narrow> narrow_;
};

}  // namespace assay
