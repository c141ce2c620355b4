// Elements of matrices as numbers, and what the lanes of a warp hold of a matrix: what mma, wmma
// and wgmma share. For sources that are compiled as those that compute.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ptx/machine/bits/results.h"
#include "ptx/machine/halves.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/taint.h"
#include "ptx/machine/tensor/tensor.h"

namespace ptx {

template <class T>
T value_of_element(Type type, std::uint32_t bits) {
  switch (type) {
    case Type::f16: return static_cast<T>(float_of_half(static_cast<std::uint16_t>(bits)));
    case Type::bf16: return static_cast<T>(float_of_bfloat(static_cast<std::uint16_t>(bits)));
    case Type::tf32: return static_cast<T>(std::bit_cast<float>(bits & ~0x1fffu));
    case Type::f32: return static_cast<T>(std::bit_cast<float>(bits));
    case Type::e4m3: return static_cast<T>(float_of_e4m3(static_cast<std::uint8_t>(bits)));
    case Type::e5m2: return static_cast<T>(float_of_e5m2(static_cast<std::uint8_t>(bits)));
    case Type::s8: return static_cast<T>(static_cast<std::int8_t>(bits));
    case Type::u8: return static_cast<T>(static_cast<std::uint8_t>(bits));
    default: return static_cast<T>(static_cast<std::int32_t>(bits));
  }
}
template <class T>
std::uint32_t bits_of_element(Type type, T value) {
  if (type == Type::f16) return half_of(static_cast<double>(value), to_nearest);
  if (type == Type::f32) return std::bit_cast<std::uint32_t>(as_gpu(static_cast<float>(value)));
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
}

// How many elements of a type a register holds.
constexpr int elements_of_register(Type type) {
  switch (type) {
    case Type::f16:
    case Type::bf16: return 2;
    case Type::e4m3:
    case Type::e5m2:
    case Type::s8:
    case Type::u8: return 4;
    default: return 1;
  }
}
constexpr int quads = warp_size / 4;  // four lanes share a row of A and of sums, a column of B

// Each register has neighbours of 8 rows, the next one those of 8 others.
template <class T, Type type>
void take_rows(const Fragment& f, const Warp& w, T* to) {
  constexpr int p = elements_of_register(type), bits = 32 / p;
  for (int r = 0; r < f.registers; ++r) {
    const std::uint32_t* const words = w.slot<std::uint32_t>(w.lists[f.list + r]);
    T* row = to + r % 2 * quads * f.columns + r / 2 * 4 * p;
    for (int quad = 0; quad < quads; ++quad, row += f.columns)
      for (int at = 0; at < 4 * p; ++at)
        row[at] = value_of_element<T>(type, words[4 * quad + at / p] >> (at % p * bits));
  }
}
template <class T, Type type>
void take_columns(const Fragment& f, const Warp& w, T* to) {
  constexpr int p = elements_of_register(type), bits = 32 / p;
  for (int r = 0; r < f.registers; ++r) {
    const std::uint32_t* const words = w.slot<std::uint32_t>(w.lists[f.list + r]);
    for (int at = 0; at < 4 * p; ++at, to += quads)
      for (int quad = 0; quad < quads; ++quad)
        to[quad] = value_of_element<T>(type, words[4 * quad + at / p] >> (at % p * bits));
  }
}
// Elements that lie side by side are in one register, or in two: then `next` is the other.
template <class T, class Visit>
void for_each_pair(const Fragment& f, const Warp& w, T* all, const Visit& visit) {
  const int pairs = f.registers * f.per_register / 2;
  for (int e = 0; e < pairs; ++e) {
    std::uint32_t* const words = w.slot<std::uint32_t>(w.lists[f.list + e * 2 / f.per_register]);
    std::uint32_t* const next =
        f.per_register == 1 ? w.slot<std::uint32_t>(w.lists[f.list + e * 2 + 1]) : words;
    visit(all + e % 2 * quads * f.columns + e / 2 * 8, words, next);
  }
}
template <class T, Type type>
void take_sums(const Fragment& f, const Warp& w, T* to) {
  constexpr int shift = elements_of_register(type) == 2 ? 16 : 0;
  for_each_pair(f, w, to, [&](T* row, const std::uint32_t* words, const std::uint32_t* next) {
    T pairs[2 * warp_size];
    for (int lane = 0; lane < warp_size; ++lane) {
      pairs[2 * lane] = value_of_element<T>(type, words[lane]);
      pairs[2 * lane + 1] = value_of_element<T>(type, next[lane] >> shift);
    }
    for (int quad = 0; quad < quads; ++quad)
      std::copy_n(pairs + 8 * quad, 8, row + quad * f.columns);
  });
}

template <class T, Type type>
void take_all(const Fragment& f, const Warp& w, T* to) {
  if (f.layout == Layout::rows) return take_rows<T, type>(f, w, to);
  if (f.layout == Layout::columns) return take_columns<T, type>(f, w, to);
  if (f.layout == Layout::sums) return take_sums<T, type>(f, w, to);
  const std::uint16_t* at = f.at.data();
  const int bits = 32 / f.per_register;
  for (int r = 0; r < f.registers; ++r) {
    const std::uint32_t* const words = w.slot<std::uint32_t>(w.lists[f.list + r]);
    for (int part = 0; part < f.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane)
        to[at[lane]] = value_of_element<T>(type, words[lane] >> (part * bits));
  }
}
template <class T>
void take(const Fragment& f, const Warp& w, T* to) {
  switch (f.type) {  // once, not for each element
    case Type::f16: return take_all<T, Type::f16>(f, w, to);
    case Type::bf16: return take_all<T, Type::bf16>(f, w, to);
    case Type::tf32: return take_all<T, Type::tf32>(f, w, to);
    case Type::f32: return take_all<T, Type::f32>(f, w, to);
    case Type::e4m3: return take_all<T, Type::e4m3>(f, w, to);
    case Type::e5m2: return take_all<T, Type::e5m2>(f, w, to);
    case Type::s8: return take_all<T, Type::s8>(f, w, to);
    case Type::u8: return take_all<T, Type::u8>(f, w, to);
    default: return take_all<T, Type::s32>(f, w, to);
  }
}
template <>
inline void take(const Fragment& f, const Warp& w, double* to) {
  const std::uint16_t* at = f.at.data();
  for (int r = 0; r < f.registers; ++r, at += warp_size)
    for (int lane = 0; lane < warp_size; ++lane)
      to[at[lane]] = w.slot<double>(w.lists[f.list + r])[lane];
}
template <class T, Type type>
void give_sums(const Fragment& f, const Warp& w, const T* from) {
  for_each_pair(f, w, from, [&](const T* row, std::uint32_t* words, std::uint32_t* next) {
    T pairs[2 * warp_size];
    for (int quad = 0; quad < quads; ++quad)
      std::copy_n(row + quad * f.columns, 8, pairs + 8 * quad);
    for (int lane = 0; lane < warp_size; ++lane) {
      const std::uint32_t one = bits_of_element(type, pairs[2 * lane]),
                          other = bits_of_element(type, pairs[2 * lane + 1]);
      if constexpr (elements_of_register(type) == 2) {
        words[lane] = one | other << 16;
      } else {
        words[lane] = one, next[lane] = other;
      }
    }
  });
}
template <class T, Type type>
void give_all(const Fragment& f, const Warp& w, const T* from) {
  if (f.layout == Layout::sums) return give_sums<T, type>(f, w, from);
  const std::uint16_t* at = f.at.data();
  const int bits = 32 / f.per_register;
  for (int r = 0; r < f.registers; ++r) {
    std::uint32_t* const words = w.slot<std::uint32_t>(w.lists[f.list + r]);
    for (int part = 0; part < f.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane) {
        const std::uint32_t value = bits_of_element(type, from[at[lane]]) << (part * bits);
        words[lane] = part == 0 ? value : words[lane] | value;
      }
  }
}
template <class T>
void give(const Fragment& f, const Warp& w, const T* from) {
  switch (f.type) {
    case Type::f16: return give_all<T, Type::f16>(f, w, from);
    case Type::f32: return give_all<T, Type::f32>(f, w, from);
    default: return give_all<T, Type::s32>(f, w, from);
  }
}
template <>
inline void give(const Fragment& f, const Warp& w, const double* from) {
  const std::uint16_t* at = f.at.data();
  for (int r = 0; r < f.registers; ++r, at += warp_size)
    for (int lane = 0; lane < warp_size; ++lane)
      w.slot<double>(w.lists[f.list + r])[lane] = from[at[lane]];
}

// Which elements nobody wrote, or not all of.
inline void take_taint(const Fragment& f, const Warp& w, bool* to) {
  const std::uint16_t* at = f.at.data();
  const int bits = (f.type == Type::f64 ? 64 : 32) / f.per_register;
  for (int r = 0; r < f.registers; ++r) {
    const int slot = w.lists[f.list + r];
    for (int part = 0; part < f.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane)
        to[at[lane]] |= unwritten_of(w, slot, lane) >> (part * bits) << (64 - bits) != 0;
  }
}
// Says it of the values that were given.
inline void give_taint(const Fragment& f, Warp& w, const bool* from) {
  const std::uint16_t* at = f.at.data();
  const int bits = (f.type == Type::f64 ? 64 : 32) / f.per_register;
  for (int r = 0; r < f.registers; ++r) {
    std::uint64_t unwritten[warp_size] = {};
    for (int part = 0; part < f.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane)
        if (from[at[lane]]) unwritten[lane] |= ~std::uint64_t{0} >> (64 - bits) << (part * bits);
    for (int lane = 0; lane < warp_size; ++lane)
      mark_unwritten(w, w.lists[f.list + r], lane, unwritten[lane]);
  }
}

inline double multiplied(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline std::int64_t multiplied(std::int64_t a, std::int64_t b, std::int64_t c) { return a * b + c; }
inline float multiplied(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// Adds the products of some rows of A with `width` neighbouring columns of B, which lie n apart as
// those of C do: their sums stay in registers.
template <int width, class T>
[[gnu::always_inline]] inline void multiply_columns(T* __restrict c, const T* __restrict a,
                                                    const T* __restrict b, int rows, int n, int k) {
  for (int i = 0; i < rows; ++i, a += k, c += n) {
    T sums[width];
    for (int j = 0; j < width; ++j) sums[j] = c[j];
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < width; ++j) sums[j] = multiplied(a[p], b[p * n + j], sums[j]);
    for (int j = 0; j < width; ++j) c[j] = sums[j];
  }
}

}  // namespace ptx
