// Stores, atomics and fences.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/scramble.h"
#include "ptx/machine/async/bulk_copies.h"
#include "ptx/machine/bits/kept.h"
#include "ptx/machine/bits/results.h"
#include "ptx/machine/cluster/cluster.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/shapes/shape_access.h"
#include "ptx/machine/taint.h"
#include "ptx/machine/warp_access.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// Stores. What nobody wrote leaves its place unwritten.
template <class T>
bool store_lane(const Op* op, Warp& w, int lane, std::byte* to) {
  bool all_known = true;
  for (int part = 0; part < op->parts; ++part) {
    const int slot = slot_of_part(op, w, part);
    const auto value = static_cast<T>(w.slot<stored<T>>(slot)[lane]);
    std::memcpy(to + part * static_cast<int>(sizeof(T)), &value, sizeof value);
    all_known &= !w.has_taint || static_cast<T>(unwritten_of(w, slot, lane)) == 0;
  }
  return all_known;
}

// All lanes at once, each to words of its own.
template <class T>
void store_shape(const Op* op, Warp& w, const Shape& s, std::byte* to) {
  for (int part = 0; part < op->parts; ++part) {
    const stored<T>* values = w.slot<stored<T>>(slot_of_part(op, w, part));
    std::byte* const first = to + part * static_cast<int>(sizeof(T));
    if (s.is_row && op->parts == 1 && sizeof(T) == sizeof(stored<T>)) {
      std::memcpy(first, values, warp_size * sizeof(T));
      continue;
    }
    for (u32 left = w.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const auto value = static_cast<T>(values[lane]);
      std::memcpy(first + s.offset[lane], &value, sizeof value);
    }
  }
}
bool stores_what_was_written(const Op* op, Warp& w) {
  if (!w.has_taint) return true;
  for (int part = 0; part < op->parts; ++part)
    if ((w.taint[static_cast<std::size_t>(slot_of_part(op, w, part))] & w.mask) != 0) return false;
  return true;
}

template <class T, Reach reach>
[[gnu::noinline]] const Op* store_lane_by_lane(const Op* op, Warp& w) {
  const int bytes = static_cast<int>(sizeof(T)) * op->parts;
  u64 at[warp_size];
  addresses_of(op, w, at);
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    u32 unwritten = 0;
    if ((op->flags & is_strong) != 0) tell(w, at[lane], reach, Lock::may_free);
    std::byte* to = reach(w,
                          {.op = op,
                           .lane = lane,
                           .address = at[lane],
                           .bytes = bytes,
                           .writes = true,
                           .is_strong = (op->flags & is_strong) != 0},
                          unwritten);
    if (to == nullptr) return nullptr;
    if ((op->flags & is_strong) != 0)
      w.block->run->late_stores.change(w, op, at[lane], static_cast<std::size_t>(bytes), true);
    if (store_lane<T>(op, w, lane, to)) continue;
    for (int part = 0; part < op->parts; ++part)
      keep_unwritten(w, slot_of_part(op, w, part), lane,
                     at[lane] + static_cast<u64>(part) * sizeof(T), sizeof(T), reach);
  }
  return op + 1;
}

// To each thread's own array.
template <class T, Reach reach>
bool store_own(const Op* op, Warp& w) {
  if (reach != reach_local && reach != reach_generic) return false;
  std::byte* to[warp_size];
  const u64 bytes = sizeof(T) * static_cast<u64>(op->parts);
  if (!find_in_own(op, w, bytes, reach == reach_generic, true, to)) return false;
  for (u32 left = w.mask; left != 0; left &= left - 1)
    store_lane<T>(op, w, std::countr_zero(left), to[std::countr_zero(left)]);
  return true;
}

