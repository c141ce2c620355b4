// What a GPU approximates by tables (.approx, .full). The tables are not known: where it takes
// several steps these are taken too, each exact and rounded, so that the last bits differ only.
#pragma once

#include <cmath>

#include "ptx/machine/reals.h"

namespace ptx {

inline float towards_zero(double value) {
  const auto nearest = static_cast<float>(value);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? std::nextafter(nearest, 0.0f)
                                                                    : nearest;
}

// sin(a), or that of a quarter turn more. Turns are counted in a float, so that little is left of a
// large angle, and are then cut to 25 bits behind the point, so that nothing is of a small one.
template <int quarter>
float sine(float a) {
  if (!std::isfinite(a)) return passed(std::nanf(""));
  if (a == 0 && quarter == 0) return a;
  const double counted = towards_zero(static_cast<double>(a) * 0x1.45f306p-3f),
               turns = std::ldexp(std::trunc(std::ldexp(counted, 25)), -25),
               quarters = std::rint(turns * 4), angle = (turns - quarters / 4) * 6.283185307179586;
  const int at = (static_cast<int>(std::fmod(quarters, 4)) + 4 + quarter) % 4;
  const double size = at % 2 == 0 ? std::sin(angle) : std::cos(angle);
  return static_cast<float>(at < 2 ? size : 0 - size);
}

// A power of two: the exponent's fraction has 23 bits.
inline double power_of_two(double a) {
  return std::exp2(std::ldexp(std::trunc(std::ldexp(a, 23)), -23));
}

inline double hyperbolic_tangent(double a) {
  const double size = std::fabs(a);
  return size < 0x1.02p-8 ? a : size >= 8 ? std::copysign(1.0, a) : std::tanh(a);
}

// a times the reciprocal of b, both scaled if that is a denormal number; if b is too large for its
// reciprocal, the quotient is 0, save where it is `full`.
template <bool full>
float quotient(float a, float b) {
  const float size = std::fabs(b), scale = size < 0x1p-126f          ? 0x1p24f
                                           : full && size > 0x1p126f ? 0.25f
                                                                     : 1.0f;
  const float inverse = 1 / (b * scale);
  return passed(a * scale *
                (std::fabs(inverse) < 0x1p-126f ? std::copysign(0.0f, inverse) : inverse));
}

}  // namespace ptx
