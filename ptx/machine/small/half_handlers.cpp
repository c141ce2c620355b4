// Arithmetic on numbers of 16 bits, one or two in a word. Each result is that of exact arithmetic,
// rounded once; only ex2 and tanh, which are approximate on a GPU too, are rounded twice.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "ptx/machine/approximations.h"
#include "ptx/machine/cluster/cluster.h"
#include "ptx/machine/halves.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/taint.h"
#include "ptx/machine/warp_access.h"

namespace ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;

struct Half {
  static constexpr double least = 0x1p-14 * (1 - 0x1p-12), beyond = 0x1p16;
  static double wide(u16 bits) { return float_of_half(bits); }
  static u16 narrow(double value, int rounding) { return half_of(value, rounding); }
  static bool is_tiny(u16 bits) { return (bits & 0x7c00) == 0; }
};
struct Bfloat {
  static constexpr double least = 0x1p-126, beyond = 0x1p128;
  static double wide(u16 bits) { return float_of_bfloat(bits); }
  static u16 narrow(double value, int rounding) { return bfloat_of(value, rounding); }
  static bool is_tiny(u16 bits) { return (bits & 0x7f80) == 0; }
};

// a + b; where a double cannot hold it, the neighbour whose last bit is 1, so that rounding it to
// 16 bits gives what rounding the sum would.
double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double from_b = sum - a, lost = (a - (sum - from_b)) + (b - from_b);
  if (lost == 0) return sum;
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if ((bits & 1) != 0) return sum;
  return std::bit_cast<double>((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

struct HAdd {
  static double of(double a, double b, double) { return sum_to_odd(a, b); }
};
struct HSub {
  static double of(double a, double b, double) { return sum_to_odd(a, -b); }
};
struct HMul {
  static double of(double a, double b, double) { return a * b; }
};
struct HFma {
  static double of(double a, double b, double c) { return sum_to_odd(a * b, c); }
};
// These two are cut, not rounded.
struct HExp2 {
  static double of(double a, double, double) { return power_of_two(a); }
};
struct HTanh {
  // Numbers whose tanh is so close to one of 11 bits that the hardware's interpolation, which is
  // right to 16 bits, lies on its other side.
  static constexpr u16 raised[] = {0x29c6, 0x2c95, 0x2c96, 0x2e39, 0x2e9d, 0x3064, 0x323f, 0x32ff,
                                   0x355b, 0x372d, 0x3824, 0x399a, 0x3cc9, 0x3de3, 0x3ed6, 0x4080};
  static constexpr u16 lowered[] = {0x2d3f, 0x39f8, 0x3c8e, 0x3c9d, 0x3db8, 0x3e23, 0x3eab, 0x4429};
  static bool is_among(std::span<const u16> listed, double size) {
    return std::any_of(listed.begin(), listed.end(),
                       [=](u16 bits) { return float_of_half(bits) == size; });
  }
  static double of(double a, double, double) {
    const double size = std::fabs(a), exact = hyperbolic_tangent(a);
    return is_among(raised, size)    ? exact * (1 + 0x1p-16)
           : is_among(lowered, size) ? exact * (1 - 0x1p-16)
                                     : exact;
  }
};
template <class F>
inline constexpr int rounding_of =
    std::is_same_v<F, HExp2> || std::is_same_v<F, HTanh> ? to_zero : to_nearest;
template <class F>
struct HExtreme {
  static double of(double a, double b, double) { return F::of(a, b); }
};

template <class Format>
u16 flushed(u16 bits, int flags) {
  return (flags & flush_denormals) != 0 && Format::is_tiny(bits) ? bits & 0x8000 : bits;
}

template <class F, class Format>
u16 computed(u16 a, u16 b, u16 c, int flags) {
  const auto in = [&](u16 bits) { return Format::wide(flushed<Format>(bits, flags)); };
  double value = F::of(in(a), in(b), in(c));
  if ((flags & saturate) != 0) value = !(value > 0) ? 0 : value > 1 ? 1 : value;
  if ((flags & clamp_below) != 0 && std::signbit(value) && value == value) value = 0;
  if ((flags & flush_denormals) != 0 && std::fabs(value) < Format::least)
    value = std::copysign(0.0, value);
  if (rounding_of<F> == to_zero && value >= Format::beyond) value = HUGE_VAL;
  return Format::narrow(value, rounding_of<F>);
}

// parts is 2 if a word holds two numbers.
template <class F, class Format>
const Op* half_arithmetic(const Op* op, Warp& w) {
  u32* d = w.slot<u32>(op->d);
  const u32 *a = w.slot<u32>(op->a), *b = w.slot<u32>(op->b), *c = w.slot<u32>(op->c);
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int i = std::countr_zero(left);
    u32 result = 0;
    for (int shift = 0; shift < 16 * op->parts; shift += 16)
      result |=
          u32{computed<F, Format>(static_cast<u16>(a[i] >> shift), static_cast<u16>(b[i] >> shift),
                                  static_cast<u16>(c[i] >> shift), op->flags)}
          << shift;
    d[i] = result;
  }
  return op + 1;
}

// neg and abs: as all arithmetic, they leave one NaN only.
template <bool negates, class Format>
const Op* change_sign(const Op* op, Warp& w) {
  u32* d = w.slot<u32>(op->d);
  const u32* a = w.slot<u32>(op->a);
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int i = std::countr_zero(left);
    u32 result = 0;
    for (int shift = 0; shift < 16 * op->parts; shift += 16) {
      const u16 value = flushed<Format>(static_cast<u16>(a[i] >> shift), op->flags);
      const bool is_nan = std::isnan(Format::wide(value));
      result |= u32{is_nan ? 0x7fffu : negates ? value ^ 0x8000u : value & 0x7fffu} << shift;
    }
    d[i] = result;
  }
  return op + 1;
}

