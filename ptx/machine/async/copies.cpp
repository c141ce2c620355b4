// cp.async: copies of 4 to 16 bytes that a thread starts and waits for.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "ptx/machine/access.h"
#include "ptx/machine/async/place.h"
#include "ptx/machine/bits/kept.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/shapes/shape_access.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint64_t time_of_copy = 100;  // in that of a usual operation, its landing included

uint64_t lowest_of(const Shape& s, const uint64_t* at) {
  return at[s.lead] + static_cast<uint64_t>(s.low);
}

const Shape* target_of(Warp& w, const Block::Copy& copy) {
  Run& run = *w.block->run;
  const Shape*& last = run.meets(copy.op).target;
  if (last == nullptr || last->mask != w.mask ||
      !has_shape(*last, copy.to, copy.to[last->lead], w.lane_masks))
    last = run.memory.shapes.find(copy.to, w.mask, copy.op->mode);
  return last;
}

// Whether everything is usual about where the copies go: then nothing is left to be looked at
// there.
bool take_off_together(Warp& w, Block::Copy& copy) {
  const Op* const op = copy.op;
  const Shape* const target = target_of(w, copy);
  if (target == nullptr) return false;
  const uint64_t lowest = lowest_of(*target, copy.to);
  if (lowest % op->mode != 0 || reach_shared_shape(w, op, *target, lowest, true) == nullptr)
    return false;
  w.block->shadow.take_off_shape(*target, lowest / 4);
  uint32_t reading = 0, whole = 0;
  for (int n = 0; n < 4; ++n) {
    const Eight read = vector_at(copy.read + 8 * n);
    reading |= bits_of((Eight)(read != 0)) << 8 * n;
    whole |= bits_of((Eight)(read == eight(op->mode))) << 8 * n;
  }
  reading &= w.mask;
  if ((reading & ~whole) != 0) return true;
  uint64_t of_source = 0;
  if (reading == w.mask)
    copy.source = shape_of(op, w, op->mode, of_source);
  else if (reading != 0)
    copy.source = w.block->run->memory.shapes.find(copy.from, reading, op->mode);
  if (reading == 0 || copy.source != nullptr) copy.target = target;
  return true;
}

// Whether an earlier lane copies the same to the same place, as in cooperative groups: then it is
// one copy.
bool is_copied_already(const Block::Copy& copy, int lane) {
  const auto is_alike = [&](int other) {
    return copy.to[other] == copy.to[lane] && copy.from[other] == copy.from[lane] &&
           copy.read[other] == copy.read[lane];
  };
  uint32_t earlier = copy.lanes & ((1u << lane) - 1);
  while (earlier != 0 && !is_alike(std::countr_zero(earlier))) earlier &= earlier - 1;
  return earlier != 0;
}
bool take_off_lane_by_lane(Warp& w, Block::Copy& copy) {
  for (uint32_t left = copy.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (is_copied_already(copy, lane)) {
      copy.lanes &= ~(1u << lane);
      continue;
    }
    const uint64_t to = copy.to[lane];
    uint32_t unwritten = 0;
    if (reach_shared(
            w, {.op = copy.op, .lane = lane, .address = to, .bytes = copy.op->mode, .writes = true},
            unwritten) == nullptr)
      return false;
    for (uint64_t word = 0; word * 4 < copy.op->mode; ++word)
      w.block->shadow.take_off(to / 4 + word);
  }
  return true;
}

Block::Copy& new_copy(Block::Copies& all) {
  if (all.idle.empty()) {
    all.idle.push_back(static_cast<uint32_t>(all.copies.size()));
    all.copies.emplace_back();
  }
  const uint32_t number = all.idle.back();
  all.idle.pop_back();
  all.pending.push_back(number);
  return all.copies[number];
}