template <class T, Reach reach, ReachShape reach_shape>
const Op* store(const Op* op, Warp& w) {
  const int bytes = static_cast<int>(sizeof(T)) * op->parts;
  if (reach != reach_local) ++w.block->run->changes;
  if (bytes % 4 != 0 || (op->flags & is_strong) != 0 || !stores_what_was_written(op, w))
    return store_lane_by_lane<T, reach>(op, w);
  if constexpr (reach_shape != nullptr) {
    u64 lowest = 0;
    const Shape* s = shape_of(op, w, bytes, lowest);
    std::byte* to = s == nullptr ? nullptr : reach_shape(w, op, *s, lowest, true);
    if (to != nullptr) {
      store_shape<T>(op, w, *s, to);
      return op + 1;
    }
  }
  return store_own<T, reach>(op, w) ? op + 1 : store_lane_by_lane<T, reach>(op, w);
}

// Atomics: one lane after the other, each on what the last one left.
enum class Atomic : std::uint8_t { add, min, max, inc, dec, band, bor, bxor, exch, cas };

template <class T>
T changed(Atomic how, T old, T b, T c) {
  if constexpr (std::is_floating_point_v<T>) {
    return how == Atomic::add   ? as_gpu(static_cast<T>(old + b))
           : how == Atomic::min ? std::min(old, b)
                                : std::max(old, b);
  } else {
    using U = std::make_unsigned_t<T>;
    const U o = static_cast<U>(old), v = static_cast<U>(b);
    switch (how) {
      case Atomic::add: return static_cast<T>(o + v);
      case Atomic::min: return std::min(old, b);
      case Atomic::max: return std::max(old, b);
      case Atomic::inc: return static_cast<T>(o >= v ? U{0} : o + 1);
      case Atomic::dec: return static_cast<T>(o == 0 || o > v ? v : o - 1);
      case Atomic::band: return static_cast<T>(o & v);
      case Atomic::bor: return static_cast<T>(o | v);
      case Atomic::bxor: return static_cast<T>(o ^ v);
      case Atomic::exch: return b;
      case Atomic::cas: return old == b ? c : old;
    }
    return old;
  }
}

// Additions of floats take denormal numbers for zero, but for those in shared memory.
bool is_in_shared(const Warp& w, const std::byte* at) {
  const Block& block = *w.block;
  return static_cast<u64>(at - block.shared.data()) < block.run->shared_bytes;
}
float sum_in_global_memory(float old, float more) {
  return flushed(as_gpu(flushed(old) + flushed(more)));
}

bool counts_on(Atomic how) {
  return how == Atomic::add || how == Atomic::inc || how == Atomic::dec;
}

// What another launch may have made of memory that it shares, in between: one such step, or none.
template <class T>
void take_turns(const Warp& w, Atomic how, T b, u64 address, T& old) {
  const Run& run = *w.block->run;
  if (run.settings.numbers != Drawn::with_gaps) return;
  const Region* const region = run.memory.at(address);
  if (!counts_on(how) || region == nullptr || region->area.is_of_caller) return;
  if (assay::scramble(run.settings.seed ^ static_cast<u64>(old) << 8) % 2 == 1)
    old = changed(how, old, b, T{});
}

template <class T, Reach reach>
const Op* atomic(const Op* op, Warp& w) {
  u64 at[warp_size];
  addresses_of(op, w, at);
  const auto how = static_cast<Atomic>(op->mode);
  // By an exchange a lock may be taken, which two launches may well have in turns.
  const bool exchanges = how == Atomic::exch || how == Atomic::cas;
  const bool counts = std::is_integral_v<T> && !exchanges;
  const Lock lock = exchanges ? Lock::may_take_or_free : Lock::none;
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    u32 unwritten = 0;
    std::byte* to = reach_atomically(w,
                                     {.op = op,
                                      .lane = lane,
                                      .address = at[lane],
                                      .bytes = sizeof(T),
                                      .reads_too = how != Atomic::exch,
                                      .hands_out = counts && op->d >= 0,
                                      .counts_on = counts && counts_on(how),
                                      .unit = op->e},
                                     reach, lock, unwritten);
    if (to == nullptr || (unwritten != 0 && !changes_unwritten(op, w, lane))) return nullptr;
    T old;
    std::memcpy(&old, to, sizeof old);
    const T b = w.slot<T>(op->b)[lane], c = op->c >= 0 ? w.slot<T>(op->c)[lane] : T{};
    if constexpr (std::is_integral_v<T>) take_turns(w, how, b, at[lane], old);
    T now = changed(how, old, b, c);
    if constexpr (std::is_same_v<T, float>)
      if (how == Atomic::add && !is_in_shared(w, to)) now = sum_in_global_memory(old, b);
    if (std::memcmp(to, &now, sizeof now) != 0) ++w.block->run->changes;
    std::memcpy(to, &now, sizeof now);
    if (op->d >= 0) w.slot<T>(op->d)[lane] = old;
  }
  return op + 1;
}

