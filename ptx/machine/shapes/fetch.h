// Moves what the lanes of a shape load into a slot.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

#include "ptx/machine/lanes.h"
#include "ptx/machine/shapes/eight.h"
#include "ptx/machine/shapes/shape.h"

namespace ptx {

// Of each active lane, what lies at its offset from `from`.
template <class T>
inline void fetch_each(const Warp& w, const Shape& s, const std::byte* from, stored<T>* to) {
  const auto value = [&](int lane) {
    T v;
    std::memcpy(&v, from + s.offset[lane], sizeof v);
    return static_cast<stored<T>>(v);
  };
  if (w.mask == all_lanes) {
    for (int i = 0; i < warp_size; ++i) to[i] = value(i);
  } else {
    for (std::uint32_t left = w.mask; left != 0; left &= left - 1)
      to[std::countr_zero(left)] = value(std::countr_zero(left));
  }
}

#ifdef __AVX2__
inline __m256i eight_of(const void* from) {
  return _mm256_load_si256(static_cast<const __m256i*>(from));
}
// Lanes 8 * n to 8 * n + 7 of a slot become these, where they are active.
inline void put_eight(const Warp& w, int n, __m256i values, std::uint32_t* to) {
  if (w.mask != all_lanes)
    values = _mm256_blendv_epi8(eight_of(to + 8 * n), values, eight_of(w.lane_masks + 8 * n));
  _mm256_store_si256(reinterpret_cast<__m256i*>(to + 8 * n), values);
}

// A word for each lane, from places that are far apart.
inline void gather_words(const Warp& w, const Shape& s, const std::byte* from, std::uint32_t* to) {
  const auto gathered = [&](int n) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(from), eight_of(s.offset + 8 * n),
                                  1);
  };
  for (int n = 0; n < 2; ++n) {
    const __m256i low = gathered(n);
    put_eight(w, n, low, to);
    put_eight(w, n + 2, s.repeats ? low : gathered(n + 2), to);
  }
}
// A word for each lane. Reads nothing that no lane asks for.
inline void fetch_words(const Warp& w, const Shape& s, const std::byte* from, std::uint32_t* to) {
  if (w.mask == all_lanes && s.is_row) {
    for (int n = 0; n < 4; ++n)
      put_eight(w, n, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + n), to);
    return;
  }
  if (s.span == sizeof(std::uint32_t)) {  // the same for all
    const __m256i word = _mm256_broadcastd_epi32(_mm_loadu_si32(from));
    for (int n = 0; n < 4; ++n) put_eight(w, n, word, to);
    return;
  }
  if (!s.has_eights) return gather_words(w, s, from, to);
  for (int n = 0; n < 4; ++n) {
    const Shape::EightLanes& eight = s.eights[n];
    const __m256i words = _mm256_maskload_epi32(reinterpret_cast<const int*>(from + eight.first),
                                                eight_of(eight.wanted));
    put_eight(w, n, _mm256_permutevar8x32_epi32(words, eight_of(eight.index)), to);
  }
}

// Four words for each lane, into four slots. `from` holds 16 bytes even where no lane is active.
inline void fetch_fours(const Warp& w, const Shape& s, const std::byte* from,
                        std::uint32_t* const (&to)[4]) {
  for (int n = 0; n < 4; ++n) {
    __m256 pairs[4];  // lanes i and i + 4
    for (int i = 0; i < 4; ++i) {
      const auto four = [&](int lane) {
        return _mm_loadu_ps(reinterpret_cast<const float*>(from + s.offset[lane]));
      };
      pairs[i] = _mm256_set_m128(four(8 * n + i + 4), four(8 * n + i));
    }
    const __m256 a = _mm256_unpacklo_ps(pairs[0], pairs[1]),
                 b = _mm256_unpackhi_ps(pairs[0], pairs[1]),
                 c = _mm256_unpacklo_ps(pairs[2], pairs[3]),
                 d = _mm256_unpackhi_ps(pairs[2], pairs[3]);
    const auto put = [&](int part, __m256 low, __m256 high, bool upper) {
      const __m256d x = _mm256_castps_pd(low), y = _mm256_castps_pd(high);
      const __m256d both = upper ? _mm256_unpackhi_pd(x, y) : _mm256_unpacklo_pd(x, y);
      if (to[part] != nullptr) put_eight(w, n, _mm256_castpd_si256(both), to[part]);
    };
    put(0, a, c, false);
    put(1, a, c, true);
    put(2, b, d, false);
    put(3, b, d, true);
  }
}
#else
inline void fetch_words(const Warp& w, const Shape& s, const std::byte* from, std::uint32_t* to) {
  fetch_each<std::uint32_t>(w, s, from, to);
}
inline void fetch_fours(const Warp& w, const Shape& s, const std::byte* from,
                        std::uint32_t* const (&to)[4]) {
  for (int part = 0; part < 4; ++part)
    if (to[part] != nullptr) fetch_each<std::uint32_t>(w, s, from + 4 * part, to[part]);
}
#endif

}  // namespace ptx