// Those of all lanes, as `place_in_shared` names them.
void places_in_shared(const Warp& w, int slot, bool is_wide, uint32_t add,
                      uint64_t (&to)[warp_size]) {
  const auto fill = [&](const auto* from) {
    for (int lane = 0; lane < warp_size; ++lane) to[lane] = static_cast<uint32_t>(from[lane]) + add;
  };
  if (slot < 0)
    std::fill(std::begin(to), std::end(to), add);
  else if (is_wide)
    fill(w.slot<uint64_t>(slot));
  else
    fill(w.slot<uint32_t>(slot));
}

// How many bytes each lane reads. False if one asks for more than it copies: what a GPU does then,
// nobody says.
bool read_sizes(const Op* op, Warp& w, int (&read)[warp_size]) {
  std::fill(std::begin(read), std::end(read), op->mode);
  if (op->b < 0) return true;
  const uint32_t* const asked = w.slot<uint32_t>(op->b);
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    read[lane] = static_cast<int>(asked[lane]);
    if (asked[lane] <= op->mode) continue;
    report(w, op, Fault::trap,
           fmt::format("{} reads {} bytes for a copy of {}: the size of the source is negative, or "
                       "too large",
                       thread_text(w, lane), asked[lane], op->mode));
    return false;
  }
  return true;
}

// a and bits give the source, d the shared address and e what is added to it, b how many bytes are
// read. mode: bytes. parts is 2 if the shared address has 64 bits.
const Op* start_copies(const Op* op, Warp& w) {
  Block::Copies& copies = copies_of(w);
  w.block->run->extra_time += time_of_copy;
  Block::Copy& copy = new_copy(copies);
  copy.op = op, copy.lanes = w.mask, copy.number = copies.started++, copy.group = copies.groups;
  copy.target = copy.source = nullptr;
  addresses_of(op, w, copy.from);
  if (!read_sizes(op, w, copy.read)) return nullptr;
  places_in_shared(w, op->d, op->parts == 2, static_cast<uint32_t>(op->e), copy.to);
  return take_off_together(w, copy) || take_off_lane_by_lane(w, copy) ? op + 1 : nullptr;
}

// They take place now, and count as written by their threads, or by none. False if they have to go
// lane by lane.
bool land_together(Warp& w, const Block::Copy& copy, bool by_engine) {
  if (copy.target == nullptr) return false;
  const Op* const op = copy.op;
  const std::byte* from = nullptr;  // the lowest that is read
  uint64_t lowest = 0;
  if (copy.source != nullptr) {
    lowest = lowest_of(*copy.source, copy.from);
    if (lowest % op->mode == 0) from = reach_global_shape(w, op, *copy.source, lowest, false);
    if (from == nullptr) return false;
  }
  const auto move = [&](auto bytes) {
    for (uint32_t left = copy.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::byte* const to = w.block->shared.data() + copy.to[lane];
      if (copy.read[lane] != 0)
        std::memcpy(to, from + (copy.from[lane] - lowest), bytes);
      else
        std::memset(to, 0, bytes);
    }
  };
  switch (op->mode) {
    case 4: move(std::integral_constant<std::size_t, 4>{}); break;
    case 8: move(std::integral_constant<std::size_t, 8>{}); break;
    default: move(std::integral_constant<std::size_t, 16>{}); break;
  }
  w.block->shadow.land_shape(w, *copy.target, lowest_of(*copy.target, copy.to) / 4, by_engine);
  return true;
}

// One lane's takes place now, and counts as written by a thread. False after a finding.
bool land(Warp& w, const Block::Copy& copy, int lane, uint32_t thread) {
  uint32_t unwritten = 0;
  const int read = copy.read[lane];
  std::byte* const to = w.block->shared.data() + copy.to[lane];
  std::memset(to, 0, copy.op->mode);
  if (read > 0) {
    const std::byte* from = reach_global(w,
                                         {.op = copy.op,
                                          .lane = lane,
                                          .address = copy.from[lane],
                                          .bytes = read,
                                          .unit = copy.op->mode},
                                         unwritten);
    if (from == nullptr) return false;
    std::memcpy(to, from, static_cast<std::size_t>(read));
  }
  for (uint32_t word = 0; word * 4 < copy.op->mode; ++word) {
    w.block->shadow.land(copy.to[lane] / 4 + word, thread);
    if ((unwritten >> word & 1) != 0) unwrite(*w.block, copy.to[lane] / 4 + word);
  }
  return true;
}

