// What a GPU does with a NaN, and with the zeros, where C++ leaves it open or does otherwise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ptx {

// An operand that goes through: a NaN of 32 bits becomes always the same one, of 64 bits a quiet
// one.
inline float passed(float value) {
  return value == value ? value : std::bit_cast<float>(std::uint32_t{0x7fffffffu});
}
inline double passed(double value) {
  const auto quiet = std::bit_cast<std::uint64_t>(value) | std::uint64_t{1} << 51;
  return value == value ? value : std::bit_cast<double>(quiet);
}
// What an operation leaves. Of NaNs of 64 bits the last one's named here goes through.
template <class... Operands>
float as_gpu(float value, Operands...) {
  return passed(value);
}
template <class... Operands>
double as_gpu(double value, Operands... operands) {
  ((value = operands == operands ? value : passed(operands)), ...);
  return value;
}

// min and max: a number beats a NaN, unless NaN wins, and -0 lies below +0. With the signs taken
// off both (.xorsign.abs), they are multiplied onto the result.
template <bool greatest, bool nan_wins, bool of_magnitudes>
struct Extreme {
  template <class T>
  static T of(T a, T b) {
    const bool is_negative = std::signbit(a) != std::signbit(b);
    if constexpr (of_magnitudes) a = std::fabs(a), b = std::fabs(b);
    const bool is_a =
        greatest ? a > b || (a == b && !std::signbit(a)) : a < b || (a == b && std::signbit(a));
    T result = a != a ? passed(b) : b != b ? a : is_a ? a : b;
    if constexpr (nan_wins) result = a != a || b != b ? as_gpu(a + b) : result;
    if constexpr (of_magnitudes) result = is_negative && result == result ? -result : result;
    return result;
  }
};
// Enters all forms of an instruction by their names: add(Extreme, "min.NaN").
template <class Add>
void for_each_extreme(const Add& add) {
  add(Extreme<false, false, false>{}, "min");
  add(Extreme<true, false, false>{}, "max");
  add(Extreme<false, true, false>{}, "min.NaN");
  add(Extreme<true, true, false>{}, "max.NaN");
  add(Extreme<false, false, true>{}, "min.xorsign.abs");
  add(Extreme<true, false, true>{}, "max.xorsign.abs");
  add(Extreme<false, true, true>{}, "min.NaN.xorsign.abs");
  add(Extreme<true, true, true>{}, "max.NaN.xorsign.abs");
}

// A denormal number becomes zero.
inline float flushed(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
}
inline double flushed(double v) { return v; }  // no instruction flushes these

// How an operation rounds, and what it does besides: Op::mode and Op::flags.
enum Rounding : std::uint8_t { to_nearest, to_zero, downwards, upwards, ties_away };
enum RealFlags : std::uint16_t {
  flush_denormals = 1,
  saturate = 2,
  clamp_below = 4,  // .relu: what is less than zero becomes zero
  stays_finite = 8  // .satfinite: what is too large becomes the largest number
};

}  // namespace ptx
