// Loads.
#include <cstring>
#include <type_traits>

#include "ptx/machine/cluster/cluster.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
#include "ptx/machine/shapes/fetch.h"
#include "ptx/machine/shapes/shape_access.h"
#include "ptx/machine/taint.h"
#include "ptx/machine/warp_access.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
void put(Warp& w, int slot, int lane, const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  w.slot<stored<T>>(slot)[lane] = static_cast<stored<T>>(value);
}
// Of a part of what was just read, of which words are unwritten, or some bits of them. The bits
// above a number with a sign are copies of it.
template <class T>
[[gnu::noinline]] void mark_taint(Warp& w, int slot, int lane, int part, u32 unwritten) {
  u32 words[8];
  for (u32 n = 0; n < 8; ++n) words[n] = (unwritten >> n & 1) != 0 ? w.last_bits[n] : 0;
  T bits;
  std::memcpy(&bits, reinterpret_cast<std::byte*>(words) + part * static_cast<int>(sizeof bits),
              sizeof bits);
  mark_unwritten(w, slot, lane, static_cast<stored<T>>(bits));
}

template <class T>
[[gnu::noinline]] const Op* load_lane_by_lane(const Op* op, Warp& w, Reach reach) {
  u64 at[warp_size];
  addresses_of(op, w, at);
  const int bytes = static_cast<int>(sizeof(T)) * op->parts;
  u32 unwritten = 0;
  const std::byte* from = nullptr;
  u64 known = 0;
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    // What no kernel writes is the same for the next lane, with nothing to note.
    const bool is_known = (op->flags & is_constant) != 0 && from != nullptr && at[lane] == known;
    if (!is_known) {
      known = at[lane];
      unwritten = 0;
      from = reach(w,
                   {.op = op,
                    .lane = lane,
                    .address = at[lane],
                    .bytes = bytes,
                    .is_strong = (op->flags & is_strong) != 0},
                   unwritten);
    }
    if (from == nullptr) return nullptr;
    const bool is_atomic = (op->flags & is_strong) != 0;
    const std::byte* const early = is_atomic
                                       ? w.block->run->late_stores.found_by(
                                             w, op, lane, at[lane], static_cast<std::size_t>(bytes))
                                       : nullptr;
    if (early != nullptr) from = early;
    for (int part = 0; part < op->parts; ++part) {
      const int slot = slot_of_part(op, w, part);
      if (slot < 0) continue;
      put<T>(w, slot, lane, from + part * static_cast<int>(sizeof(T)));
      if (w.has_taint || unwritten != 0) mark_taint<T>(w, slot, lane, part, unwritten);
    }
    // Also what the late store tells, which comes too soon: what was told before it must be heard.
    if (is_atomic) hear(w, at[lane], reach);
  }
  return op + 1;
}

// Of the active lanes, all values are written ones.
[[gnu::noinline]] void clear_taint(const Op* op, Warp& w) {
  for (int part = 0; part < op->parts; ++part)
    if (const int slot = slot_of_part(op, w, part); slot >= 0)
      w.taint[static_cast<std::size_t>(slot)] &= ~w.mask;
}

// Vectors, and what is no word.
template <class T>
[[gnu::noinline]] void load_parts(const Op* op, Warp& w, const Shape& s, const std::byte* from) {
  const auto slot = [&](int part) {
    const int n = slot_of_part(op, w, part);
    return n < 0 ? nullptr : w.slot<stored<T>>(n);
  };
  if constexpr (std::is_same_v<T, u32>) {
    if (op->parts == 4) return fetch_fours(w, s, from, {slot(0), slot(1), slot(2), slot(3)});
  }
  for (int part = 0; part < op->parts; ++part)
    if (stored<T>* to = slot(part); to != nullptr)
      fetch_each<T>(w, s, from + part * static_cast<int>(sizeof(T)), to);
}

// From each thread's own array.
template <class T>
bool load_own(const Op* op, Warp& w, Reach reach) {
  if (reach != reach_local && reach != reach_generic) return false;
  std::byte* from[warp_size];
  const u64 bytes = sizeof(T) * static_cast<u64>(op->parts);
  if (!find_in_own(op, w, bytes, reach == reach_generic, false, from)) return false;
  for (int part = 0; part < op->parts; ++part) {
    const int slot = slot_of_part(op, w, part);
    for (u32 left = slot < 0 ? 0 : w.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      put<T>(w, slot, lane, from[lane] + part * static_cast<int>(sizeof(T)));
    }
  }
  if (w.has_taint) clear_taint(op, w);
  return true;
}

// All lanes at once, if nothing about the access is unusual and all that is read was written.
template <class T, Reach reach, ReachShape reach_shape>
const Op* load(const Op* op, Warp& w) {
  const int bytes = static_cast<int>(sizeof(T)) * op->parts;
  if (bytes % 4 != 0 || (op->flags & is_strong) != 0) return load_lane_by_lane<T>(op, w, reach);
  u64 lowest = 0;
  const Shape* s = shape_of(op, w, bytes, lowest);
  const std::byte* from = s == nullptr ? nullptr : reach_shape(w, op, *s, lowest, false);
  if (from == nullptr)
    return load_own<T>(op, w, reach) ? op + 1 : load_lane_by_lane<T>(op, w, reach);
  if (std::is_same_v<T, u32> && op->parts == 1 && op->d >= 0)
    fetch_words(w, *s, from, w.slot<u32>(op->d));
  else
    load_parts<T>(op, w, *s, from);
  if (w.has_taint) clear_taint(op, w);
  return op + 1;
}
template <class T, Reach reach>
const Op* load_elsewhere(const Op* op, Warp& w) {
  const bool is_weak = (op->flags & is_strong) == 0;
  return is_weak && load_own<T>(op, w, reach) ? op + 1 : load_lane_by_lane<T>(op, w, reach);
}

template <class T>
void add_loads(Handlers& to, const std::string& type) {
  to["ld.global." + type] = {load<T, reach_global, reach_global_shape>, ""};
  to["ld.shared." + type] = {load<T, reach_shared, reach_shared_shape>, ""};
  to["ld.shared::cluster." + type] = {load_elsewhere<T, reach_cluster>, ""};
  to["ld.local." + type] = {load_elsewhere<T, reach_local>, ""};
  to["ld." + type] = {load<T, reach_generic, reach_generic_shape>, ""};
}

}  // namespace

void add_load_handlers(Handlers& to) {
  add_loads<std::uint8_t>(to, "u8");
  add_loads<std::int8_t>(to, "s8");
  add_loads<std::uint16_t>(to, "u16");
  add_loads<std::int16_t>(to, "s16");
  add_loads<u32>(to, "u32");
  add_loads<u64>(to, "u64");
}

}  // namespace ptx
