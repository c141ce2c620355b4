// Places in shared memory that operations name by addresses of shared memory or by generic ones.
#pragma once

#include "ptx/machine/block.h"

namespace ptx {

enum class Named : std::uint8_t { in_shared, generic };  // Op::parts

// By a slot (-1: none) and what is added to it.
inline std::uint64_t place_in_shared(const Warp& w, int lane, int slot, bool is_wide,
                                     std::uint64_t add, Named named) {
  std::uint64_t at = add;
  if (slot >= 0)
    at += is_wide ? w.slot<std::uint64_t>(slot)[lane] : w.slot<std::uint32_t>(slot)[lane];
  if (named == Named::generic) return at - reinterpret_cast<std::uint64_t>(w.block->shared.data());
  return static_cast<std::uint32_t>(at);
}
// By the address of an operation: a and bits.
inline std::uint64_t place_of_lane(const Op* op, const Warp& w, int lane) {
  return place_in_shared(w, lane, op->a, (op->flags & address_is_wide) != 0, op->bits,
                         static_cast<Named>(op->parts));
}

inline Block::Copies& copies_of(Warp& w) {
  return w.block->copies[static_cast<std::size_t>(w.index)];
}

// Those that wait for a phase look again.
void wake_waits(Block&);

}  // namespace ptx