bool holds(int comparison, double a, double b) {
  const bool unordered = a != a || b != b;
  switch (static_cast<HalfComparison>(comparison & 15)) {
    case HalfComparison::eq: return a == b || (unordered && (comparison & 16) != 0);
    case HalfComparison::ne: return unordered ? (comparison & 16) != 0 : a != b;
    case HalfComparison::lt: return a < b || (unordered && (comparison & 16) != 0);
    case HalfComparison::le: return a <= b || (unordered && (comparison & 16) != 0);
    case HalfComparison::gt: return a > b || (unordered && (comparison & 16) != 0);
    case HalfComparison::ge: return a >= b || (unordered && (comparison & 16) != 0);
    case HalfComparison::num: return !unordered;
    case HalfComparison::nan: return unordered;
  }
  return false;
}

template <class Format>
bool compared(const Op* op, u32 a, u32 b, int shift) {
  const auto in = [&](u32 word) {
    return Format::wide(flushed<Format>(static_cast<u16>(word >> shift), op->flags));
  };
  return holds(op->mode, in(a), in(b));
}

// set: c is the word that stands for true, for each half of it.
template <class Format>
const Op* set_by_halves(const Op* op, Warp& w) {
  u32* d = w.slot<u32>(op->d);
  const u32 *a = w.slot<u32>(op->a), *b = w.slot<u32>(op->b);
  const auto yes = static_cast<u32>(op->bits);
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int i = std::countr_zero(left);
    if (op->parts == 1) {
      d[i] = compared<Format>(op, a[i], b[i], 0) ? yes : 0;
      continue;
    }
    const u32 low = compared<Format>(op, a[i], b[i], 0) ? 0xffffu : 0,
              high = compared<Format>(op, a[i], b[i], 16) ? 0xffff0000u : 0;
    d[i] = yes & (low | high);
  }
  return op + 1;
}
// setp: d is the predicate of the low half, e that of the high one, or -1.
template <class Format>
const Op* compare_halves(const Op* op, Warp& w) {
  const u32 *a = w.slot<u32>(op->a), *b = w.slot<u32>(op->b);
  u32 low = 0, high = 0;
  for (int i = 0; i < warp_size; ++i) {
    low |= u32{compared<Format>(op, a[i], b[i], 0)} << i;
    if (op->e >= 0) high |= u32{compared<Format>(op, a[i], b[i], 16)} << i;
  }
  const auto set = [&](int predicate, u32 lanes) {
    w.predicates[predicate] = (w.predicates[predicate] & ~w.mask) | (lanes & w.mask);
  };
  set(op->d, low);
  if (op->e >= 0) set(op->e, high);
  return op + 1;
}

// cvt.rn.f16x2.f32 d, a, b: a becomes the high half.
template <bool to_half>
const Op* convert_pair(const Op* op, Warp& w) {
  u32* d = w.slot<u32>(op->d);
  const float *a = w.slot<float>(op->a), *b = w.slot<float>(op->b);
  const auto narrow = [&](float value) -> u32 {
    if ((op->flags & clamp_below) != 0 && std::signbit(value) && value == value) value = 0;
    u16 bits = to_half ? half_of(value, op->mode) : bfloat_of(value, op->mode);
    if ((op->flags & stays_finite) != 0 && (bits & 0x7fff) == (to_half ? 0x7c00 : 0x7f80)) --bits;
    return bits;
  };
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int i = std::countr_zero(left);
    d[i] = narrow(a[i]) << 16 | (op->parts == 2 ? narrow(b[i]) : 0);
    if (op->parts == 1) d[i] >>= 16;
  }
  return op + 1;
}

