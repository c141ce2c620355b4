// Loads.
#include <cstring>

#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
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
void mark_taint(Warp& w, int slot, int lane, bool is_unwritten) {
  u32& taint = w.taint[static_cast<std::size_t>(slot)];
  taint = (taint & ~(1u << lane)) | u32{is_unwritten} << lane;
  w.has_taint |= is_unwritten;
}

template <class T>
const Op* spread(const Op* op, Warp& w, const std::byte* from, Pattern pattern) {
  for (int part = 0; part < op->parts; ++part) {
    const int slot = slot_of_part(op, w, part);
    if (slot < 0) continue;
    stored<T>* d = w.slot<stored<T>>(slot);
    const T* values = reinterpret_cast<const T*>(from) + part;
    if (pattern == Pattern::one_place) {
      for (int i = 0; i < warp_size; ++i) d[i] = static_cast<stored<T>>(values[0]);
    } else {
      const int step = op->parts;
      for (int i = 0; i < warp_size; ++i) d[i] = static_cast<stored<T>>(values[i * step]);
    }
    if (w.has_taint) w.taint[static_cast<std::size_t>(slot)] = 0;
  }
  return op + 1;
}

template <class T>
const Op* load_lane_by_lane(const Op* op, Warp& w, const u64 (&at)[warp_size], Reach reach) {
  const int bytes = static_cast<int>(sizeof(T)) * op->parts;
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    u32 unwritten = 0;
    const std::byte* from = reach(w,
                                  {.op = op,
                                   .lane = lane,
                                   .address = at[lane],
                                   .bytes = bytes,
                                   .is_strong = (op->flags & is_strong) != 0},
                                  unwritten);
    if (from == nullptr) return nullptr;
    for (int part = 0; part < op->parts; ++part) {
      const int slot = slot_of_part(op, w, part);
      if (slot < 0) continue;
      put<T>(w, slot, lane, from + part * static_cast<int>(sizeof(T)));
      const u32 word = static_cast<u32>(part) * sizeof(T) / 4;
      if (w.has_taint || unwritten != 0) mark_taint(w, slot, lane, (unwritten >> word & 1) != 0);
    }
    if ((op->flags & is_strong) != 0) hear(w, at[lane]);
  }
  return op + 1;
}

// Whether all active lanes read from rows of a region that nobody writes in this launch.
bool reads_input(const Op* op, Warp& w, const u64 (&at)[warp_size], u64 bytes) {
  const Span span = span_of(w, at);
  if (span.all_bits % bytes != 0) return false;
  const Region* region = untraced_region(w, op, span.first, bytes);
  if (region == nullptr || span.last + bytes > region->end) return false;
  const u64 pitch = region->area.pitch_bytes, row = region->area.row_bytes;
  if (pitch == row) return true;
  const u64 within = (span.first - region->area.first) % pitch;
  if (within + (span.last - span.first) + bytes <= row) return true;
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const u64 address = at[std::countr_zero(left)];
    if ((address - region->area.first) % pitch + bytes > row) return false;
  }
  return true;
}

template <class T>
const Op* gather(const Op* op, Warp& w, const u64 (&at)[warp_size], const std::byte* base) {
  for (int part = 0; part < op->parts; ++part) {
    const int slot = slot_of_part(op, w, part);
    if (slot < 0) continue;
    const std::byte* from = base + static_cast<std::size_t>(part) * sizeof(T);
    for (u32 left = w.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      put<T>(w, slot, lane, from + at[lane]);
    }
    if (w.has_taint) w.taint[static_cast<std::size_t>(slot)] &= ~w.mask;
  }
  return op + 1;
}

template <class T>
const Op* load_global(const Op* op, Warp& w) {
  u64 at[warp_size];
  addresses_of(op, w, at);
  const u64 bytes = sizeof(T) * op->parts;
  if ((op->flags & is_strong) != 0) return load_lane_by_lane<T>(op, w, at, reach_global);
  if (w.mask == all_lanes) {
    const Pattern pattern = pattern_of(at, bytes);
    if (pattern != Pattern::any && at[0] % bytes == 0 &&
        untraced_region(w, op, at[0], pattern == Pattern::row ? bytes * warp_size : bytes) !=
            nullptr)
      return spread<T>(op, w, reinterpret_cast<const std::byte*>(at[0]), pattern);
  }
  if (reads_input(op, w, at, bytes)) return gather<T>(op, w, at, nullptr);
  return load_lane_by_lane<T>(op, w, at, reach_global);
}

// Runs of lanes with one address are looked at once. False: something may be wrong.
template <class Look>
bool each_address(const Warp& w, const u64 (&at)[warp_size], const Look& look) {
  for (u32 left = w.mask; left != 0;) {
    const int lane = std::countr_zero(left);
    left &= left - 1;
    u32 reader = static_cast<u32>(w.index * warp_size + lane);
    while (left != 0 && at[std::countr_zero(left)] == at[lane]) {
      reader = stamp::lanes_of + static_cast<u32>(w.index);
      left &= left - 1;
    }
    if (!look(at[lane], reader)) return false;
  }
  return true;
}

template <class T>
const Op* load_shared(const Op* op, Warp& w) {
  u64 at[warp_size];
  addresses_of(op, w, at);
  if (sizeof(T) != 4 || (op->flags & is_strong) != 0)
    return load_lane_by_lane<T>(op, w, at, reach_shared);
  Block& block = *w.block;
  const u64 bytes = sizeof(T) * op->parts;
  const auto number = static_cast<u32>(op - w.code);
  if (w.mask == all_lanes && op->parts == 1 && pattern_of(at, bytes) == Pattern::row &&
      at[0] % bytes == 0 && at[0] + bytes * warp_size <= block.run->shared_bytes &&
      block.shadow.read_row(w, at[0] / 4, number))
    return spread<T>(op, w, block.shared.data() + at[0], Pattern::row);
  const Span span = span_of(w, at);
  const bool is_usual = span.all_bits % bytes == 0 &&
                        span.last + bytes <= block.run->shared_bytes &&
                        each_address(w, at, [&](u64 address, u32 reader) {
                          return block.shadow.read_words(w, reader, address / 4, bytes / 4, number);
                        });
  return is_usual ? gather<T>(op, w, at, block.shared.data())
                  : load_lane_by_lane<T>(op, w, at, reach_shared);
}

template <class T, Reach reach>
const Op* load_elsewhere(const Op* op, Warp& w) {
  u64 at[warp_size];
  addresses_of(op, w, at);
  return load_lane_by_lane<T>(op, w, at, reach);
}

template <class T>
void add_loads(Handlers& to, const std::string& type) {
  to["ld.global." + type] = {load_global<T>, ""};
  to["ld.shared." + type] = {load_shared<T>, ""};
  to["ld.local." + type] = {load_elsewhere<T, reach_local>, ""};
  to["ld." + type] = {load_elsewhere<T, reach_generic>, ""};
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
