#include "ptx/machine/texture/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "ptx/machine/halves.h"

namespace ptx {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using Edge = Texture::Edge;

// Of a coordinate from 0 to 1, as many bits behind the point count; the rest is cut off.
constexpr int64_t one = int64_t{1} << 21;

// What is no number counts as 0. What is beyond all textures may be anywhere there.
double as_number(uint32_t bits) {
  constexpr double beyond_all = 1e9;
  const double x = std::bit_cast<float>(bits);
  return std::isnan(x) ? 0 : std::clamp(x, -beyond_all, beyond_all);
}

int64_t remainder_of(int64_t x, int64_t by) { return (x % by + by) % by; }

// Of an infinite coordinate that is wrapped nothing is left.
int64_t wrapped(uint32_t bits, Edge edge) {
  if (std::isinf(std::bit_cast<float>(bits))) return 0;
  const double x = as_number(bits), whole = 2 * std::floor(x / 2);
  const auto fraction = static_cast<int64_t>(std::floor((x - whole) * static_cast<double>(one)));
  if (edge == Edge::wrap) return remainder_of(fraction, one);
  return fraction <= one ? fraction : 2 * one - fraction;
}

// Which of `count` texels in a row a coordinate names; nothing: the border.
std::optional<int64_t> index_of(uint32_t bits, int64_t count, Edge edge, bool is_normalised) {
  if (!is_normalised && edge != Edge::border) edge = Edge::clamp;
  int64_t index = 0;
  if (!is_normalised) {
    index = static_cast<int64_t>(std::floor(as_number(bits)));
  } else if (edge == Edge::wrap || edge == Edge::mirror) {
    index = wrapped(bits, edge) * count / one;
  } else {
    const double x = std::clamp(as_number(bits), -2.0, 2.0);
    const auto fraction = static_cast<int64_t>(std::floor(x * static_cast<double>(one)));
    index = fraction < 0 ? -1 : fraction * count / one;
  }
  if (edge == Edge::border && (index < 0 || index >= count)) return {};
  return std::clamp<int64_t>(index, 0, count - 1);
}

// Whatever integers name outside of a texture is 0, also where it has a border.
std::optional<uint64_t> index_of_integer(uint32_t bits, uint64_t count) {
  const auto index = static_cast<std::int32_t>(bits);
  if (index < 0 || static_cast<uint64_t>(index) >= count) return {};
  return static_cast<uint64_t>(index);
}

// By other forms an H200 finds nothing, but by two coordinates the first layer.
bool has_form(const Texture& t, const Coordinates& at) {
  if (t.is_surface) return false;
  if (at.layer) return t.is_layered && (at.count == 2 || t.height == 1);
  return at.count == 3 ? !t.is_layered : t.is_layered || t.depth == 1;
}

// Beyond the last layer is that.
uint64_t layer_of(const Texture& t, const Coordinates& at) {
  return std::min<uint64_t>(at.layer.value_or(0), t.depth - 1);
}
uint64_t address_of(const Texture& t, uint64_t x, uint64_t y, uint64_t z) {
  return t.address + z * t.slice + y * t.pitch + x * static_cast<uint64_t>(t.texel_bytes());
}

NamedTexel texel_by_integers(const Texture& t, const Coordinates& at) {
  // An H100 finds nothing by one integer in rows, nor by two in plain memory.
  if (t.is_linear != (at.count == 1 && !at.layer)) return {};
  const auto index = [&](int n, uint64_t count) {
    return n < at.count ? index_of_integer(at.bits[static_cast<std::size_t>(n)], count)
                        : std::optional<uint64_t>(0);
  };
  const auto x = index(0, t.width), y = index(1, t.height), z = index(2, t.depth);
  if (!x || !y || !z) return {};
  if (at.layer && *at.layer >= t.depth) return {};
  return {NamedTexel::Place::inside, address_of(t, *x, *y, at.layer ? *at.layer : *z)};
}

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

// Of a channel of 8 or 16 bits.
uint32_t widened(const Texture& t, uint32_t bits) {
  const auto with_sign = t.bits == 8 ? static_cast<std::int32_t>(static_cast<std::int8_t>(bits))
                                     : static_cast<std::int32_t>(static_cast<std::int16_t>(bits));
  if (t.kind == Texture::Kind::real)
    return bits_of(float_of_half(static_cast<std::uint16_t>(bits)));
  const bool has_sign = t.kind == Texture::Kind::with_sign;
  if (!t.reads_fractions) return has_sign ? static_cast<uint32_t>(with_sign) : bits;
  const auto largest = static_cast<float>((1 << (t.bits - (has_sign ? 1 : 0))) - 1);
  return bits_of(has_sign ? std::max(static_cast<float>(with_sign) / largest, -1.0f)
                          : static_cast<float>(bits) / largest);
}

uint32_t bits_of_channel(const Texture& t, const std::byte* texel, int channel) {
  const int bytes = t.bits / 8;
  uint32_t bits = 0;
  std::memcpy(&bits, texel + channel * bytes, static_cast<std::size_t>(bytes));
  return bits;
}

}  // namespace