// What was written there last may never reach memory: so it is as if nobody had written.
const Op* discard(const Op* op, Warp& w) {
  constexpr int line = 128, piece = 16;
  u64 at[warp_size];
  addresses_of(op, w, at);
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    u32 unwritten = 0;
    for (u64 n = 0; n < line; n += piece)
      if (reach_global(w,
                       {.op = op,
                        .lane = lane,
                        .address = at[lane] + n,
                        .bytes = piece,
                        .writes = true,
                        .unit = n == 0 ? line : 0},
                       unwritten) == nullptr)
        return nullptr;
    w.block->run->memory.unwrite(at[lane], line);
  }
  return op + 1;
}

// Without clusters each block is one.
bool is_alone(const Block& block) {
  return block.in_cluster.all == nullptr || block.in_cluster.all->size() == 1;
}

void fence_global_for_copies(const Warp& w) {
  Block& block = *w.block;
  block.run->fenced_for_copies[block.number] = block.shadow.now();
  if (block.fenced_version != block.knows.version()) block.fenced_of_others.learn(block.knows);
  block.fenced_version = block.knows.version();
  const auto heard = block.hearsay.find(w.index);
  if (heard != block.hearsay.end()) block.fenced_of_others.learn(heard->second.known);
}

// mode 1: for bulk copies of shared memory as well, 4: of global memory, 3: of both; 2: for threads
// of the block alone, 5: of the cluster, 6: and for what signals mbarriers.
const Op* fence_all(const Op* op, Warp& w) {
  fence(w, op->mode == 2 || (op->mode >= 5 && is_alone(*w.block)));
  if (op->mode == 6) fence_mbarriers(w);
  if (op->mode == 1 || op->mode == 3) {
    w.block->shadow.fence_proxy(w);
    fence_proxy_of_peers(w);
  }
  if (op->mode == 3 || op->mode == 4) fence_global_for_copies(w);
  return op + 1;
}

template <class T>
void add_stores(Handlers& to, const std::string& type) {
  to["st.global." + type] = {store<T, reach_global, reach_global_shape>, ""};
  to["st.shared." + type] = {store<T, reach_shared, reach_shared_shape>, ""};
  to["st.shared::cluster." + type] = {store<T, reach_cluster, nullptr>, ""};
  to["st.local." + type] = {store<T, reach_local, nullptr>, ""};
  to["st." + type] = {store<T, reach_generic, reach_generic_shape>, ""};
}
template <class T>
void add_atomics(Handlers& to, const std::string& type) {
  to["atom.global." + type] = {atomic<T, reach_global>, ""};
  to["atom.shared." + type] = {atomic<T, reach_shared>, ""};
  to["atom.shared::cluster." + type] = {atomic<T, reach_cluster>, ""};
  to["atom." + type] = {atomic<T, reach_generic>, ""};
}

}  // namespace

void add_memory_handlers(Handlers& to) {
  add_stores<std::uint8_t>(to, "u8");
  add_stores<std::uint16_t>(to, "u16");
  add_stores<u32>(to, "u32");
  add_stores<u64>(to, "u64");
  add_atomics<u32>(to, "u32");
  add_atomics<s32>(to, "s32");
  add_atomics<u64>(to, "u64");
  add_atomics<s64>(to, "s64");
  add_atomics<float>(to, "f32");
  add_atomics<double>(to, "f64");
  to["discard"] = {discard, ""};
  to["fence"] = {fence_all, ""};
}

}  // namespace ptx
