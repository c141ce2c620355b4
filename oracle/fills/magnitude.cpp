#include "oracle/fills/magnitude.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr float largest = std::numeric_limits<float>::max();

int bits_of(std::int64_t k) { return std::bit_width(static_cast<std::uint64_t>(k)); }
int exponent_of(float scalar) { return scalar == 0 ? 0 : std::ilogb(scalar); }

// Exponents [least, most]; empty where least > most.
struct Range {
  int least, most;
};
Range both(Range x, Range y) { return {std::max(x.least, y.least), std::min(x.most, y.most)}; }
// Far from where precision is lost, and from where a sum of k overflows.
constexpr int least_exponent = -100, most_exponent = 125;

// Of an operand of the product, so that alpha times it is an ordinary number too.
Range range_of_factor(int alpha) {
  return both({least_exponent, most_exponent}, {least_exponent - alpha, most_exponent - alpha});
}
// Of a product of two such, so that sums of k are ordinary numbers before and after alpha.
Range range_of_product(const Case& c, int alpha) {
  const int most = most_exponent - bits_of(c.k);
  const Range factor = range_of_factor(alpha);
  return both(both({least_exponent, most}, {least_exponent - alpha, most - alpha}),
              {2 * factor.least, 2 * factor.most});
}

// Beside the largest float, now and then so near that rounding to fewer bits overflows.
float enormous(std::uint64_t random) {
  const float far = (1 + static_cast<float>(random >> 8 & 0x7fffff) * 0x1p-23f) * 0x1p127f;
  const float near = largest - static_cast<float>(random >> 8 & 1023) * 0x1p104f;
  return sign(random) * (random % 8 == 0 ? near : far);
}

}  // namespace

Exponents balancing_exponents(const Case& c) {
  const int alpha = exponent_of(c.alpha), beta = exponent_of(c.beta);
  Choices choices(c.seed);
  const Range product = range_of_product(c, alpha), factor = range_of_factor(alpha);
  const Range of_product{product.least + alpha, product.most + alpha};  // the term alpha * A * B
  const Range of_c = c.beta == 0 ? of_product : Range{beta - 115, beta + most_exponent};
  Range terms = both(of_product, of_c);
  if (terms.least > terms.most)  // as near to each other as they come
    terms.least = terms.most = of_c.most < of_product.least ? of_product.least : of_product.most;
  const int any = static_cast<int>(choices.from(terms.least, terms.most));
  const int term = choices.below(2) == 0 ? std::clamp(0, terms.least, terms.most) : any;
  const int of_both = term - alpha;
  const Range of_a = both(factor, {of_both - factor.most, of_both - factor.least});
  const int a = static_cast<int>(choices.from(of_a.least, of_a.most));
  return {a, of_both - a, std::clamp(term - beta, -115, most_exponent)};
}

LargestIn largest_in(std::uint64_t seed, float alpha) {
  if (exponent_of(alpha) < 0) return LargestIn::terms;
  return static_cast<LargestIn>(Choices(seed).below(4));
}

Largest::Largest(const Case& c, Operand o) : c_(c), o_(o), where_(largest_in(c.seed, c.alpha)) {
  Choices choices(scramble(c.seed));  // those that follow the first one of `largest_in`
  of_rows_ = choices.below(2) == 0;
  partner_ = static_cast<int>(choices.from(-95, -14));
}

// One product of each sum counts. Of a row of A (a column of B) its factor is such that the result
// is beside the largest float, or far above it, or ordinary.
float Largest::part_of_product(std::uint64_t random, std::int64_t i, std::int64_t j) const {
  const bool chooses = (o_ == Operand::a) == of_rows_;
  const float share = std::abs(uniform(random));
  if (!chooses) return std::ldexp(sign(random) * (0.96f + 0.0399f * share), 64);
  const std::int64_t line = o_ == Operand::a ? i : j, p = o_ == Operand::a ? j : i;
  const std::uint64_t choice = mix(c_.seed, o_, line, -5);
  const bool is_ordinary = choice % 4 == 1;
  const int line_exponent = is_ordinary ? 44 : 64;
  if (p != static_cast<std::int64_t>(choice >> 8) % c_.k)  // out of sight of that product
    return std::ldexp(uniform(random), line_exponent - 28 - bits_of(c_.k));
  const bool is_infinite = choice % 4 == 0 && where_ == LargestIn::product;
  const float factor = is_infinite ? 1.05f + share : 0.95f + 0.04f * share;
  return std::ldexp(sign(random) * factor, line_exponent);
}

// beta * C beside the largest float, or far above it where beta allows it; or at half of it.
float Largest::part_of_c(std::uint64_t random) const {
  const double beta = std::abs(double{c_.beta}), share = std::abs(uniform(random));
  if (where_ == LargestIn::terms) {
    const double half = (0.9 + 0.09 * share) * 0x1p128 / std::max(1.0, 2 * beta);
    return sign(random) * static_cast<float>(half);
  }
  const double above = (1.05 + share) * 0x1p128 / beta;
  const double below = (0.9 + 0.09 * share) * 0x1p128 / std::max(1.0, beta);
  return sign(random) * static_cast<float>(random % 4 == 0 && above < largest ? above : below);
}

float Largest::value(std::uint64_t random, std::int64_t i, std::int64_t j) const {
  // Where the products are ordinary, or small beside C.
  const int product = where_ == LargestIn::c         ? 80
                      : where_ == LargestIn::product ? 108
                                                     : 127 + partner_;
  const auto before_alpha = [&](float x) { return std::ldexp(x, -exponent_of(c_.alpha)); };
  if (o_ == Operand::c) {
    if (where_ == LargestIn::c || where_ == LargestIn::terms) return part_of_c(random);
    return std::ldexp(uniform(random), std::clamp(product - exponent_of(c_.beta), -120, 120));
  }
  switch (where_) {
    case LargestIn::terms: return part_of_product(random, i, j);
    case LargestIn::product: {
      const float factor = part_of_product(random, i, j);
      return (o_ == Operand::a) == of_rows_ ? before_alpha(factor) : factor;
    }
    case LargestIn::c: return std::ldexp(uniform(random), product / 2);
    case LargestIn::a:
    case LargestIn::b: break;
  }
  return (o_ == Operand::a) == (where_ == LargestIn::a) ? before_alpha(enormous(random))
                                                        : std::ldexp(uniform(random), partner_);
}

}  // namespace assay