// Of each of the warp's copies those lanes' that are due. False after a finding.
template <class LanesDue>
bool finish_those(Warp& w, const LanesDue& lanes_due, bool by_engine) {
  Block::Copies& all = copies_of(w);
  bool any_done = false;
  for (const uint32_t number : all.pending) {
    Block::Copy& copy = all.copies[number];
    const uint32_t due = lanes_due(copy) & copy.lanes;
    if (due == 0) continue;
    const bool is_done = due == copy.lanes && land_together(w, copy, by_engine);
    for (uint32_t left = is_done ? 0 : due; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const auto own = static_cast<uint32_t>(w.index * warp_size + lane);
      if (!land(w, copy, lane, by_engine ? stamp::lanes_of + stamp::copies : own)) return false;
    }
    copy.lanes &= ~due;
    copy.target = nullptr;
    if (copy.lanes == 0) all.idle.push_back(number), any_done = true;
  }
  if (any_done)
    std::erase_if(all.pending, [&](uint32_t number) { return all.copies[number].lanes == 0; });
  return true;
}

// Those lanes that committed a copy before their last few groups; mostly all of a warp, or none.
uint32_t lanes_that_committed(const Block::Copy& copy, const std::array<int, warp_size>& committed,
                              int but) {
  using SignedEight = std::int32_t __attribute__((vector_size(32)));
  SignedEight all = ~SignedEight{}, any = {};
  for (std::size_t i = 0; i < warp_size; i += 8) {
    const auto before = vector_at<SignedEight>(copy.group.data() + i) <
                        vector_at<SignedEight>(committed.data() + i) - but;
    all &= before, any |= before;
  }
  if (is_zero(any)) return 0;
  if (is_zero(~all)) return all_lanes;
  uint32_t lanes = 0;
  for (std::size_t i = 0; i < warp_size; ++i)
    lanes |= uint32_t{copy.group[i] < committed[i] - but} << i;
  return lanes;
}

const Op* commit_copies(const Op* op, Warp& w) {
  Block::Copies& copies = copies_of(w);
  for (int i = 0; i < warp_size; ++i) copies.groups[static_cast<std::size_t>(i)] += w.mask >> i & 1;
  return op + 1;
}
// A barrier that waits for copies of the warp need not wait for those any more, which now count as
// written by their threads.
void note_wait(Warp& w) {
  if (w.block->asynchronous.arrivals.empty()) return;
  w.block->shadow.tick();
  for (auto& [barrier, arrivals] : w.block->asynchronous.arrivals)
    for (CopyArrival& arrival : arrivals)
      if (arrival.warp == w.index) arrival.waited_at = w.block->shadow.now();
}
const Op* wait_for_copies(const Op* op, Warp& w) {
  if (op->mode == 1) commit_copies(op, w);  // wait_all
  if (!finish_copies(w, static_cast<int>(op->bits))) return nullptr;
  note_wait(w);
  return op + 1;
}

}  // namespace

bool finish_copies(Warp& w, int but) {
  const auto& committed = copies_of(w).groups;
  const auto lanes_due = [&](const Block::Copy& copy) {
    return lanes_that_committed(copy, committed, but) & w.mask;
  };
  return finish_those(w, lanes_due, false);
}
bool finish_copies_before(Warp& w, uint32_t lanes, std::size_t number) {
  const auto lanes_due = [&](const Block::Copy& copy) { return copy.number < number ? lanes : 0; };
  return finish_those(w, lanes_due, true);
}

void add_copy_handlers(Handlers& to) {
  to["cp.async"] = {start_copies, ""};
  to["cp.async.commit_group"] = {commit_copies, ""};
  to["cp.async.wait"] = {wait_for_copies, ""};
}

}  // namespace ptx
