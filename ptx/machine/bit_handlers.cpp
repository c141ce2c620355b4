// Operations on the bits of integers.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "ptx/machine/adding.h"

namespace ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
using unsigned_of = std::make_unsigned_t<T>;
template <class T>
inline constexpr unsigned bits_of = sizeof(T) * 8;

struct PopulationCount {
  template <class T>
  static u32 of(T a) {
    return static_cast<u32>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <class T>
  static u32 of(T a) {
    return static_cast<u32>(std::countl_zero(a));
  }
};
struct ReversedBits {
  template <class T>
  static T of(T a) {
    T reversed = 0;
    for (unsigned i = 0; i < bits_of<T>; ++i) reversed |= (a >> i & 1) << (bits_of<T> - 1 - i);
    return reversed;
  }
};
template <bool as_shift>
struct FindFirst {  // the most significant bit that differs from the sign
  template <class T>
  static u32 of(T a) {
    const auto bits = static_cast<unsigned_of<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (bits == 0) return ~0u;
    const u32 zeros = static_cast<u32>(std::countl_zero(bits));
    return as_shift ? zeros : bits_of<T> - 1 - zeros;
  }
};
// A place or a length: of 32 bits its low byte counts, of 64 all of it.
template <class T>
u32 count_of(u32 n) {
  return std::min(sizeof(T) == 4 ? n & 0xff : n, bits_of<T>);
}
template <class T>
unsigned_of<T> low_bits(u32 length) {
  return length >= bits_of<T> ? ~unsigned_of<T>{0} : (unsigned_of<T>{1} << length) - 1;
}
struct ExtractBits {
  template <class T>
  static T of(T a, u32 at, u32 length) {
    at = std::min(count_of<T>(at), bits_of<T> - 1 + (std::is_signed_v<T> ? 0 : 1));
    length = count_of<T>(length);
    const auto mask = low_bits<T>(length);
    const auto d = static_cast<unsigned_of<T>>(at == bits_of<T> ? T{0} : a >> at) & mask;
    const bool sign = std::is_signed_v<T> && length != 0 && (d >> (length - 1)) != 0;
    return static_cast<T>(sign ? d | ~mask : d);
  }
};
struct ThreeInputLogic {
  static u32 of(u32 a, u32 b, u32 c, u32 table) {
    u32 d = 0;
    for (int i = 0; i < 8; ++i) {
      if ((table >> i & 1) == 0) continue;
      d |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
    return d;
  }
};

// d = a with `length` bits from `at` on replaced by those of the first operand: bfi d, a, b, at,
// length.
template <class T>
const Op* insert_bits(const Op* op, Warp& w) {
  const T *a = w.slot<T>(op->a), *b = w.slot<T>(op->b);
  const u32 *at = w.slot<u32>(op->c), *length = w.slot<u32>(op->e);
  return for_each_lane<T>(op, w, [=](int i) {
    const u32 from = count_of<T>(at[i]);
    if (from == bits_of<T>) return b[i];
    const T mask = low_bits<T>(count_of<T>(length[i])) << from;
    return static_cast<T>((b[i] & ~mask) | (a[i] << from & mask));
  });
}
const Op* three_input_logic(const Op* op, Warp& w) {
  const u32 *a = w.slot<u32>(op->a), *b = w.slot<u32>(op->b), *c = w.slot<u32>(op->c),
            *table = w.slot<u32>(op->e);
  return for_each_lane<u32>(op, w,
                            [=](int i) { return ThreeInputLogic::of(a[i], b[i], c[i], table[i]); });
}

// Chooses bytes of a and b; the selector's nibbles say which, their high bit spreads the sign.
// Modes: 0 none, then f4e b4e rc8 ecl ecr rc16.
template <int mode>
const Op* permute_bytes(const Op* op, Warp& w) {
  const u32 *a = w.slot<u32>(op->a), *b = w.slot<u32>(op->b), *c = w.slot<u32>(op->c);
  return for_each_lane<u32>(op, w, [=](int i) {
    const u64 both = u64{b[i]} << 32 | a[i];
    u32 selector = c[i];
    if constexpr (mode != 0) {
      static constexpr u16 tables[6][4] = {
          {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
          {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
          {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
      selector = tables[mode - 1][selector & 3];
    }
    u32 d = 0;
    for (int n = 0; n < 4; ++n) {
      const u32 nibble = selector >> 4 * n & 0xf;
      u32 byte = static_cast<u32>(both >> 8 * (nibble & 7)) & 0xff;
      if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      d |= byte << 8 * n;
    }
    return d;
  });
}

template <class T>
void add_of_bits(Adding& adding, Handlers& to, const std::string& t) {
  adding.one<PopulationCount, u32, T>("popc." + t);
  adding.one<LeadingZeros, u32, T>("clz." + t);
  adding.one<ReversedBits, T, T>("brev." + t);
  to["bfi." + t] = {insert_bits<T>, sizeof(T) == 8 ? "xxxww" : "wwwww"};
}
template <class T>
void add_of_type(Adding& adding, const std::string& t) {
  adding.one<FindFirst<false>, u32, T>("bfind." + t);
  adding.one<FindFirst<true>, u32, T>("bfind.shiftamt." + t);
  adding.three<ExtractBits, T, T, u32, u32>("bfe." + t);
}

}  // namespace

void add_bit_handlers(Handlers& to) {
  Adding adding(to);
  add_of_bits<u32>(adding, to, "b32");
  add_of_bits<u64>(adding, to, "b64");
  add_of_type<u32>(adding, "u32");
  add_of_type<std::int32_t>(adding, "s32");
  add_of_type<u64>(adding, "u64");
  add_of_type<std::int64_t>(adding, "s64");
  to["lop3.b32"] = {three_input_logic, "wwwww"};
  to["prmt.b32"] = {permute_bytes<0>, "wwww"};
  to["prmt.b32.f4e"] = {permute_bytes<1>, "wwww"};
  to["prmt.b32.b4e"] = {permute_bytes<2>, "wwww"};
  to["prmt.b32.rc8"] = {permute_bytes<3>, "wwww"};
  to["prmt.b32.ecl"] = {permute_bytes<4>, "wwww"};
  to["prmt.b32.ecr"] = {permute_bytes<5>, "wwww"};
  to["prmt.b32.rc16"] = {permute_bytes<6>, "wwww"};
}

}  // namespace ptx
