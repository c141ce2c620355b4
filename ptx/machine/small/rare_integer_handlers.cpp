// Integer instructions that few kernels use: with a carry, on parts of words, and on 24 bits.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "ptx/machine/adding.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;

// d = a + b, or a - b. c: the predicate that holds the carry, or the borrow. mode: CarryMode.
template <class T>
const Op* with_carry(const Op* op, Warp& w) {
  T* d = w.slot<T>(op->d);
  const T *a = w.slot<T>(op->a), *b = w.slot<T>(op->b);
  const bool reads = (op->mode & 1) != 0, writes = (op->mode & 2) != 0,
             subtracts = (op->mode & 4) != 0;
  u32& carry = w.predicates[op->c];
  u32 carried = 0;
  for (int i = 0; i < warp_size; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    const T in = reads ? carry >> i & 1 : 0;
    const T first = subtracts ? a[i] - b[i] : a[i] + b[i];
    const T both = subtracts ? first - in : first + in;
    const bool out = subtracts ? a[i] < b[i] || first < in : first < a[i] || both < first;
    carried |= u32{out} << i;
    d[i] = both;
  }
  if (writes) carry = (carry & ~w.mask) | carried;
  return op + 1;
}

template <class A, class B>
s64 part_of(u32 a, int part_a, u32 b, int part_b) {
  const auto pick = []<class T>(T, u32 word, int n) {
    return s64{static_cast<T>(word >> n * static_cast<int>(sizeof(T)) * 8)};
  };
  return pick(A{}, a, part_a) * pick(B{}, b, part_b);
}
template <class A, class B>
struct DotOf4 {
  static u32 of(u32 a, u32 b, u32 c) {
    s64 sum = c;
    for (int n = 0; n < 4; ++n) sum += part_of<A, B>(a, n, b, n);
    return static_cast<u32>(sum);
  }
};
template <class A, class B, int first>
struct DotOf2 {
  static u32 of(u32 a, u32 b, u32 c) {
    return static_cast<u32>(c + part_of<A, B>(a, 0, b, first) + part_of<A, B>(a, 1, b, first + 1));
  }
};
template <class A16, class A8, class B8>
void add_dots(Adding& adding, const std::string& types) {
  adding.three<DotOf4<A8, B8>, u32, u32, u32, u32>("dp4a." + types);
  adding.three<DotOf2<A16, B8, 0>, u32, u32, u32, u32>("dp2a.lo." + types);
  adding.three<DotOf2<A16, B8, 2>, u32, u32, u32, u32>("dp2a.hi." + types);
}

// Each half of a word.
template <class F, class T>
struct Halfwise {
  static u32 of(u32 a, u32 b) {
    const auto half = [&](int shift) {
      return static_cast<u32>(
                 static_cast<u16>(F::of(static_cast<T>(a >> shift), static_cast<T>(b >> shift))))
             << shift;
    };
    return half(0) | half(16);
  }
};
struct Sum {
  static int of(int a, int b) { return a + b; }
};
struct Least {
  static int of(int a, int b) { return std::min(a, b); }
};
struct Most {
  static int of(int a, int b) { return std::max(a, b); }
};
template <class F>
struct NotNegative {
  static int of(int a, int b) { return std::max(F::of(a, b), 0); }
};

template <class T>
constexpr s64 low24(T v) {
  return static_cast<T>(static_cast<u32>(v) << 8) >> 8;
}
struct Mul24High {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(low24(a) * low24(b) >> 16);
  }
};
struct Mad24High {
  template <class T>
  static T of(T a, T b, T c) {
    return static_cast<T>(static_cast<u32>(Mul24High::of(a, b)) + static_cast<u32>(c));
  }
};
struct MadHighSaturating {
  static s32 of(s32 a, s32 b, s32 c) {
    return static_cast<s32>(std::clamp<s64>((s64{a} * b >> 32) + c, std::numeric_limits<s32>::min(),
                                            std::numeric_limits<s32>::max()));
  }
};