NamedTexel texel_at(const Texture& t, const Coordinates& at) {
  if (t.width == 0 || t.height == 0 || !has_form(t, at)) return {};
  if (at.are_integers) return texel_by_integers(t, at);
  if (t.is_linear) return {};  // an H100 finds nothing there, wherever it is to look
  const auto index = [&](std::size_t n, uint64_t count) {
    return static_cast<int>(n) < at.count
               ? index_of(at.bits[n], static_cast<int64_t>(count), t.edges[n], t.is_normalised)
               : std::optional<int64_t>(0);
  };
  const auto x = index(0, t.width), y = index(1, t.height), z = index(2, t.depth);
  if (!x || !y || !z) return {NamedTexel::Place::border};
  return {NamedTexel::Place::inside,
          address_of(t, static_cast<uint64_t>(*x), static_cast<uint64_t>(*y),
                     at.layer ? layer_of(t, at) : static_cast<uint64_t>(*z))};
}

std::optional<uint64_t> address_on_surface(const Texture& t, const Coordinates& at, int bytes,
                                           Beyond beyond) {
  const auto row = static_cast<int64_t>(t.width) * t.texel_bytes();
  bool is_outside = false;
  // `step`: what lies together.
  const auto index = [&](uint32_t bits, int64_t end, int64_t step) {
    const int64_t asked = static_cast<std::int32_t>(bits), last = (end - step) / step * step;
    is_outside |= asked < 0 || asked > end - step;
    return static_cast<uint64_t>(std::clamp<int64_t>(asked, 0, std::max<int64_t>(last, 0)));
  };
  const uint64_t x = index(at.bits[0], row, bytes);
  const uint64_t y = at.count > 1 ? index(at.bits[1], static_cast<int64_t>(t.height), 1) : 0;
  const uint32_t z = at.layer ? *at.layer : at.count > 2 ? at.bits[2] : 0;
  // An H200 takes a layer for a number without a sign.
  const bool is_beyond = at.layer && *at.layer >= t.depth;
  is_outside |= is_beyond;
  const uint64_t plane = is_beyond ? t.depth - 1 : index(z, static_cast<int64_t>(t.depth), 1);
  if (is_outside && beyond != Beyond::clamp) return {};
  return t.address + plane * t.slice + y * t.pitch + x;
}

Channels channels_of(const Texture& t, const std::byte* texel) {
  Channels all = {};
  for (int c = 0; c < t.channels; ++c) {
    const uint32_t bits = bits_of_channel(t, texel, c);
    all[static_cast<std::size_t>(c)] = t.bits == 32 ? bits : widened(t, bits);
  }
  return all;
}

Channels border_of(const Texture& t) {
  Channels all = {};
  std::copy_n(t.border.begin(), t.channels, all.begin());
  return all;
}

// A number that is made of a channel hangs on all of its bits.
Channels unwritten_channels_of(const Texture& t, const std::byte* unwritten_bits) {
  Channels all = {};
  for (int c = 0; c < t.channels; ++c) {
    const uint32_t bits = bits_of_channel(t, unwritten_bits, c);
    all[static_cast<std::size_t>(c)] = t.bits == 32 || bits == 0 ? bits : ~0u;
  }
  return all;
}

}  // namespace ptx
