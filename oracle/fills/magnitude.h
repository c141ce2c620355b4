// fill=balanced and fill=largest: data of a magnitude that follows from the scalars.
#pragma once

#include "oracle/fills/randomness.h"

namespace assay {

// The powers of 2 that bring alpha * A * B and beta * C to one magnitude, however large or small
// the scalars are, as far as floats allow. Nothing overflows on a right way to the result, and
// nothing that counts underflows: alpha may be applied to A, to B, to each product or to the sum.
struct Exponents {
  int a = 0, b = 0, c = 0;
};
Exponents balancing_exponents(const Case&);

// Where fill=largest has elements or results beside the largest float. `terms`: in A B and in C, of
// which alpha and beta make half as much, so that their sum is a float, and A B + C or A B - C may
// be none. That is for an alpha of less than 1, the others are for the others.
enum class LargestIn { a, b, product, c, terms };
LargestIn largest_in(std::uint64_t seed, float alpha);

// Elements beside the largest float. The seed picks where it counts: an element of A or of B, with
// a partner that makes the product ordinary; the one product that a sum consists of; C. All but C
// count with alpha, a power of 2: a sum may be ordinary and the result infinite. A result is
// ordinary, beside the largest float, or infinite in every order.
class Largest {
 public:
  Largest(const Case&, Operand);
  float value(std::uint64_t random, std::int64_t i, std::int64_t j) const;

 private:
  float part_of_product(std::uint64_t random, std::int64_t i, std::int64_t j) const;
  float part_of_c(std::uint64_t random) const;

  const Case& c_;
  Operand o_;
  LargestIn where_;
  bool of_rows_;  // of A, else columns of B
  int partner_;   // the exponent of what an element beside the largest float is multiplied by
};

}  // namespace assay