constexpr u32 count_of(u32 n, bool wraps) { return wraps ? n % 32 : std::min(n, 32u); }
template <bool wraps>
struct BitMask {
  static u32 of(u32 at, u32 length) {
    const u64 ones = (u64{1} << count_of(length, wraps)) - 1;
    return static_cast<u32>(ones << count_of(at, wraps));
  }
};
// Of the n-th bit that is set, from bit `from` upwards or, where n is negative, downwards; n = 0:
// of that bit itself.
struct FindNthSet {
  static u32 of(u32 bits, u32 from, s32 n) {
    const int step = n < 0 ? -1 : 1;
    s64 left = n == 0 ? 1 : std::abs(s64{n});
    for (s64 at = from; at >= 0 && at < 32; at += step) {
      if ((bits >> at & 1) != 0 && --left == 0) return static_cast<u32>(at);
      if (n == 0) break;
    }
    return ~u32{0};
  }
};
template <class T, bool wraps>
struct Extended {  // the low bits of a, as a number of that width
  static T of(T a, u32 width) {
    const u32 n = count_of(width, wraps);
    if (n == 0) return 0;
    return static_cast<T>(static_cast<T>(static_cast<u32>(a) << (32 - n)) >> (32 - n));
  }
};

}  // namespace

void add_rare_integer_handlers(Handlers& to) {
  Adding adding(to);
  to["carry.b32"] = {with_carry<u32>, "www"};
  to["carry.b64"] = {with_carry<u64>, "xxx"};
  add_dots<u16, std::uint8_t, std::uint8_t>(adding, "u32.u32");
  add_dots<u16, std::uint8_t, std::int8_t>(adding, "u32.s32");
  add_dots<s16, std::int8_t, std::uint8_t>(adding, "s32.u32");
  add_dots<s16, std::int8_t, std::int8_t>(adding, "s32.s32");
  adding.two<Halfwise<Sum, u16>, u32, u32, u32>("add.u16x2");
  adding.two<Halfwise<Sum, s16>, u32, u32, u32>("add.s16x2");
  adding.two<Halfwise<Least, u16>, u32, u32, u32>("min.u16x2");
  adding.two<Halfwise<Least, s16>, u32, u32, u32>("min.s16x2");
  adding.two<Halfwise<Most, u16>, u32, u32, u32>("max.u16x2");
  adding.two<Halfwise<Most, s16>, u32, u32, u32>("max.s16x2");
  adding.two<Halfwise<NotNegative<Least>, s16>, u32, u32, u32>("min.relu.s16x2");
  adding.two<Halfwise<NotNegative<Most>, s16>, u32, u32, u32>("max.relu.s16x2");
  adding.two<NotNegative<Least>, s32, s32, s32>("min.relu.s32");
  adding.two<NotNegative<Most>, s32, s32, s32>("max.relu.s32");
  adding.two<Mul24High, u32, u32, u32>("mul24.hi.u32");
  adding.two<Mul24High, s32, s32, s32>("mul24.hi.s32");
  adding.three<Mad24High, u32, u32, u32, u32>("mad24.hi.u32");
  adding.three<Mad24High, s32, s32, s32, s32>("mad24.hi.s32");
  adding.three<MadHighSaturating, s32, s32, s32, s32>("mad.sat.s32");
  adding.two<BitMask<false>, u32, u32, u32>("bmsk.clamp.b32");
  adding.two<BitMask<true>, u32, u32, u32>("bmsk.wrap.b32");
  adding.three<FindNthSet, u32, u32, u32, s32>("fns.b32");
  adding.two<Extended<u32, false>, u32, u32, u32>("szext.clamp.u32");
  adding.two<Extended<u32, true>, u32, u32, u32>("szext.wrap.u32");
  adding.two<Extended<s32, false>, s32, s32, u32>("szext.clamp.s32");
  adding.two<Extended<s32, true>, s32, s32, u32>("szext.wrap.s32");
}

}  // namespace ptx
