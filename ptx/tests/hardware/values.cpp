#include "ptx/tests/hardware/values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/scramble.h"

namespace ptx::hardware {
namespace {

using std::uint64_t;

struct Format {
  int fraction, exponent;
  uint64_t sign() const { return uint64_t{1} << (fraction + exponent); }
  uint64_t infinity() const { return ((uint64_t{1} << exponent) - 1) << fraction; }
  int bias() const { return (1 << (exponent - 1)) - 1; }
};

Format format_of(char kind) {
  switch (kind) {
    case 'f': return {23, 8};
    case 'd': return {52, 11};
    case 'b':
    case 'B': return {7, 8};
    default: return {10, 5};
  }
}
bool is_pair(char kind) { return kind == 'H' || kind == 'B'; }

class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(assay::scramble(seed)) {}
  uint64_t bits() { return state_ = assay::scramble(state_ + 0x9e3779b97f4a7c15u); }
  uint64_t below(uint64_t n) { return (bits() >> 20) % n; }
  bool one_in(uint64_t n) { return below(n) == 0; }

  uint64_t real(const Format& f) {
    const uint64_t sign = one_in(2) ? f.sign() : 0, one = uint64_t{1} << f.fraction;
    const auto exponent = [&](int e) {
      return static_cast<uint64_t>(std::clamp(e + f.bias(), 0, 2 * f.bias())) << f.fraction;
    };
    switch (below(8)) {
      case 0: {
        const uint64_t special[] = {0,
                                    1,
                                    one - 1,
                                    one,
                                    one + 1,
                                    f.infinity() - 1,
                                    f.infinity(),
                                    f.infinity() | one >> 1,          // a quiet NaN
                                    f.infinity() | 1,                 // a signalling one
                                    f.infinity() | bits() % one | 1,  // with some payload
                                    f.sign() - 1,
                                    exponent(0),
                                    exponent(0) - 1,
                                    exponent(-1),
                                    exponent(f.fraction),
                                    exponent(f.fraction + 1) + 1};
        return sign | special[below(std::size(special))];
      }
      case 1: return sign | bits() % one;                     // denormal
      case 2: return sign | (bits() % one + one * below(4));  // or nearly
      case 3: return bits() % (2 * f.sign());                 // whatever
      case 4: return sign | exponent(static_cast<int>(below(68)) - 3) | bits() % one;
      case 5: {  // half of a whole number, or close to it
        const double half = static_cast<double>(below(1u << below(18))) + 0.5;
        return sign | nudged(encoded(half, f));
      }
      default: {  // few bits, so that results are exact or ties
        const int kept = static_cast<int>(below(static_cast<uint64_t>(f.fraction)));
        return sign | exponent(static_cast<int>(below(24)) - 12) | (bits() % one >> kept << kept);
      }
    }
  }
  // One that has to do with another: equal to it or beside it, or such that what an operation makes
  // of both lies beside a bound.
  uint64_t related(const Format& f, uint64_t other) {
    const double a = decoded(other, f), least = std::ldexp(1.0, 1 - f.bias()),
                 most = std::ldexp(1.0, f.bias());
    switch (below(6)) {
      case 0: return other;
      case 1: return other ^ f.sign();
      case 2: return nudged(other ^ (one_in(2) ? f.sign() : 0));
      case 3: return nudged(encoded(least / a, f));  // the product is the least normal number
      case 4: return nudged(encoded((one_in(2) ? least : 2 * most) * a, f));  // the quotient is
      default: return nudged(encoded(2 * most / a, f));
    }
  }
  uint64_t integer(int width) {
    const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    switch (below(4)) {
      case 0: {
        const uint64_t power = uint64_t{1} << below(static_cast<uint64_t>(width));
        const uint64_t special[] = {0, 1, all, all >> 1, (all >> 1) + 1, power, power - 1, ~power};
        return special[below(std::size(special))] & all;
      }
      case 1: return bits() & all;
      default: {
        const uint64_t some = (bits() & all) >> below(static_cast<uint64_t>(width));
        return (one_in(2) ? some : ~some) & all;
      }
    }
  }
  uint64_t count() {
    switch (below(8)) {
      case 0: return bits() & 0xffffffff;
      case 1: return bits() & 0x1fff;
      default: return below(70);
    }
  }

