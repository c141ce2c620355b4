// mma and wmma.mma.
#include <algorithm>
#include <bit>
#include <limits>

#include "ptx/machine/bits/results.h"
#include "ptx/machine/block.h"
#include "ptx/machine/halves.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/taint.h"
#include "ptx/machine/tensor/tensor.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr int most = 512;  // elements of a matrix: m32k16

template <class T>
T value_of(Type type, uint32_t bits) {
  switch (type) {
    case Type::f16: return static_cast<T>(float_of_half(static_cast<std::uint16_t>(bits)));
    case Type::bf16: return static_cast<T>(float_of_bfloat(static_cast<std::uint16_t>(bits)));
    case Type::tf32: return static_cast<T>(std::bit_cast<float>(bits & ~0x1fffu));
    case Type::f32: return static_cast<T>(std::bit_cast<float>(bits));
    case Type::s8: return static_cast<T>(static_cast<std::int8_t>(bits));
    case Type::u8: return static_cast<T>(static_cast<std::uint8_t>(bits));
    default: return static_cast<T>(static_cast<std::int32_t>(bits));
  }
}
template <class T>
uint32_t bits_of(Type type, T value) {
  if (type == Type::f16) return half_of(static_cast<double>(value), to_nearest);
  if (type == Type::f32) return std::bit_cast<uint32_t>(as_gpu(static_cast<float>(value)));
  return static_cast<uint32_t>(static_cast<std::int64_t>(value));
}

template <class T, Type type>
void take_all(const Fragment& f, const Warp& w, T* to) {
  const std::uint16_t* at = f.at.data();
  const int bits = 32 / f.per_register;
  for (int r = 0; r < f.registers; ++r) {
    const uint32_t* const words = w.slot<uint32_t>(w.lists[f.list + r]);
    for (int part = 0; part < f.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane)
        to[at[lane]] = value_of<T>(type, words[lane] >> (part * bits));
  }
}
template <class T>
void take(const Fragment& f, const Warp& w, T* to) {
  switch (f.type) {  // once, not for each element
    case Type::f16: return take_all<T, Type::f16>(f, w, to);
    case Type::bf16: return take_all<T, Type::bf16>(f, w, to);
    case Type::tf32: return take_all<T, Type::tf32>(f, w, to);
    case Type::f32: return take_all<T, Type::f32>(f, w, to);
    case Type::s8: return take_all<T, Type::s8>(f, w, to);
    case Type::u8: return take_all<T, Type::u8>(f, w, to);
    default: return take_all<T, Type::s32>(f, w, to);
  }
}
template <>
void take(const Fragment& f, const Warp& w, double* to) {
  const std::uint16_t* at = f.at.data();
  for (int r = 0; r < f.registers; ++r, at += warp_size)
    for (int lane = 0; lane < warp_size; ++lane)
      to[at[lane]] = w.slot<double>(w.lists[f.list + r])[lane];
}
template <class T, Type type>
void give_all(const Fragment& f, const Warp& w, const T* from) {
  const std::uint16_t* at = f.at.data();
  const int bits = 32 / f.per_register;
  for (int r = 0; r < f.registers; ++r) {
    uint32_t* const words = w.slot<uint32_t>(w.lists[f.list + r]);
    for (int part = 0; part < f.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane) {
        const uint32_t value = bits_of(type, from[at[lane]]) << (part * bits);
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
void give(const Fragment& f, const Warp& w, const double* from) {
  const std::uint16_t* at = f.at.data();
  for (int r = 0; r < f.registers; ++r, at += warp_size)
    for (int lane = 0; lane < warp_size; ++lane)
      w.slot<double>(w.lists[f.list + r])[lane] = from[at[lane]];
}

inline float multiplied(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double multiplied(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline std::int64_t multiplied(std::int64_t a, std::int64_t b, std::int64_t c) { return a * b + c; }

template <int n, class T>
void multiply_rows(T* __restrict c, const T* __restrict a, const T* __restrict b, int m, int k) {
  for (int i = 0; i < m; ++i, a += k, c += n) {
    T sums[n];
    for (int j = 0; j < n; ++j) sums[j] = c[j];
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) sums[j] = multiplied(a[p], b[p * n + j], sums[j]);
    for (int j = 0; j < n; ++j) c[j] = sums[j];
  }
}
template <class T>
void multiply_into(T* c, const T* a, const T* b, int m, int n, int k) {
  switch (n) {
    case 8: return multiply_rows<8>(c, a, b, m, k);
    case 16: return multiply_rows<16>(c, a, b, m, k);
    default: return multiply_rows<32>(c, a, b, m, k);
  }
}

// Which elements nobody wrote, or not all of.
void take_taint(const Fragment& f, const Warp& w, bool* to) {
  const std::uint16_t* at = f.at.data();
  const int bits = (f.type == Type::f64 ? 64 : 32) / f.per_register;
  for (int r = 0; r < f.registers; ++r) {
    const int slot = w.lists[f.list + r];
    for (int part = 0; part < f.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane)
        to[at[lane]] |= unwritten_of(w, slot, lane) >> (part * bits) << (64 - bits) != 0;
  }
}
// An element of A reaches all sums of its row, one of B all of its column.
void follow(const MatrixOp& o, Warp& w) {
  bool a[most] = {}, b[most] = {}, c[most] = {};
  take_taint(o.a, w, a);
  take_taint(o.b, w, b);
  take_taint(o.c, w, c);
  const int m = o.a.rows, n = o.b.columns, k = o.a.columns;
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) c[i * n + j] |= a[i * k + p] || b[p * n + j];
  const std::uint16_t* at = o.d.at.data();
  const int bits = (o.d.type == Type::f64 ? 64 : 32) / o.d.per_register;
  for (int r = 0; r < o.d.registers; ++r) {
    uint64_t unwritten[warp_size] = {};
    for (int part = 0; part < o.d.per_register; ++part, at += warp_size)
      for (int lane = 0; lane < warp_size; ++lane)
        if (c[at[lane]]) unwritten[lane] |= ~uint64_t{0} >> (64 - bits) << (part * bits);
    for (int lane = 0; lane < warp_size; ++lane)
      mark_unwritten(w, w.lists[o.d.list + r], lane, unwritten[lane]);
  }
}

template <class T>
const Op* multiply(const Op* op, Warp& w) {
  if (!are_together(w, op, all_lanes)) return next_group(w);
  const MatrixOp& o = w.block->run->kernel.matrices[static_cast<std::size_t>(op->e)];
  if (w.has_taint) follow(o, w);
  T a[most], b[most], c[most];
  take(o.a, w, a);
  take(o.b, w, b);
  take(o.c, w, c);
  multiply_into(c, a, b, o.a.rows, o.b.columns, o.a.columns);
  if constexpr (std::is_same_v<T, std::int64_t>)
    if (o.saturates)
      for (T& sum : c)
        sum = std::clamp<T>(sum, std::numeric_limits<std::int32_t>::min(),
                            std::numeric_limits<std::int32_t>::max());
  give(o.d, w, c);
  return op + 1;
}

}  // namespace

void add_multiply_handlers(Handlers& to) {
  to["mma.f32"] = {multiply<float>, ""};
  to["mma.f64"] = {multiply<double>, ""};
  to["mma.s32"] = {multiply<std::int64_t>, ""};
}

}  // namespace ptx
