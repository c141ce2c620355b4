// Floating point with another rounding than to nearest, with denormals flushed, or saturated; and
// conversions. One lane after the other: such instructions are rare.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ptx/machine/approximations.h"
#include "ptx/machine/halves.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
#include "ptx/machine/reals.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

class RoundingTo {
 public:
  explicit RoundingTo(int mode) : before_(std::fegetround()) {
    static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[mode & 3]);
  }
  ~RoundingTo() { std::fesetround(before_); }

 private:
  int before_;
};

template <class T>
T finished(T v, int flags) {
  if ((flags & flush_denormals) != 0) v = flushed(v);
  if ((flags & saturate) != 0) v = !(v > 0) ? T{0} : v > 1 ? T{1} : v;
  return passed(v);
}

template <class F, class T>
const Op* rounded(const Op* op, Warp& w) {
  const RoundingTo mode(op->mode);
  T *d = w.slot<T>(op->d), *a = w.slot<T>(op->a), *b = w.slot<T>(op->b), *c = w.slot<T>(op->c);
  const bool flush = (op->flags & flush_denormals) != 0;
  for (int i = 0; i < warp_size; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    volatile T x = a[i], y = F::takes > 1 ? b[i] : T{}, z = F::takes > 2 ? c[i] : T{};
    if (flush) {
      x = flushed(T{x});
      y = flushed(T{y});
      z = flushed(T{z});
    }
    volatile T result = F::of(T{x}, T{y}, T{z});
    if (flush && F::degree != 0 && std::fabs(T{result}) == std::numeric_limits<T>::min()) {
      // What only the rounding to fewer bits made so large is flushed too.
      constexpr T by = 0x1p24, factor = F::degree < 0 ? 1 / by : by;
      if (std::fabs(F::of(x * factor, T{y}, z * factor)) < std::numeric_limits<T>::min() * by)
        result = std::copysign(T{0}, T{result});
    }
    d[i] = finished(T{result}, op->flags);
  }
  return op + 1;
}

// Degree: a factor of a and c is one of the result, to that power.
#define ASSAY_ROUNDED(Name, count, power, expression)              \
  struct Name {                                                    \
    static constexpr int takes = count;                            \
    static constexpr int degree = power;                           \
    template <class T>                                             \
    static T of(T a, [[maybe_unused]] T b, [[maybe_unused]] T c) { \
      return expression;                                           \
    }                                                              \
  };
ASSAY_ROUNDED(RAdd, 2, 0, as_gpu(a + b, a, b))
ASSAY_ROUNDED(RSub, 2, 0, as_gpu(a - b, a, b))
ASSAY_ROUNDED(RMul, 2, 1, as_gpu(a* b, a, b))
ASSAY_ROUNDED(RDiv, 2, 1, a / b)
ASSAY_ROUNDED(RFma, 3, 1, as_gpu(std::fma(a, b, c), a, c, b))
ASSAY_ROUNDED(RSqrt, 1, 0, std::sqrt(a))
ASSAY_ROUNDED(RRcp, 1, -1, T{1} / a)
ASSAY_ROUNDED(RRsqrt, 1, 0, T{1} / std::sqrt(a))
ASSAY_ROUNDED(RNeg, 1, 0, -a)
ASSAY_ROUNDED(RAbs, 1, 0, std::fabs(a))
ASSAY_ROUNDED(RExp2, 1, 0, static_cast<T>(power_of_two(a)))
ASSAY_ROUNDED(RLog2, 1, 0, static_cast<T>(std::log2(static_cast<double>(a))))
ASSAY_ROUNDED(RSin, 1, 0, sine<0>(a))
ASSAY_ROUNDED(RCos, 1, 0, sine<1>(a))
ASSAY_ROUNDED(RQuotient, 2, 0, quotient<false>(a, b))
ASSAY_ROUNDED(RFullQuotient, 2, 0, quotient<true>(a, b))
#undef ASSAY_ROUNDED
template <class F>
struct RExtreme {
  static constexpr int takes = 2;
  static constexpr int degree = 0;
  template <class T>
  static T of(T a, T b, T) {
    return F::of(a, b);
  }
};

// Conversions. A value on its way from one type to another: an integer, or a real that a double
// holds exactly.
struct Value {
  bool is_real = false;
  double real = 0;
  bool is_signed = false;
  u64 bits = 0;  // sign-extended
};

template <class T>
T bits_as(u64 bits) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(bits);
  else
    return std::bit_cast<T>(static_cast<u32>(bits));
}

