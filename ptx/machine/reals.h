// What a GPU makes of a NaN: of 32 bits always the same one.
#pragma once

#include <bit>
#include <cstdint>

namespace ptx {

inline float as_gpu(float value) {
  return value == value ? value : std::bit_cast<float>(std::uint32_t{0x7fffffffu});
}
inline double as_gpu(double value) { return value; }

// How an operation rounds, and what it does besides: Op::mode and Op::flags.
enum Rounding : std::uint8_t { to_nearest, to_zero, downwards, upwards, ties_away };
enum RealFlags : std::uint16_t {
  flush_denormals = 1,
  saturate = 2,
  clamp_below = 4,  // .relu: what is less than zero becomes zero
  stays_finite = 8  // .satfinite: what is too large becomes the largest number
};

}  // namespace ptx