  static double decoded(uint64_t bits, const Format& f) {
    const uint64_t magnitude = bits & (f.sign() - 1), one = uint64_t{1} << f.fraction;
    const int e = static_cast<int>(magnitude >> f.fraction);
    const double fraction = static_cast<double>(magnitude % one + (e > 0 ? one : 0));
    const double value = std::ldexp(fraction, std::max(e, 1) - f.bias() - f.fraction);
    return (bits & f.sign()) != 0 ? -value : value;
  }
  // Rounded towards zero; what is too large becomes infinite.
  static uint64_t encoded(double value, const Format& f) {
    const uint64_t sign = std::signbit(value) ? f.sign() : 0;
    value = std::fabs(value);
    if (!(value < std::ldexp(1.0, f.bias()) * 2)) return sign | f.infinity();
    if (value == 0) return sign;
    const int e = std::max(std::ilogb(value), 1 - f.bias());
    const auto whole = static_cast<uint64_t>(std::ldexp(value, f.fraction - e));
    return sign | (whole + (static_cast<uint64_t>(e + f.bias() - 1) << f.fraction));
  }

 private:
  uint64_t nudged(uint64_t bits) { return bits + below(5) - 2; }

  uint64_t state_;
};

uint64_t draw_value(Draw& draw, char kind, const uint64_t* other) {
  const int width = bits_of_kind(kind);
  if (is_real_kind(kind)) {
    const Format f = format_of(kind);
    const uint64_t all = f.sign() * 2 - 1;
    const auto one = [&](int shift) {
      const uint64_t value = other != nullptr && draw.one_in(3)
                                 ? draw.related(f, *other >> shift & all)
                                 : draw.real(f);
      return (value & all) << shift;
    };
    return is_pair(kind) ? one(0) | one(16) : one(0);
  }
  if (kind == 'n') return draw.count();
  return other != nullptr && draw.one_in(8) ? *other : draw.integer(width);
}

}  // namespace

int bits_of_kind(char kind) {
  switch (kind) {
    case 'p': return 1;
    case 'q': return 8;
    case 'h':
    case 'b':
    case 'w': return 16;
    case 'd':
    case 'y': return 64;
    default: return 32;
  }
}
bool is_real_kind(char kind) {
  return kind == 'f' || kind == 'd' || kind == 'h' || kind == 'b' || is_pair(kind);
}

bool is_nan(char kind, uint64_t bits) {
  if (!is_real_kind(kind)) return false;
  const Format f = format_of(kind);
  const auto is_one = [&](uint64_t value) { return (value & (f.sign() - 1)) > f.infinity(); };
  return is_one(bits) || (is_pair(kind) && is_one(bits >> 16));
}

uint64_t distance(char kind, uint64_t a, uint64_t b) {
  if (!is_real_kind(kind) || is_nan(kind, a) || is_nan(kind, b)) return 0;
  const uint64_t sign = format_of(kind).sign();
  const auto place = [&](uint64_t bits) {
    const uint64_t size = bits & (sign - 1);
    return (bits & sign) != 0 ? sign - size : sign + size;
  };
  const auto of_one = [&](int shift) {
    const uint64_t first = place(a >> shift), second = place(b >> shift);
    return std::max(first, second) - std::min(first, second);
  };
  return is_pair(kind) ? std::max(of_one(0), of_one(16)) : of_one(0);
}

std::vector<uint64_t> draw_operands(const std::string& kinds, uint64_t seed, std::size_t count) {
  std::vector<uint64_t> all(most_operands * count);
  Draw draw(seed);
  uint64_t ballot = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 32 == 0)  // predicates agree within some warps
      ballot = draw.one_in(4) ? 0 : draw.one_in(3) ? ~uint64_t{0} : draw.bits();
    for (std::size_t n = 0; n < kinds.size(); ++n) {
      const uint64_t* const other =
          n > 0 && kinds[n - 1] == kinds[n] ? &all[(n - 1) * count + i] : nullptr;
      all[n * count + i] =
          kinds[n] == 'p' ? ballot >> (i + n) % 32 & 1 : draw_value(draw, kinds[n], other);
    }
    // A third operand that takes away the product of two others, or nearly.
    if (kinds.size() == 3 && is_real_kind(kinds[0]) && kinds[2] == kinds[0] && !is_pair(kinds[0]) &&
        draw.one_in(4)) {
      const Format f = format_of(kinds[0]);
      const double product = Draw::decoded(all[i], f) * Draw::decoded(all[count + i], f);
      all[2 * count + i] = (Draw::encoded(-product, f) + draw.below(3) - 1) & (f.sign() * 2 - 1);
    }
  }
  return all;
}

}  // namespace ptx::hardware
