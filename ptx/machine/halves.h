// Numbers of 16 bits, and what a conversion has to know.
#pragma once

#include <bit>
#include <cstdint>

#include "ptx/reader/module.h"

namespace ptx {

struct Conversion {
  Type from = Type::none, to = Type::none;
  std::uint8_t rounding = 0;  // Rounding
  std::uint8_t flags = 0;     // RealFlags
  bool to_integral = false;   // a real stays real, but loses its fraction

  std::uint64_t to_bits() const {
    return static_cast<std::uint64_t>(from) | static_cast<std::uint64_t>(to) << 8 |
           std::uint64_t{rounding} << 16 | std::uint64_t{flags} << 24 |
           std::uint64_t{to_integral} << 32;
  }
  static Conversion from_bits(std::uint64_t bits) {
    return {static_cast<Type>(bits & 0xff), static_cast<Type>(bits >> 8 & 0xff),
            static_cast<std::uint8_t>(bits >> 16), static_cast<std::uint8_t>(bits >> 24),
            (bits >> 32 & 1) != 0};
  }
};

// What setp and set compare by; 16 is added where a NaN makes it true.
enum class HalfComparison : std::uint8_t { eq, ne, lt, le, gt, ge, num, nan };

inline float float_of_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
// Scaled by a power of two, which is exact, the exponent of 5 bits becomes one of 8.
inline float float_of_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, rest = (bits & 0x7fffu) << 13;
  const float scaled = std::bit_cast<float>(rest) * 0x1p112f;
  const std::uint32_t not_finite = sign | (rest > 0x7c00u << 13 ? 0x7fffffffu : 0x7f800000u);
  return std::bit_cast<float>(rest >= 0x7c00u << 13 ? not_finite
                                                    : sign | std::bit_cast<std::uint32_t>(scaled));
}
// Numbers of 8 bits, likewise: E4M3 has no infinity, and one NaN of each sign; E5M2 is what FP16
// has in its upper half.
inline float float_of_e4m3(std::uint8_t bits) {
  const std::uint32_t sign = (bits & 0x80u) << 24, rest = bits & 0x7fu;
  const float size = std::bit_cast<float>(rest << 20) * 0x1p120f;
  return std::bit_cast<float>(sign |
                              (rest == 0x7f ? 0x7fffffffu : std::bit_cast<std::uint32_t>(size)));
}
inline float float_of_e5m2(std::uint8_t bits) {
  return float_of_half(static_cast<std::uint16_t>(bits << 8));
}
// The same, but that a NaN keeps its bits.
inline double double_of_half(std::uint16_t bits) {
  if ((bits & 0x7fff) <= 0x7c00) return float_of_half(bits);
  return std::bit_cast<double>(std::uint64_t{bits & 0x8000u} << 48 | std::uint64_t{0x7ff8} << 48 |
                               std::uint64_t{bits & 0x3ffu} << 42);
}
// Rounded once, as Rounding says.
std::uint16_t half_of(double, int rounding);
std::uint16_t bfloat_of(double, int rounding);

}  // namespace ptx
