#include "ptx/machine/shapes/shape_access.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

// Whether all that a shape touches lies in rows of a region.
bool holds(const Region& region, const Shape& s, uint64_t lowest) {
  if (lowest < region.area.first || lowest + s.span > region.end) return false;
  const uint64_t pitch = region.area.pitch_bytes, row = region.area.row_bytes;
  if (pitch == row) return true;
  const uint64_t at = lowest - region.area.first;
  if (at % pitch + s.span <= row) return true;
  for (const Shape::Run& run : s.runs)
    if ((at + uint64_t{4} * run.first) % pitch + uint64_t{4} * run.words > row) return false;
  return true;
}

Region* region_of(Warp& w, const Op* op, const Shape& s, uint64_t lowest) {
  Run& run = *w.block->run;
  Region*& cached = run.region_of[static_cast<std::size_t>(op - w.code)];
  if (cached != nullptr && holds(*cached, s, lowest)) return cached;
  Region* region = run.memory.at(lowest);
  if (region == nullptr || !holds(*region, s, lowest)) return nullptr;
  return cached = region;
}

// Enters who reads or writes the words of a region that somebody may write in this launch. It goes
// without finding out who knows of whom as long as only this warp's block was here, and before its
// last barrier or by the same thread.
bool trace(Warp& w, const Op* op, const Shape& s, Region& region, uint64_t lowest, bool writes) {
  Memory::Contents& memory = w.block->run->memory;
  LazyArray<Trace>& traces = memory.traces_of(region);
  const uint32_t limit = stamp::make(w.since_barrier, 0), now = w.block->shadow.now();
  const uint64_t block = (uint64_t{w.block->number} + 1) << 32;
  const auto stamp_of = [&](uint32_t lane) {
    return stamp::make(now, lane == Shape::several
                                ? stamp::lanes_of + static_cast<uint32_t>(w.index)
                                : static_cast<uint32_t>(w.index * warp_size) + lane);
  };
  const auto each_word = [&](const auto& look) {
    for (const Shape::Window& window : s.windows)
      for (std::size_t i = 0; i < 8; ++i)
        if (window.wanted[i] != 0 &&
            !look(region.word(lowest) + window.first + i, stamp_of(window.lane[i])))
          return false;
    return true;
  };
  const bool is_usual = each_word([&](std::size_t i, uint32_t mine) {
    const Trace& t = memory.of_this_launch(traces[i]);
    const auto is_ordered = [&](uint64_t other) {
      return other == 0 || (other >> 32 << 32 == block &&
                            (static_cast<uint32_t>(other) < limit ||
                             stamp::thread(static_cast<uint32_t>(other)) == stamp::thread(mine)));
    };
    if (t.is_in_parts || !is_ordered(t.write) || !is_ordered(t.read)) return false;
    return writes || region.is_written.empty() || region.is_written[i] != 0;
  });
  if (!is_usual) return false;
  const auto number = static_cast<uint32_t>(op - w.code);
  return each_word([&](std::size_t i, uint32_t mine) {
    Trace& t = traces[i];
    (writes ? t.write : t.read) = block | mine;
    (writes ? t.write_op : t.read_op) = number;
    (writes ? t.write_is_atomic : t.read_is_atomic) = false;
    if (writes) t.read = 0;
    if (writes && !region.is_written.empty()) region.is_written[i] = 1;
    return true;
  });
}

template <class Address>
const Shape* find(const Op* op, Warp& w, const Address* at, int bytes) {
  Run& run = *w.block->run;
  return run.shape_of[static_cast<std::size_t>(op - w.code)] =
             run.memory.shapes.find(at, w.mask, bytes);
}

}  // namespace

const Shape* other_shape(const Op* op, Warp& w, const uint64_t* at, int bytes) {
  return find(op, w, at, bytes);
}
const Shape* other_shape(const Op* op, Warp& w, const uint32_t* at, int bytes) {
  return find(op, w, at, bytes);
}

std::byte* reach_global_shape(Warp& w, const Op* op, const Shape& s, uint64_t lowest, bool writes) {
  Region* region = region_of(w, op, s, lowest);
  if (region == nullptr) return nullptr;
  const bool may_change = region->area.writable;
  if (writes && (!may_change || !s.is_disjoint)) return nullptr;
  if (!may_change && !region->is_written.empty()) return nullptr;
  if (may_change && !trace(w, op, s, *region, lowest, writes)) return nullptr;
  return reinterpret_cast<std::byte*>(lowest);
}

std::byte* reach_generic_shape(Warp& w, const Op* op, const Shape& s, uint64_t lowest,
                               bool writes) {
  const Block& block = *w.block;
  const auto base_of = [](const std::vector<std::byte>& memory) {
    return reinterpret_cast<uint64_t>(memory.data());
  };
  const uint64_t in_shared = lowest - base_of(block.shared);
  if (in_shared < block.run->shared_bytes) return reach_shared_shape(w, op, s, in_shared, writes);
  return reach_global_shape(w, op, s, lowest, writes);
}

}  // namespace ptx
