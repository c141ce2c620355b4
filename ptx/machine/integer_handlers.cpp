#include <cstdint>
#include <type_traits>

#include "ptx/machine/adding.h"

namespace ptx {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

template <class T>
using unsigned_of = std::make_unsigned_t<T>;
template <class T>
using signed_of = std::make_signed_t<T>;
template <class T>
inline constexpr unsigned bits_of = sizeof(T) * 8;

// As wide as the product of two.
template <class T>
struct Wide {
  using type = std::conditional_t<std::is_signed_v<T>, s64, u64>;
};
template <>
struct Wide<u64> {
  using type = u128;
};
template <>
struct Wide<s64> {
  using type = s128;
};
template <>
struct Wide<u16> {
  using type = u32;
};
template <>
struct Wide<s16> {
  using type = s32;
};
template <class T>
using wide = typename Wide<T>::type;

// Sums and products wrap, which only unsigned ones do in C++; those of 16 bits would be promoted.
template <class T>
using wrapping = std::conditional_t<(sizeof(T) < 4), u32, unsigned_of<T>>;
#define ASSAY_WRAPPING(Name, expression)                                           \
  struct Name {                                                                    \
    template <class T>                                                             \
    static T of(T x, T y) {                                                        \
      const auto a = static_cast<wrapping<T>>(x), b = static_cast<wrapping<T>>(y); \
      return static_cast<T>(expression);                                           \
    }                                                                              \
  };
ASSAY_WRAPPING(Add, a + b)
ASSAY_WRAPPING(Sub, a - b)
ASSAY_WRAPPING(MulLo, a* b)
ASSAY_WRAPPING(And, a& b)
ASSAY_WRAPPING(Or, a | b)
ASSAY_WRAPPING(Xor, a ^ b)
#undef ASSAY_WRAPPING

struct AddSaturating {
  static s32 of(s32 a, s32 b) { return clamp(s64{a} + b); }
  static s32 clamp(s64 v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : static_cast<s32>(v);
  }
};
struct SubSaturating {
  static s32 of(s32 a, s32 b) { return AddSaturating::clamp(s64{a} - b); }
};
struct MulHi {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((static_cast<wide<T>>(a) * static_cast<wide<T>>(b)) >> bits_of<T>);
  }
};
struct MulWide {
  template <class T>
  static wide<T> of(T a, T b) {
    return static_cast<wide<T>>(a) * static_cast<wide<T>>(b);
  }
};
struct MadLo {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(MulLo::of(a, b), c);
  }
};
struct MadHi {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(MulHi::of(a, b), c);
  }
};
struct MadWide {
  template <class T>
  static wide<T> of(T a, T b, wide<T> c) {
    return Add::of(MulWide::of(a, b), c);
  }
};
template <class T>
constexpr T low24(T v) {
  return static_cast<T>(static_cast<T>(static_cast<u32>(v) << 8) >> 8);
}
struct Mul24 {
  template <class T>
  static T of(T a, T b) {
    return MulLo::of(low24(a), low24(b));
  }
};
struct Mad24 {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(Mul24::of(a, b), c);
  }
};
// What a GPU gives where C++ gives nothing: all ones, by ptxas's own code.
struct Div {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub::of(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct AbsoluteDifferencePlus {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(a < b ? Sub::of(b, a) : Sub::of(a, b), c);
  }
};
struct Abs {
  template <class T>
  static T of(T a) {
    return a < 0 ? Sub::of(T{0}, a) : a;
  }
};
struct Neg {
  template <class T>
  static T of(T a) {
    return Sub::of(T{0}, a);
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
struct CNot {
  template <class T>
  static T of(T a) {
    return a == 0 ? 1 : 0;
  }
};
struct Copy {
  template <class T>
  static T of(T a) {
    return a;
  }
};
// Distances beyond the width shift everything out.
struct Shl {
  template <class T>
  static T of(T a, u32 by) {
    return by >= bits_of<T> ? T{0} : static_cast<T>(static_cast<unsigned_of<T>>(a) << by);
  }
};
struct Shr {
  template <class T>
  static T of(T a, u32 by) {
    if (by >= bits_of<T>) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> by);
  }
};
template <bool left, bool wraps>
struct Funnel {
  static u32 of(u32 low, u32 high, u32 by) {
    const u32 n = wraps ? by % 32 : by > 32 ? 32 : by;
    const u64 both = u64{high} << 32 | low;
    return static_cast<u32>(left ? (both << n) >> 32 : n == 32 ? both >> 32 : both >> n);
  }
};

struct Equal {
  template <class T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static bool of(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <class T>
  static bool of(T a, T b) {
    return a >= b;
  }
};

template <class T>
void add_of_type(Adding& adding, const std::string& t) {
  adding.two<Add, T, T, T>("add." + t);
  adding.two<Sub, T, T, T>("sub." + t);
  adding.two<MulLo, T, T, T>("mul.lo." + t);
  adding.two<MulHi, T, T, T>("mul.hi." + t);
  adding.three<MadLo, T, T, T, T>("mad.lo." + t);
  adding.three<MadHi, T, T, T, T>("mad.hi." + t);
  adding.two<Div, T, T, T>("div." + t);
  adding.two<Rem, T, T, T>("rem." + t);
  adding.two<Min, T, T, T>("min." + t);
  adding.two<Max, T, T, T>("max." + t);
  adding.three<AbsoluteDifferencePlus, T, T, T, T>("sad." + t);
  adding.two<Shr, T, T, u32>("shr." + t);
  adding.comparison<Equal, T>("setp.eq." + t);
  adding.comparison<NotEqual, T>("setp.ne." + t);
  adding.comparison<Less, T>("setp.lt." + t);
  adding.comparison<LessOrEqual, T>("setp.le." + t);
  adding.comparison<Greater, T>("setp.gt." + t);
  adding.comparison<GreaterOrEqual, T>("setp.ge." + t);
  if constexpr (std::is_unsigned_v<T>) {
    adding.comparison<Less, T>("setp.lo." + t);
    adding.comparison<LessOrEqual, T>("setp.ls." + t);
    adding.comparison<Greater, T>("setp.hi." + t);
    adding.comparison<GreaterOrEqual, T>("setp.hs." + t);
  } else {
    adding.one<Abs, T, T>("abs." + t);
    adding.one<Neg, T, T>("neg." + t);
  }
  if constexpr (sizeof(T) < 8) {
    adding.two<MulWide, wide<T>, T, T>("mul.wide." + t);
    adding.three<MadWide, wide<T>, T, T, wide<T>>("mad.wide." + t);
  }
  if constexpr (sizeof(T) == 4) {
    adding.two<Mul24, T, T, T>("mul24.lo." + t);
    adding.three<Mad24, T, T, T, T>("mad24.lo." + t);
  }
}
template <class T>
void add_of_bits(Adding& adding, const std::string& t) {
  adding.one<Copy, T, T>("mov." + t);
  adding.one<Not, T, T>("not." + t);
  adding.one<CNot, T, T>("cnot." + t);
  adding.two<And, T, T, T>("and." + t);
  adding.two<Or, T, T, T>("or." + t);
  adding.two<Xor, T, T, T>("xor." + t);
  adding.two<Shl, T, T, u32>("shl." + t);
  adding.two<Shr, T, T, u32>("shr." + t);
  adding.comparison<Equal, T>("setp.eq." + t);
  adding.comparison<NotEqual, T>("setp.ne." + t);
}

}  // namespace

void add_integer_handlers(Handlers& to) {
  Adding adding(to);
  add_of_type<u16>(adding, "u16");
  add_of_type<s16>(adding, "s16");
  add_of_type<u32>(adding, "u32");
  add_of_type<s32>(adding, "s32");
  add_of_type<u64>(adding, "u64");
  add_of_type<s64>(adding, "s64");
  add_of_bits<u16>(adding, "b16");
  add_of_bits<u32>(adding, "b32");
  add_of_bits<u64>(adding, "b64");
  adding.two<AddSaturating, s32, s32, s32>("add.sat.s32");
  adding.two<SubSaturating, s32, s32, s32>("sub.sat.s32");
  adding.three<Funnel<true, true>, u32, u32, u32, u32>("shf.l.wrap.b32");
  adding.three<Funnel<true, false>, u32, u32, u32, u32>("shf.l.clamp.b32");
  adding.three<Funnel<false, true>, u32, u32, u32, u32>("shf.r.wrap.b32");
  adding.three<Funnel<false, false>, u32, u32, u32, u32>("shf.r.clamp.b32");
}

}  // namespace ptx
