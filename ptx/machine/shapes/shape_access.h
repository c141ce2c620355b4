// Accesses of all active lanes at once, each of them looked at, for the shapes that they usually
// have. Null or false: nothing was done. Something may be wrong, or is rare: go lane by lane.
#pragma once

#include "ptx/machine/access.h"
#include "ptx/machine/shapes/eight.h"
#include "ptx/machine/shapes/shape.h"

namespace ptx {

// Whether the lanes of its mask have a shape. The address of its lead is `lead`; `on` has all ones
// for each lane of the mask.
inline bool has_shape(const Shape& s, const std::uint64_t* at, std::uint64_t lead,
                      const std::uint32_t* on) {
  const auto others = [&](int i) {
    return (vector_at<WideFour>(at + i) - lead) ^ vector_at<WideFour>(s.distance + i);
  };
  WideFour other = {};
  if (s.mask == all_lanes) {
    for (int i = 0; i < warp_size; i += 4) other |= others(i);
  } else {
    for (int i = 0; i < warp_size; i += 4) other |= others(i) & widened(on + i);
  }
  return is_zero(other);
}
inline bool has_shape(const Shape& s, const std::uint32_t* at, std::uint32_t lead,
                      const std::uint32_t* on) {
  Eight other = {};
  for (int i = 0; i < warp_size; i += 8)
    other |= ((vector_at(at + i) - lead) ^ vector_at(s.short_distance + i)) & vector_at(on + i);
  return is_zero(other);
}

// The shape of an access of `bytes` bytes a lane, and its lowest address.
const Shape* other_shape(const Op*, Warp&, const std::uint64_t* at, int bytes);
const Shape* other_shape(const Op*, Warp&, const std::uint32_t* at, int bytes);
template <class Address>
inline const Shape* shape_at(const Op* op, Warp& w, const Address* at, int bytes,
                             std::uint64_t& lowest) {
  const Shape* s = w.block->run->met(op).shape;
  if (s == nullptr || s->mask != w.mask || s->bytes != bytes ||
      !has_shape(*s, at, at[s->lead], w.lane_masks))
    s = other_shape(op, w, at, bytes);
  if (s == nullptr) return nullptr;
  lowest = static_cast<Address>(at[s->lead] + op->bits) + static_cast<std::uint64_t>(s->low);
  return (lowest & static_cast<std::uint64_t>(bytes - 1)) == 0 ? s : nullptr;
}
inline const Shape* shape_of(const Op* op, Warp& w, int bytes, std::uint64_t& lowest) {
  static constexpr std::uint64_t nowhere[warp_size] = {};
  if ((op->flags & address_is_wide) == 0 && op->a >= 0)
    return shape_at(op, w, w.slot<std::uint32_t>(op->a), bytes, lowest);
  return shape_at(op, w, op->a < 0 ? nowhere : w.slot<std::uint64_t>(op->a), bytes, lowest);
}

// Where the bytes from the lowest address on lie.
using ReachShape = std::byte* (*)(Warp&, const Op*, const Shape&, std::uint64_t lowest,
                                  bool writes);
std::byte* reach_global_shape(Warp&, const Op*, const Shape&, std::uint64_t lowest, bool writes);
std::byte* reach_generic_shape(Warp&, const Op*, const Shape&, std::uint64_t lowest, bool writes);
inline std::byte* reach_shared_shape(Warp& w, const Op* op, const Shape& s, std::uint64_t lowest,
                                     bool writes) {
  Block& block = *w.block;
  const auto number = static_cast<std::uint32_t>(op - w.code);
  const Run::Part part = block.run->shared_part(number);
  if (lowest < part.first || lowest > part.end || lowest + s.span > part.end) return nullptr;
  const bool is_usual = writes ? block.shadow.write_shape(w, s, lowest / 4, number)
                               : block.shadow.read_shape(w, s, lowest / 4, number);
  return is_usual ? block.shared.data() + lowest : nullptr;
}

}  // namespace ptx
