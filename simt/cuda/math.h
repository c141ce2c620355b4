// Arithmetic that device code calls by names of CUDA's, and bits taken as another type.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

using std::fma;
using std::fmaf;

// Of a number and a NaN the number, of two zeros the one with the sign that counts as less or more.
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

inline float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
// Rounded by themselves: the compiler must not fuse them with what comes next.
inline float __fmul_rn(float a, float b) {
  volatile float product = a * b;
  return product;
}
inline float __fadd_rn(float a, float b) {
  volatile float sum = a + b;
  return sum;
}

inline unsigned __float_as_uint(float f) {
  return std::bit_cast<unsigned>(f);
}
inline float __uint_as_float(unsigned u) {
  return std::bit_cast<float>(u);
}
inline int __float_as_int(float f) {
  return std::bit_cast<int>(f);
}
inline float __int_as_float(int i) {
  return std::bit_cast<float>(i);
}
