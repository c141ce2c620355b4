// Multiply-adds of floats in which numbers below the smallest normal one take part. A processor
// takes a hundred times as long for such; by way of doubles it goes some seven times faster.
#pragma once

#include <bit>
#include <cstdint>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace assay {

// The same as std::fmaf, to the bit but for those of a NaN. The product is exact, and the sum is
// rounded to odd: what is lost of it still shows on which side of a tie it lies, when it is rounded
// to a float.
inline float fused_in_double(float a, float b, float c) {
  const double product = double{a} * double{b}, other = double{c};
  const double sum = product + other;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (other - part);
  const auto bits = std::bit_cast<std::int64_t>(sum);
  const std::int64_t outwards = (std::bit_cast<std::int64_t>(lost) ^ bits) < 0 ? -1 : 1;
  const bool is_inexact = lost < 0 || lost > 0;  // and no NaN, as that of an infinite sum
  const std::int64_t step = is_inexact && (bits & 1) == 0 ? outwards : 0;
  return static_cast<float>(std::bit_cast<double>(bits + step));
}

// Whether this thread has met any since it was last asked, as far as the processor tells.
inline bool met_denormals() {
#ifdef __SSE2__
  constexpr unsigned denormal_operand = 1 << 1, underflow = 1 << 4;
  const unsigned state = _mm_getcsr(), met = state & (denormal_operand | underflow);
  if (met != 0) _mm_setcsr(state & ~met);
  return met != 0;
#else
  return false;
#endif
}

}  // namespace assay
