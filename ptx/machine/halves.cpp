#include "ptx/machine/halves.h"

#include <cmath>

#include "ptx/machine/reals.h"

namespace ptx {
namespace {

struct Format {
  int fraction_bits, least_exponent, most_exponent;
};
constexpr Format half{10, -14, 15}, bfloat{7, -126, 127};

bool rounds_up(double fraction, bool odd, bool negative, int rounding) {
  switch (rounding) {
    case to_zero: return false;
    case downwards: return negative && fraction > 0;
    case upwards: return !negative && fraction > 0;
    default: return fraction > 0.5 || (fraction == 0.5 && odd);
  }
}

// Scaled so that the last bit of the result is 1, then cut and rounded: every step is exact.
std::uint16_t encoded(double value, int rounding, const Format& format) {
  const bool negative = std::signbit(value);
  const auto sign = static_cast<std::uint16_t>(negative ? 0x8000 : 0);
  const auto infinity = static_cast<std::uint16_t>(
      (format.most_exponent - format.least_exponent + 2) << format.fraction_bits);
  if (value != value) return 0x7fff;
  value = std::fabs(value);
  if (value == 0) return sign;
  int exponent = std::isinf(value) ? format.most_exponent + 1 : std::ilogb(value);
  if (std::isinf(value)) return sign | infinity;
  if (exponent < format.least_exponent) exponent = format.least_exponent;
  const double scaled = std::ldexp(value, format.fraction_bits - exponent);
  auto whole = static_cast<std::uint64_t>(scaled);
  if (rounds_up(scaled - static_cast<double>(whole), (whole & 1) != 0, negative, rounding)) ++whole;
  // A carry out of the fraction raises the exponent, as it should.
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(exponent - format.least_exponent) << format.fraction_bits) +
      whole;
  if (bits >= infinity) {
    const bool stays_finite = rounding == to_zero || (rounding == downwards && !negative) ||
                              (rounding == upwards && negative);
    return sign | static_cast<std::uint16_t>(stays_finite ? infinity - 1 : infinity);
  }
  return sign | static_cast<std::uint16_t>(bits);
}

}  // namespace

float float_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  float value = 0;
  if (exponent == 0x1f)
    value = fraction == 0 ? INFINITY : std::bit_cast<float>(0x7fffffffu);
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(fraction), -24);
  else
    value = std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}
std::uint16_t half_of(double value, int rounding) { return encoded(value, rounding, half); }
std::uint16_t bfloat_of(double value, int rounding) { return encoded(value, rounding, bfloat); }

}  // namespace ptx
