// tex: texels by texture objects. They come through the read-only cache. And suld and sust: bytes
// of surfaces, which come through the same one.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "ptx/machine/access.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/taint.h"
#include "ptx/machine/texture/texture.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

const Texture* object_of(const Op* op, Warp& w, int lane, bool is_surface, const char* does) {
  const uint64_t handle = w.slot<uint64_t>(op->a)[lane];
  const auto& all = w.block->run->memory.textures.all;
  const auto found = all.find(handle);
  if (found != all.end() && found->second.is_surface == is_surface) return &found->second;
  report(w, op, Fault::bad_address,
         fmt::format("{} {} object {}, which nobody has made, or which is destroyed",
                     thread_text(w, lane), does, handle));
  return nullptr;
}
const Texture* texture_of(const Op* op, Warp& w, int lane) {
  return object_of(op, w, lane, false, "reads by texture");
}

// Of the words that were read last, by the mask of those that have any.
Channels unwritten_bits(const Warp& w, uint32_t words) {
  Channels bits;
  for (uint32_t n = 0; n < bits.size(); ++n) bits[n] = (words >> n & 1) != 0 ? w.last_bits[n] : 0;
  return bits;
}

struct Fetched {
  Channels values = {}, unwritten = {};
};

// False after a finding.
bool fetch(const Op* op, Warp& w, int lane, const Coordinates& at, Fetched& to) {
  const Texture* const texture = texture_of(op, w, lane);
  if (texture == nullptr) return false;
  const NamedTexel texel = texel_at(*texture, at);
  if (texel.place == NamedTexel::Place::border) to.values = border_of(*texture);
  if (texel.place != NamedTexel::Place::inside) return true;
  uint32_t unwritten = 0;
  const std::byte* const read = reach_global(
      w, {.op = op, .lane = lane, .address = texel.address, .bytes = texture->texel_bytes()},
      unwritten);
  if (read == nullptr) return false;
  to.values = channels_of(*texture, read);
  if (unwritten == 0) return true;
  const Channels bits = unwritten_bits(w, unwritten);
  to.unwritten = unwritten_channels_of(*texture, reinterpret_cast<const std::byte*>(bits.data()));
  return true;
}

Coordinates coordinates_of(const Op* op, const Warp& w, int lane, const int* slots) {
  Coordinates at{.are_integers = (op->mode & 1) != 0, .count = op->b};
  if ((op->mode & 2) != 0) at.layer = w.slot<uint32_t>(*slots++)[lane];
  for (int n = 0; n < at.count; ++n)
    at.bits[static_cast<std::size_t>(n)] = w.slot<uint32_t>(slots[n])[lane];
  return at;
}

// a: the object; d: a list of the slots of four results, or -1, and of the coordinates; b: how many
// of these there are; mode 1: they are integers; + 2: a layer comes before them.
const Op* fetch_texels(const Op* op, Warp& w) {
  const int *const results = w.lists + op->d, *const coordinates = results + 4;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Fetched fetched;
    if (!fetch(op, w, lane, coordinates_of(op, w, lane, coordinates), fetched)) return nullptr;
    for (std::size_t n = 0; n < 4; ++n) {
      if (results[n] < 0) continue;
      w.slot<uint32_t>(results[n])[lane] = fetched.values[n];
      if (w.has_taint || fetched.unwritten[n] != 0)
        mark_unwritten(w, results[n], lane, fetched.unwritten[n]);
    }
  }
  return op + 1;
}

// An element of a surface: null after a finding, or where there is none.
struct OnSurface {
  std::byte* found = nullptr;
  uint32_t unwritten = 0;
};
OnSurface reach_on_surface(const Op* op, Warp& w, int lane, const Texture& surface, bool writes) {
  const int bytes = op->part_bytes * op->parts;
  const auto beyond = static_cast<Beyond>(op->mode >> 2);
  const Coordinates at = coordinates_of(op, w, lane, w.lists + op->d + op->parts);
  const auto where = [&] {
    return fmt::format("{} {} {} bytes from byte {} of a row", thread_text(w, lane),
                       writes ? "writes" : "reads", bytes, static_cast<std::int32_t>(at.bits[0]));
  };
  OnSurface to;
  if (at.bits[0] % static_cast<uint32_t>(bytes) != 0) {
    report(w, op, Fault::misaligned_access,
           where() +
               " of a surface: the first coordinate counts bytes, and has to be a multiple "
               "of what is asked for");
    return to;
  }
  const auto address = address_on_surface(surface, at, bytes, beyond);
  if (!address && beyond == Beyond::trap)
    report(w, op, Fault::bad_address,
           where() + fmt::format(", outside of a surface of {} x {} elements of {} bytes",
                                 surface.height, surface.width, surface.texel_bytes()));
  if (!address) return to;
  to.found = reach_global(
      w, {.op = op, .lane = lane, .address = *address, .bytes = bytes, .writes = writes},
      to.unwritten);
  return to;
}

// a: the object; d: a list of the slots of the values, and of the coordinates; b and mode as above,
// + 4 * Beyond; parts, part_bytes: the values.
template <bool writes>
const Op* access_surface(const Op* op, Warp& w) {
  const int bytes = op->part_bytes;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Texture* const surface = object_of(op, w, lane, true, "goes by surface");
    if (surface == nullptr) return nullptr;
    const OnSurface at = reach_on_surface(op, w, lane, *surface, writes);
    if (w.block->run->failed()) return nullptr;
    for (int n = 0; n < op->parts; ++n) {
      const int slot = w.lists[op->d + n];
      std::byte* const value = bytes == 8
                                   ? reinterpret_cast<std::byte*>(w.slot<uint64_t>(slot) + lane)
                                   : reinterpret_cast<std::byte*>(w.slot<uint32_t>(slot) + lane);
      const auto place = at.found == nullptr ? nullptr : at.found + n * bytes;
      if constexpr (writes) {
        if (!leaves_what_was_written(op, w, lane, slot)) return nullptr;
        if (place != nullptr) std::memcpy(place, value, static_cast<std::size_t>(bytes));
      } else {
        std::memset(value, 0, bytes == 8 ? 8 : 4);
        if (place != nullptr) std::memcpy(value, place, static_cast<std::size_t>(bytes));
        const Channels unset = unwritten_bits(w, at.unwritten);
        uint64_t bits = 0;
        std::memcpy(&bits, reinterpret_cast<const std::byte*>(unset.data()) + n * bytes,
                    static_cast<std::size_t>(bytes));
        if (w.has_taint || bits != 0) mark_unwritten(w, slot, lane, bits);
      }
    }
  }
  return op + 1;
}

// d: the result; mode 1: the height, which plain memory has none of; 2: layers or planes.
const Op* size_of_texture(const Op* op, Warp& w) {
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Texture* const texture = texture_of(op, w, lane);
    if (texture == nullptr) return nullptr;
    const uint64_t height = texture->is_linear ? 0 : texture->height;
    w.slot<uint32_t>(op->d)[lane] = static_cast<uint32_t>(op->mode == 2   ? texture->depth
                                                          : op->mode == 1 ? height
                                                                          : texture->width);
  }
  return op + 1;
}

}  // namespace

void add_texture_handlers(Handlers& to) {
  to["tex"] = {fetch_texels, ""};
  to["txq"] = {size_of_texture, ""};
  to["suld"] = {access_surface<false>, ""};
  to["sust"] = {access_surface<true>, ""};
}

}  // namespace ptx
