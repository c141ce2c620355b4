// Accesses of all active lanes at once, each of them looked at, for the shapes that they usually
// have. Null or false: nothing was done. Something may be wrong, or is rare: go lane by lane.
#pragma once

#include "ptx/machine/access.h"
#include "ptx/machine/shapes/shape.h"

namespace ptx {

// The shape of an access of `bytes` bytes a lane, and its lowest address.
template <class Address>
inline const Shape* shape_at(const Op* op, Warp& w, const Address* at, int bytes,
                             std::uint64_t& lowest) {
  const auto n = static_cast<std::size_t>(op - w.code);
  const Shape*& met = w.block->run->shape_of[n];
  if (met == nullptr || met->mask != w.mask || met->bytes != bytes ||
      !has_shape(*met, at, at[met->lead])) {
    met = w.block->run->memory.shapes.find(at, w.mask, bytes);
    if (met == nullptr) return nullptr;
  }
  const auto lead = static_cast<Address>(at[met->lead] + op->bits);
  lowest = lead + static_cast<std::uint64_t>(met->low);
  return lowest % static_cast<std::uint64_t>(bytes) == 0 ? met : nullptr;
}
inline const Shape* shape_of(const Op* op, Warp& w, int bytes, std::uint64_t& lowest) {
  static constexpr std::uint64_t nowhere[warp_size] = {};
  if (op->a < 0) return shape_at(op, w, nowhere, bytes, lowest);
  return (op->flags & address_is_wide) != 0
             ? shape_at(op, w, w.slot<std::uint64_t>(op->a), bytes, lowest)
             : shape_at(op, w, w.slot<std::uint32_t>(op->a), bytes, lowest);
}

// Where the bytes from the lowest address on lie.
using ReachShape = std::byte* (*)(Warp&, const Op*, const Shape&, std::uint64_t lowest,
                                  bool writes);
std::byte* reach_global_shape(Warp&, const Op*, const Shape&, std::uint64_t lowest, bool writes);
std::byte* reach_shared_shape(Warp&, const Op*, const Shape&, std::uint64_t lowest, bool writes);
std::byte* reach_generic_shape(Warp&, const Op*, const Shape&, std::uint64_t lowest, bool writes);

}  // namespace ptx
