#include "ptx/machine/halves.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ptx/machine/reals.h"

namespace ptx {
namespace {

struct Format {
  int fraction_bits, least_exponent, most_exponent;
};
constexpr Format half{10, -14, 15}, bfloat{7, -126, 127};

// `rest` is what is cut off, of `whole` parts.
bool rounds_up(std::uint64_t rest, std::uint64_t whole, bool odd, bool negative, int rounding) {
  switch (rounding) {
    case to_zero: return false;
    case downwards: return negative && rest > 0;
    case upwards: return !negative && rest > 0;
    default: return rest > whole / 2 || (rest == whole / 2 && odd);
  }
}

// The fraction is cut where the last bit of the result is, and rounded: every step is exact.
std::uint16_t encoded(double value, int rounding, const Format& format) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  const auto sign = static_cast<std::uint16_t>(negative ? 0x8000 : 0);
  const auto infinity = static_cast<std::uint16_t>(
      (format.most_exponent - format.least_exponent + 2) << format.fraction_bits);
  if (value != value) return 0x7fff;
  if (value == 0) return sign;
  if (std::isinf(value)) return sign | infinity;
  // A double so small that it lacks the leading bit is cut to nothing, whatever it holds.
  const std::uint64_t fraction = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  const int exponent = std::max(static_cast<int>(bits >> 52 & 0x7ff) - 1023, format.least_exponent);
  const int less = exponent - (static_cast<int>(bits >> 52 & 0x7ff) - 1023);
  const int cut = std::min(52 - format.fraction_bits + less, 62);
  const std::uint64_t parts = std::uint64_t{1} << cut;
  std::uint64_t whole = fraction >> cut;
  if (rounds_up(fraction & (parts - 1), parts, (whole & 1) != 0, negative, rounding)) ++whole;
  // A carry out of the fraction raises the exponent, as it should.
  whole += static_cast<std::uint64_t>(exponent - format.least_exponent) << format.fraction_bits;
  if (whole >= infinity) {
    const bool stays_finite = rounding == to_zero || (rounding == downwards && !negative) ||
                              (rounding == upwards && negative);
    return sign | static_cast<std::uint16_t>(stays_finite ? infinity - 1 : infinity);
  }
  return sign | static_cast<std::uint16_t>(whole);
}

}  // namespace

std::uint16_t half_of(double value, int rounding) { return encoded(value, rounding, half); }
std::uint16_t bfloat_of(double value, int rounding) { return encoded(value, rounding, bfloat); }

}  // namespace ptx