// cvt to tf32: 10 bits of fraction stay; mode 4 rounds halves away from zero, and ptxas makes it of
// an addition and a mask, which leave of a NaN what they leave.
const Op* convert_to_tf32(const Op* op, Warp& w) {
  u32* d = w.slot<u32>(op->d);
  const u32* a = w.slot<u32>(op->a);
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int i = std::countr_zero(left);
    u32 bits = a[i];
    const bool is_finite = (bits & 0x7fffffff) < 0x7f800000;
    if ((bits & 0x7fffffff) > 0x7f800000 && op->mode != ties_away) {
      d[i] = 0x7fffe000;
      continue;
    }
    if (is_finite && op->mode == ties_away)
      bits += 0x1000;
    else if (is_finite && op->mode == to_nearest)
      bits += 0xfff + (bits >> 13 & 1);
    bits &= ~0x1fffu;
    if ((bits & 0x7fffffff) == 0x7f800000 && (op->flags & stays_finite) != 0) bits -= 0x2000;
    if ((op->flags & clamp_below) != 0 && bits >> 31 != 0) bits = 0;
    d[i] = bits;
  }
  return op + 1;
}

// Atomic operations on 16 bits: to add, or (Format is void) to exchange and, mode 9, to compare
// first.
template <class Format, bool is_pair, Reach reach>
const Op* half_atomic(const Op* op, Warp& w) {
  std::uint64_t at[warp_size];
  addresses_of(op, w, at);
  constexpr int bytes = is_pair ? 4 : 2;
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    u32 unwritten = 0, old = 0;
    std::byte* to = reach_atomically(w,
                                     {.op = op,
                                      .lane = lane,
                                      .address = at[lane],
                                      .bytes = bytes,
                                      .reads_too = !std::is_void_v<Format> || op->mode == 9,
                                      .unit = op->e},
                                     reach, Lock::none, unwritten);
    if (to == nullptr || (unwritten != 0 && !changes_unwritten(op, w, lane))) return nullptr;
    std::memcpy(&old, to, bytes);
    const u32 b = w.slot<u32>(op->b)[lane];
    u32 now = 0;
    if constexpr (std::is_void_v<Format>) {
      now = op->mode == 8                             ? b
            : ((old ^ b) & 0xffff) == 0 && op->c >= 0 ? w.slot<u32>(op->c)[lane]
                                                      : old;
    } else {
      for (int shift = 0; shift < 8 * bytes; shift += 16)
        now |= u32{computed<HAdd, Format>(static_cast<u16>(old >> shift),
                                          static_cast<u16>(b >> shift), 0, 0)}
               << shift;
    }
    if (std::memcmp(to, &now, bytes) != 0) ++w.block->run->changes;
    std::memcpy(to, &now, bytes);
    if (op->d >= 0) w.slot<u32>(op->d)[lane] = old;
  }
  return op + 1;
}
template <class Format, bool is_pair>
void add_atomics(Handlers& to, const std::string& type) {
  to["atom.global." + type] = {half_atomic<Format, is_pair, reach_global>, ""};
  to["atom.shared." + type] = {half_atomic<Format, is_pair, reach_shared>, ""};
  to["atom.shared::cluster." + type] = {half_atomic<Format, is_pair, reach_cluster>, ""};
  to["atom." + type] = {half_atomic<Format, is_pair, reach_generic>, ""};
}

template <class Format>
void add_of_format(Handlers& to, const std::string& type) {
  to["add." + type] = {half_arithmetic<HAdd, Format>, "www"};
  to["sub." + type] = {half_arithmetic<HSub, Format>, "www"};
  to["mul." + type] = {half_arithmetic<HMul, Format>, "www"};
  to["fma." + type] = {half_arithmetic<HFma, Format>, "wwww"};
  for_each_extreme([&]<class F>(F, const char* name) {
    to[name + ("." + type)] = {half_arithmetic<HExtreme<F>, Format>, "www"};
  });
  to["ex2.approx." + type] = {half_arithmetic<HExp2, Format>, "ww"};
  to["tanh.approx." + type] = {half_arithmetic<HTanh, Format>, "ww"};
  to["neg." + type] = {change_sign<true, Format>, "ww"};
  to["abs." + type] = {change_sign<false, Format>, "ww"};
  to["set." + type] = {set_by_halves<Format>, "www"};
  to["setp." + type] = {compare_halves<Format>, "pww"};
}

}  // namespace

void add_half_handlers(Handlers& to) {
  add_of_format<Half>(to, "f16");
  add_of_format<Bfloat>(to, "bf16");
  add_atomics<Half, false>(to, "f16");
  add_atomics<Half, true>(to, "f16x2");
  add_atomics<Bfloat, false>(to, "bf16");
  add_atomics<Bfloat, true>(to, "bf16x2");
  add_atomics<void, false>(to, "b16");
  to["cvt.pair.f16"] = {convert_pair<true>, "www"};
  to["cvt.pair.bf16"] = {convert_pair<false>, "www"};
  to["cvt.tf32"] = {convert_to_tf32, "ww"};
}

}  // namespace ptx
