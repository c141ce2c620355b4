// CUDA's arithmetic functions for device code, and casts between bits and numbers.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

using std::fma;
using std::fmaf;
using std::isfinite;
using std::isinf;
using std::isnan;

// A number wins over a NaN; of two zeros, -0 counts as less than +0.
template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x || (x == y && std::signbit(y))) return y;
  }
  return y < x ? y : x;
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x || (x == y && std::signbit(x))) return y;
  }
  return x < y ? y : x;
}

inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
// Rounded on their own: the compiler must not fuse them with the next operation.
inline float __fmul_rn(float a, float b) {
  volatile float product = a * b;
  return product;
}
inline float __fadd_rn(float a, float b) {
  volatile float sum = a + b;
  return sum;
}

inline unsigned __float_as_uint(float f) { return std::bit_cast<unsigned>(f); }
inline float __uint_as_float(unsigned u) { return std::bit_cast<float>(u); }
inline int __float_as_int(float f) { return std::bit_cast<int>(f); }
inline float __int_as_float(int i) { return std::bit_cast<float>(i); }

inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
// Takes the reciprocal of a divisor beyond 2^126 for zero, as a GPU does.
inline float __fdividef(float a, float b) {
  const float size = std::fabs(b);
  return size > 0x1p126f && std::isfinite(b) ? a * std::copysign(0.0f, b) : a / b;
}

// All of them are defined for zero too.
constexpr int __popc(unsigned bits) { return std::popcount(bits); }
constexpr int __popcll(unsigned long long bits) { return std::popcount(bits); }
constexpr int __clz(int bits) { return std::countl_zero(static_cast<unsigned>(bits)); }
constexpr int __clzll(long long bits) {
  return std::countl_zero(static_cast<unsigned long long>(bits));
}
constexpr int __ffs(int bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}
constexpr int __ffsll(long long bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(bits)) + 1;
}