Value value_of(Type type, u64 bits) {
  switch (type) {
    case Type::f32: return {.is_real = true, .real = bits_as<float>(bits)};
    case Type::f64: return {.is_real = true, .real = bits_as<double>(bits)};
    case Type::f16:
      return {.is_real = true, .real = double_of_half(static_cast<std::uint16_t>(bits))};
    case Type::bf16:
      return {.is_real = true, .real = float_of_bfloat(static_cast<std::uint16_t>(bits))};
    case Type::s8:
      return {.is_signed = true, .bits = static_cast<u64>(static_cast<std::int8_t>(bits))};
    case Type::s16:
      return {.is_signed = true, .bits = static_cast<u64>(static_cast<std::int16_t>(bits))};
    case Type::s32:
      return {.is_signed = true, .bits = static_cast<u64>(static_cast<std::int32_t>(bits))};
    case Type::s64: return {.is_signed = true, .bits = bits};
    case Type::u8:
    case Type::b8: return {.bits = bits & 0xff};
    case Type::u16:
    case Type::b16: return {.bits = bits & 0xffff};
    case Type::u32:
    case Type::b32: return {.bits = bits & 0xffffffff};
    default: return {.bits = bits};
  }
}
bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

// A real to an integer: rounded as asked, what lies outside to the nearest bound. A NaN becomes 0,
// or, where 64 bits are on either side, the highest bit alone.
u64 integer_of(double real, Type from, Type to) {
  const int bits = 8 * bytes_of(to);
  if (real != real && from != Type::f64 && bits != 64) return 0;
  if (real != real) return (is_signed(to) ? ~u64{0} : 1) << (bits - 1);
  const double whole = std::rint(real);
  if (is_signed(to)) {
    const double least = -std::ldexp(1.0, bits - 1), most = -least;
    if (whole < least)
      return static_cast<u64>(std::numeric_limits<std::int64_t>::min() >> (64 - bits));
    if (whole >= most)
      return static_cast<u64>(std::numeric_limits<std::int64_t>::max() >> (64 - bits));
    return static_cast<u64>(static_cast<std::int64_t>(whole));
  }
  if (whole < 0) return 0;
  if (whole >= std::ldexp(1.0, bits)) return ~u64{0} >> (64 - bits);
  return static_cast<u64>(whole);
}

u64 clamped(const Value& v, Type to) {
  const int bits = 8 * bytes_of(to);
  if (is_signed(to)) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits),
                       least = -most - 1;
    if (!v.is_signed) return v.bits > static_cast<u64>(most) ? static_cast<u64>(most) : v.bits;
    const auto n = static_cast<std::int64_t>(v.bits);
    return static_cast<u64>(n < least ? least : n > most ? most : n);
  }
  const u64 most = ~u64{0} >> (64 - bits);
  if (v.is_signed && static_cast<std::int64_t>(v.bits) < 0) return 0;
  return v.bits > most ? most : v.bits;
}

double as_double(
    const Value& v) {  // exact but for integers of more than 53 bits, which are rounded
  if (v.is_real) return v.real;
  volatile double d = v.is_signed ? static_cast<double>(static_cast<std::int64_t>(v.bits))
                                  : static_cast<double>(v.bits);
  return d;
}
float as_float(const Value& v) {
  volatile float f = v.is_real     ? static_cast<float>(v.real)
                     : v.is_signed ? static_cast<float>(static_cast<std::int64_t>(v.bits))
                                   : static_cast<float>(v.bits);
  return f;
}

// On the way to 16 bits. An integer that a double does not hold gets a last bit of 1 instead of
// being rounded, so that it is rounded once.
double narrowed(const Value& v, const Conversion& how) {
  constexpr u64 most = u64{1} << 53, lost = 0x7ff;
  Value kept = v;
  if (!v.is_real && (v.is_signed ? v.bits + most > 2 * most : v.bits > most))
    kept.bits = (v.bits & ~lost) | ((v.bits & lost) != 0 ? lost + 1 : 0);
  double value = as_double(kept);
  if (how.to_integral) value = std::rint(value);
  return finished(value, how.flags & saturate);
}

// A NaN of 64 bits on the way to less loses the low bits of its fraction, and becomes quiet.
u64 cut_nan(double nan, int exponent_bits, int fraction_bits) {
  const u64 bits = std::bit_cast<u64>(passed(nan));
  const u64 magnitude = (bits & ~u64{0} >> (12 - exponent_bits)) >> (52 - fraction_bits);
  return bits >> 63 << (exponent_bits + fraction_bits) | magnitude;
}

u64 converted(const Value& from, const Conversion& how) {
  if (how.from == Type::f64 && from.real != from.real && (how.flags & saturate) == 0) {
    if (how.to == Type::f32) return cut_nan(from.real, 8, 23);
    if (how.to == Type::f16) return cut_nan(from.real, 5, 10);
    if (how.to == Type::bf16) return cut_nan(from.real, 8, 7);
  }
  switch (how.to) {
    case Type::f32: {
      float f = as_float(from);
      if (how.to_integral) f = std::rint(f);
      return std::bit_cast<u32>(finished(f, how.flags));
    }
    case Type::f64: {
      double d = as_double(from);
      if (how.to_integral) d = std::rint(d);
      return std::bit_cast<u64>(finished(d, how.flags));
    }
    case Type::f16: return half_of(narrowed(from, how), how.rounding);
    case Type::bf16: return bfloat_of(narrowed(from, how), how.rounding);
    default: break;
  }
  if (from.is_real) return integer_of(from.real, how.from, how.to);
  return (how.flags & saturate) != 0 ? clamped(from, how.to) : from.bits;
}

