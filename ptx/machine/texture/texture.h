// Textures as an H100 reads them, but for filters: which texel coordinates name, and what becomes
// of its bits. And surfaces, of which coordinates name bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace ptx {

struct Texture {
  enum class Edge : std::uint8_t { wrap, clamp, mirror, border };  // by CUDA's numbers
  enum class Kind : std::uint8_t { with_sign, without_sign, real };

  std::uint64_t address = 0, pitch = 0;  // of its rows, in bytes
  std::uint64_t width = 0, height = 0;   // texels
  std::uint64_t slice = 0;               // bytes of a layer, or of a plane
  std::uint64_t depth = 1;               // how many of them there are
  bool is_layered = false;
  int channels = 1, bits = 32;  // of each texel, and of each of its channels
  Kind kind = Kind::real;
  bool is_linear = false;        // plain memory: one row, of which integers alone name texels
  bool is_normalised = false;    // its edges lie at 0 and 1, for coordinates that are no integers
  bool reads_fractions = false;  // integers become fractions of the largest one
  std::array<Edge, 3> edges = {};
  std::array<std::uint32_t, 4> border = {};

  bool is_surface = false;

  int texel_bytes() const { return channels * bits / 8; }
};

// By the handles that kernels take: none has that of another one that is there.
struct Textures {
  std::map<std::uint64_t, Texture> all;
  std::uint64_t next = 1;
};

// How coordinates are given, and how many there are.
struct Coordinates {
  bool are_integers = false;
  int count = 1;
  std::array<std::uint32_t, 3> bits = {};
  std::optional<std::uint32_t> layer = {};
};

// What they name: a texel, or no memory at all.
struct NamedTexel {
  enum class Place : std::uint8_t { inside, nowhere, border } place = Place::nowhere;
  std::uint64_t address = 0;
};
NamedTexel texel_at(const Texture&, const Coordinates&);

// Of bytes that a surface does not have: nobody may ask for them, the nearest ones come in their
// place, or none do.
enum class Beyond : std::uint8_t { trap, clamp, zero };
// Nothing where `bytes` bytes lie outside; the first coordinate counts bytes.
std::optional<std::uint64_t> address_on_surface(const Texture&, const Coordinates&, int bytes,
                                                Beyond);

// Of a texel, the bits that a kernel gets for each of four channels; 0 for those that it lacks.
using Channels = std::array<std::uint32_t, 4>;
Channels channels_of(const Texture&, const std::byte* texel);
Channels border_of(const Texture&);
// Likewise which of these bits nobody wrote, by those of the texel that nobody did.
Channels unwritten_channels_of(const Texture&, const std::byte* unwritten_bits);

}  // namespace ptx
