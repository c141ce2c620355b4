// Eight words, or four of 64 bits, that are worked on at once: vectors as the compiler knows them.
#pragma once

#include <cstdint>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace ptx {

using Eight = std::uint32_t __attribute__((vector_size(32)));
using WideFour = std::uint64_t __attribute__((vector_size(32)));

template <class Vector = Eight>
inline Vector vector_at(const void* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class Vector>
inline void put_vector(void* to, Vector v) {
  std::memcpy(to, &v, sizeof v);
}
inline Eight eight(std::uint32_t value) { return Eight{} + value; }
// Four masks of 32 bits as masks of 64.
inline WideFour widened(const std::uint32_t* masks) {
  using Four = std::int32_t __attribute__((vector_size(16)));
  using SignedFour = std::int64_t __attribute__((vector_size(32)));
  return (WideFour) __builtin_convertvector(vector_at<Four>(masks), SignedFour);
}
template <class Vector>
inline bool is_zero(Vector v) {
#ifdef __AVX2__
  return _mm256_testz_si256((__m256i)v, (__m256i)v) != 0;
#else
  const WideFour w = (WideFour)v;
  return (w[0] | w[1] | w[2] | w[3]) == 0;
#endif
}

// A bit for each of eight masks, the first one lowest.
inline unsigned bits_of(Eight masks) {
#ifdef __AVX2__
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)masks));
#else
  unsigned bits = 0;
  for (unsigned i = 0; i < 8; ++i) bits |= masks[i] >> 31 << i;
  return bits;
#endif
}

}  // namespace ptx