const Op* convert(const Op* op, Warp& w) {
  const Conversion how = Conversion::from_bits(op->bits);
  const RoundingTo mode(how.rounding);
  const bool from_wide = bytes_of(how.from) == 8, to_wide = bytes_of(how.to) == 8;
  for (int i = 0; i < warp_size; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    u64 bits = from_wide ? w.slot<u64>(op->a)[i] : w.slot<u32>(op->a)[i];
    Value v = value_of(how.from, bits);
    if (how.from == Type::f32 && how.to != Type::f16 && (how.flags & flush_denormals) != 0)
      v.real = passed(flushed(static_cast<float>(v.real)));
    bits = converted(v, how);
    if (to_wide)
      w.slot<u64>(op->d)[i] = bits;
    else
      w.slot<u32>(op->d)[i] = static_cast<u32>(bits);
  }
  return op + 1;
}

// Between integers without saturation: by far the most frequent, so at full width.
template <class D, class A>
const Op* resize(const Op* op, Warp& w) {
  const stored<A>* a = w.slot<stored<A>>(op->a);
  return for_each_lane<D>(op, w, [=](int i) { return static_cast<D>(static_cast<A>(a[i])); });
}

template <class D>
void add_resizing_to(Handlers& to, const std::string& name) {
  static constexpr char d = slot_letter<D>;
  static const char narrow[] = {d, 'w', 0}, wide[] = {d, 'x', 0};
  to["cvt." + name + ".u8"] = {resize<D, std::uint8_t>, narrow};
  to["cvt." + name + ".s8"] = {resize<D, std::int8_t>, narrow};
  to["cvt." + name + ".u16"] = {resize<D, std::uint16_t>, narrow};
  to["cvt." + name + ".s16"] = {resize<D, std::int16_t>, narrow};
  to["cvt." + name + ".u32"] = {resize<D, std::uint32_t>, narrow};
  to["cvt." + name + ".s32"] = {resize<D, std::int32_t>, narrow};
  to["cvt." + name + ".u64"] = {resize<D, std::uint64_t>, wide};
  to["cvt." + name + ".s64"] = {resize<D, std::int64_t>, wide};
}

template <class T>
void add_rounded(Handlers& to, const std::string& t) {
  static constexpr char x = slot_letter<T>;
  static const char one[] = {x, x, 0}, two[] = {x, x, x, 0}, three[] = {x, x, x, x, 0};
  to["add." + t + "!"] = {rounded<RAdd, T>, two};
  to["sub." + t + "!"] = {rounded<RSub, T>, two};
  to["mul." + t + "!"] = {rounded<RMul, T>, two};
  to["div." + t + "!"] = {rounded<RDiv, T>, two};
  to["fma." + t + "!"] = to["mad." + t + "!"] = {rounded<RFma, T>, three};
  to["sqrt." + t + "!"] = to["sqrt.approx." + t + "!"] = {rounded<RSqrt, T>, one};
  to["rcp." + t + "!"] = to["rcp.approx." + t + "!"] = {rounded<RRcp, T>, one};
  to["rsqrt.approx." + t + "!"] = {rounded<RRsqrt, T>, one};
  to["neg." + t + "!"] = {rounded<RNeg, T>, one};
  to["abs." + t + "!"] = {rounded<RAbs, T>, one};
  for_each_extreme([&]<class F>(F, const char* name) {
    to[name + ("." + t + "!")] = {rounded<RExtreme<F>, T>, two};
  });
}

}  // namespace

void add_conversion_handlers(Handlers& to) {
  add_rounded<float>(to, "f32");
  add_rounded<double>(to, "f64");
  to["div.approx.f32!"] = {rounded<RQuotient, float>, "www"};
  to["div.full.f32!"] = {rounded<RFullQuotient, float>, "www"};
  to["ex2.approx.f32!"] = {rounded<RExp2, float>, "ww"};
  to["lg2.approx.f32!"] = {rounded<RLog2, float>, "ww"};
  to["sin.approx.f32!"] = {rounded<RSin, float>, "ww"};
  to["cos.approx.f32!"] = {rounded<RCos, float>, "ww"};
  to["cvt"] = {convert, "??"};  // widths by its types
  add_resizing_to<std::uint8_t>(to, "u8");
  add_resizing_to<std::int8_t>(to, "s8");
  add_resizing_to<std::uint16_t>(to, "u16");
  add_resizing_to<std::int16_t>(to, "s16");
  add_resizing_to<std::uint32_t>(to, "u32");
  add_resizing_to<std::int32_t>(to, "s32");
  add_resizing_to<std::uint64_t>(to, "u64");
  add_resizing_to<std::int64_t>(to, "s64");
}

}  // namespace ptx
