// Conversions between numbers of 8 bits, two in a half word, and wider ones. E4M3 has no infinity
// and one NaN for each sign; E5M2 has both as FP16 does. A number that is too large becomes the
// largest one, also where it is infinite.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ptx/machine/halves.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
#include "ptx/machine/reals.h"

namespace ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;

struct E4M3 {
  static constexpr int fraction = 3, least_exponent = -6;
  static constexpr u32 largest = 0x7e;  // 448
};
struct E5M2 {
  static constexpr int fraction = 2, least_exponent = -14;
  static constexpr u32 largest = 0x7b;  // 57344
};

// Rounded to the nearest, halves to the even one.
template <class Format>
u32 narrowed(float value, bool clamps_below) {
  constexpr u32 not_a_number = 0x7f;
  if (std::isnan(value)) return not_a_number;
  if (clamps_below && std::signbit(value)) return 0;
  const u32 sign = std::signbit(value) ? 0x80 : 0;
  const float size = std::abs(value);
  if (std::isinf(size)) return sign | Format::largest;
  int exponent = size == 0 ? Format::least_exponent : std::ilogb(size);
  exponent = std::max(exponent, Format::least_exponent);
  // In units of the last place: a denormal's bits, or those of a number plus its exponent.
  const auto units =
      static_cast<u32>(std::nearbyint(std::ldexp(size, Format::fraction - exponent)));
  const u32 bits =
      (static_cast<u32>(exponent - Format::least_exponent) << Format::fraction) + units;
  return sign | std::min(bits, Format::largest);
}

template <class Format>
u16 widened(u32 bits) {
  constexpr u16 not_a_number = 0x7fff;
  const u32 rest = bits & 0x7f;
  if constexpr (Format::fraction == E5M2::fraction)
    return rest > 0x7c ? not_a_number : static_cast<u16>(bits << 8);
  return rest == 0x7f ? not_a_number : half_of(float_of_e4m3(static_cast<std::uint8_t>(bits)), 0);
}

// cvt.rn.satfinite.e4m3x2.f32 d, a, b: a becomes the high byte.
template <class Format>
const Op* narrow_floats(const Op* op, Warp& w) {
  const float *a = w.slot<float>(op->a), *b = w.slot<float>(op->b);
  const bool clamps = (op->flags & clamp_below) != 0;
  return for_each_lane<u32>(op, w, [&](int i) {
    return narrowed<Format>(a[i], clamps) << 8 | narrowed<Format>(b[i], clamps);
  });
}
template <class Format>
const Op* narrow_halves(const Op* op, Warp& w) {
  const u32* a = w.slot<u32>(op->a);
  const bool clamps = (op->flags & clamp_below) != 0;
  return for_each_lane<u32>(op, w, [&](int i) {
    const auto byte = [&](u32 bits) {
      return narrowed<Format>(float_of_half(static_cast<u16>(bits)), clamps);
    };
    return byte(a[i] >> 16) << 8 | byte(a[i]);
  });
}
template <class Format>
const Op* widen(const Op* op, Warp& w) {
  const u32* a = w.slot<u32>(op->a);
  const bool clamps = (op->flags & clamp_below) != 0;
  return for_each_lane<u32>(op, w, [&](int i) {
    const auto half = [&](u32 bits) -> u32 {
      const u32 wide = widened<Format>(bits & 0xff);
      return clamps && (wide & 0x8000) != 0 ? 0 : wide;
    };
    return half(a[i] >> 8) << 16 | half(a[i]);
  });
}

template <class Format>
void add(Handlers& to, const std::string& type) {
  to["cvt." + type + ".f32"] = {narrow_floats<Format>, "www"};
  to["cvt." + type + ".f16x2"] = {narrow_halves<Format>, "ww"};
  to["cvt.f16x2." + type] = {widen<Format>, "ww"};
}

}  // namespace

void add_eight_bit_float_handlers(Handlers& to) {
  add<E4M3>(to, "e4m3x2");
  add<E5M2>(to, "e5m2x2");
}

}  // namespace ptx
