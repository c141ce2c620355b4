// Floats of 8 bits, as a test writes them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>

namespace ptx::tests {

// A whole number that its fraction holds; the other bits but the sign are the exponent.
inline std::uint8_t real_of_eight_bits(int value, int fraction) {
  if (value == 0) return 0;
  const int size = std::abs(value), exponent = std::bit_width(static_cast<unsigned>(size)) - 1,
            bias = (1 << (6 - fraction)) - 1;
  const int bits =
      (exponent + bias) << fraction | ((size << fraction >> exponent) - (1 << fraction));
  return static_cast<std::uint8_t>(bits | (value < 0 ? 0x80 : 0));
}

}  // namespace ptx::tests
