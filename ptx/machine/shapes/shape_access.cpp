#include "ptx/machine/shapes/shape_access.h"

#include <algorithm>

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

// Around an address, those at which all that a shape touches lies in the same rows of a region;
// none if it does not lie in rows of it.
Met::Fit fit_of(Region& region, const Shape& s, uint64_t lowest) {
  if (lowest < region.area.first || lowest + s.span > region.end) return {};
  const uint64_t pitch = region.area.pitch_bytes, row = region.area.row_bytes;
  if (pitch == row)
    return {&s, &region, region.area.first, region.end - s.span - region.area.first + 1};
  const uint64_t at = lowest - region.area.first;
  uint64_t before = ~uint64_t{0}, behind = before;  // bytes of each row
  const auto add = [&](uint64_t first, uint64_t bytes) {
    const uint64_t in_row = (at + first) % pitch;
    if (in_row + bytes > row) return false;
    before = std::min(before, in_row);
    behind = std::min(behind, row - in_row - bytes);
    return true;
  };
  if (!add(0, s.span))
    for (const Shape::Run& run : s.runs)
      if (!add(uint64_t{4} * run.first, uint64_t{4} * run.words)) return {};
  return {&s, &region, lowest - before, before + behind + 1};
}

Region* region_of(Warp& w, const Op* op, const Shape& s, uint64_t lowest) {
  Run& run = *w.block->run;
  const Met::Fit& last = run.met(op).fit;
  if (last.shape == &s && lowest - last.first < last.count) return last.region;
  Region* const region = run.memory.at(lowest);
  const Met::Fit fit = region == nullptr ? Met::Fit{} : fit_of(*region, s, lowest);
  if (fit.region == nullptr) return nullptr;
  if (region->area.is_of_caller && run.launch.past.caller)
    return lacks_caller(w) ? nullptr : region;
  Met& met = run.meets(op);
  met.fit = fit;
  return met.region = region;
}

// Marks the words of a shape as written, or says whether all of them are.
bool look_at_written(const Shape& s, Region& region, std::size_t lowest_word, bool writes) {
  bool all = true;
  for (const Shape::Run& run : s.runs) {
    std::uint8_t* written = &region.is_written[lowest_word + run.first];
    for (uint32_t i = 0; i < run.words; ++i) {
      if (writes) written[i] = 1;
      all &= written[i] != 0;
    }
  }
  return all;
}

// Enters who reads or writes the words of a region that somebody may write in this launch. It goes
// without finding out who knows of whom as long as only this warp's block was here, and before its
// last barrier or by the same thread.
bool trace(Warp& w, const Op* op, const Shape& s, Region& region, uint64_t lowest, bool writes) {
  const std::size_t lowest_word = region.word(lowest);
  const auto is_set = [&] {
    return region.is_written.empty() || look_at_written(s, region, lowest_word, writes);
  };
  if (w.block->run->watch != nullptr) return is_set();
  Traces& traces = w.block->run->memory.traces_of(region);
  const Numbering& numbering = w.block->run->numbering;
  const uint32_t settled = numbering.settled(region);
  const uint32_t block = numbering.earlier + w.block->number + 1;
  const uint32_t limit = stamp::make(w.since_barrier, 0);
  const uint32_t first_lane = stamp::make(w.block->shadow.now(), w.index * warp_size);
  const uint32_t by_several = stamp::make(w.block->shadow.now(), stamp::lanes_of + w.index);
  const auto stamps_of = [&](const Shape::Window& window) {
    const Eight lane = vector_at(window.lane);
    return lane == Shape::several ? eight(by_several) : first_lane + lane;
  };
  Eight bad = {}, was_read = {};
  for (const Shape::Window& window : s.windows) {
    const auto is_ordered = [&](Traces::Part of, Traces::Part when) {
      const Eight other_block = vector_at(traces.at(of, lowest_word + window.first));
      const auto is_nobody = other_block <= settled;
      const Eight other = vector_at(traces.at(when, lowest_word + window.first));
      const auto is_own = ((other ^ stamps_of(window)) & stamp::thread_mask) == 0;
      return is_nobody | ((other_block == block) & ((other < limit) | is_own));
    };
    const auto fine = is_ordered(Traces::write_block, Traces::write) &
                      is_ordered(Traces::read_block, Traces::read);
    bad |= ~(Eight)fine & vector_at(window.wanted);
    const Eight readers = vector_at(traces.at(Traces::read_block, lowest_word + window.first));
    was_read |= (Eight)(readers > settled) & vector_at(window.wanted);
  }
  if (!is_zero(bad) || !is_set()) return false;
  const auto number = static_cast<uint32_t>(op - w.code);
  const bool forgets_readers = writes && !is_zero(was_read);  // pages that nobody touched cost none
  for (const Shape::Window& window : s.windows) {
    const auto wanted = vector_at(window.wanted) != 0;
    const auto set = [&](Traces::Part part, Eight value) {
      uint32_t* to = traces.at(part, lowest_word + window.first);
      put_vector(to, wanted ? value : vector_at(to));
    };
    set(writes ? Traces::write_block : Traces::read_block, eight(block));
    set(writes ? Traces::write : Traces::read, stamps_of(window));
    set(writes ? Traces::write_op : Traces::read_op, eight(number));
    if (forgets_readers) set(Traces::read_block, Eight{});
  }
  return true;
}

template <class Address>
const Shape* find(const Op* op, Warp& w, const Address* at, int bytes) {
  Run& run = *w.block->run;
  return run.meets(op).shape = run.memory.shapes.find(at, w.mask, bytes);
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
  if (may_change && (op->flags & is_cached) != 0) return nullptr;
  if (!may_change && !region->is_written.empty()) return nullptr;
  if (may_change && !trace(w, op, s, *region, lowest, writes)) return nullptr;
  if (writes && region->area.is_result)
    for (const Shape::Run& run : s.runs) w.block->stored += run.words;
  return region->area.bytes_at(lowest);
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
