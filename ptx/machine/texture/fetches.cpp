// tex: texels by texture objects. They come through the read-only cache.
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

const Texture* texture_of(const Op* op, Warp& w, int lane) {
  const uint64_t handle = w.slot<uint64_t>(op->a)[lane];
  const auto& all = w.block->run->memory.textures.all;
  if (const auto found = all.find(handle); found != all.end()) return &found->second;
  report(w, op, Fault::bad_address,
         fmt::format("{} reads by texture object {}, which nobody has made, or which is destroyed",
                     thread_text(w, lane), handle));
  return nullptr;
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
  uint32_t bits[4];
  for (uint32_t n = 0; n < 4; ++n) bits[n] = (unwritten >> n & 1) != 0 ? w.last_bits[n] : 0;
  to.unwritten = unwritten_channels_of(*texture, reinterpret_cast<const std::byte*>(bits));
  return true;
}

// a: the object; d: a list of the slots of four results, or -1, and of the coordinates; b: how many
// of these there are; mode 1: they are integers.
const Op* fetch_texels(const Op* op, Warp& w) {
  const int *const results = w.lists + op->d, *const coordinates = results + 4;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Coordinates at{.are_integers = op->mode == 1, .count = op->b};
    for (int n = 0; n < at.count; ++n)
      at.bits[static_cast<std::size_t>(n)] = w.slot<uint32_t>(coordinates[n])[lane];
    Fetched fetched;
    if (!fetch(op, w, lane, at, fetched)) return nullptr;
    for (std::size_t n = 0; n < 4; ++n) {
      if (results[n] < 0) continue;
      w.slot<uint32_t>(results[n])[lane] = fetched.values[n];
      if (w.has_taint || fetched.unwritten[n] != 0)
        mark_unwritten(w, results[n], lane, fetched.unwritten[n]);
    }
  }
  return op + 1;
}

// d: the result; mode 1: the height, which plain memory has none of.
const Op* size_of_texture(const Op* op, Warp& w) {
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Texture* const texture = texture_of(op, w, lane);
    if (texture == nullptr) return nullptr;
    const uint64_t height = texture->is_linear ? 0 : texture->height;
    w.slot<uint32_t>(op->d)[lane] = static_cast<uint32_t>(op->mode == 1 ? height : texture->width);
  }
  return op + 1;
}

}  // namespace

void add_texture_handlers(Handlers& to) {
  to["tex"] = {fetch_texels, ""};
  to["txq"] = {size_of_texture, ""};
}

}  // namespace ptx
