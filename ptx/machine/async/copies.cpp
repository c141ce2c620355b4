// cp.async: copies of 4 to 16 bytes that a thread starts and waits for.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/machine/access.h"
#include "ptx/machine/async/place.h"
#include "ptx/machine/handlers.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

// a and bits give the source, d the shared address and e what is added to it, b how many bytes are
// read. mode: bytes. parts is 2 if the shared address has 64 bits.
const Op* start_copies(const Op* op, Warp& w) {
  uint64_t from[warp_size];
  addresses_of(op, w, from);
  Block::Copies& copies = w.block->copies[w.index];
  copies.groups.resize(warp_size);
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const int read = op->b < 0
                         ? op->mode
                         : std::min<int>(op->mode, static_cast<int>(w.slot<uint32_t>(op->b)[lane]));
    const uint64_t to = place_in_shared(w, lane, op->d, op->parts == 2,
                                        static_cast<uint64_t>(op->e), Named::in_shared);
    uint32_t unwritten = 0;
    if (reach_shared(w, {.op = op, .lane = lane, .address = to, .bytes = op->mode, .writes = true},
                     unwritten) == nullptr)
      return nullptr;
    for (uint64_t word = 0; word * 4 < op->mode; ++word) w.block->shadow.take_off(to / 4 + word);
    copies.pending.push_back({.lane = lane,
                              .bytes = op->mode,
                              .group = copies.groups[static_cast<std::size_t>(lane)],
                              .to = static_cast<uint32_t>(to),
                              .from = from[lane],
                              .read = read,
                              .number = copies.started++,
                              .op = op});
  }
  return op + 1;
}

// It takes place now, and counts as written by a thread. False after a finding.
bool finish(Warp& w, const Block::Copy& copy, uint32_t thread) {
  uint32_t unwritten = 0;
  std::byte* const to = w.block->shared.data() + copy.to;
  std::memset(to, 0, static_cast<std::size_t>(copy.bytes));
  if (copy.read > 0) {
    const std::byte* from = reach_global(w,
                                         {.op = copy.op,
                                          .lane = copy.lane,
                                          .address = copy.from,
                                          .bytes = copy.read,
                                          .unit = copy.bytes},
                                         unwritten);
    if (from == nullptr) return false;
    std::memcpy(to, from, static_cast<std::size_t>(copy.read));
  }
  for (uint32_t word = 0; word * 4 < static_cast<uint32_t>(copy.bytes); ++word) {
    w.block->shadow.land(copy.to / 4 + word, thread);
    if ((unwritten >> word & 1) != 0) w.block->shadow.unwrite(copy.to / 4 + word);
  }
  return true;
}
template <class IsDue>
bool finish_those(Warp& w, const IsDue& is_due, bool by_engine) {
  Block::Copies& copies = w.block->copies[w.index];
  copies.groups.resize(warp_size);
  std::size_t left = 0;
  for (std::size_t n = 0; n < copies.pending.size(); ++n) {
    const Block::Copy copy = copies.pending[n];
    if (!is_due(copy))
      copies.pending[left++] = copy;
    else if (!finish(w, copy,
                     by_engine ? stamp::lanes_of + stamp::copies
                               : static_cast<uint32_t>(w.index * warp_size + copy.lane)))
      return false;
  }
  copies.pending.resize(left);
  return true;
}

const Op* commit_copies(const Op* op, Warp& w) {
  Block::Copies& copies = w.block->copies[w.index];
  copies.groups.resize(warp_size);
  for (int i = 0; i < warp_size; ++i) copies.groups[static_cast<std::size_t>(i)] += w.mask >> i & 1;
  return op + 1;
}
const Op* wait_for_copies(const Op* op, Warp& w) {
  if (op->mode == 1) commit_copies(op, w);  // wait_all
  return finish_copies(w, static_cast<int>(op->bits)) ? op + 1 : nullptr;
}

}  // namespace

bool finish_copies(Warp& w, int but) {
  const Block::Copies& copies = w.block->copies[w.index];
  const auto is_due = [&](const Block::Copy& copy) {
    return (w.mask >> copy.lane & 1) != 0 &&
           copy.group < copies.groups[static_cast<std::size_t>(copy.lane)] - but;
  };
  return finish_those(w, is_due, false);
}
bool finish_copies_before(Warp& w, int lane, std::size_t number) {
  const auto is_due = [&](const Block::Copy& copy) {
    return copy.lane == lane && copy.number < number;
  };
  return finish_those(w, is_due, true);
}

void add_copy_handlers(Handlers& to) {
  to["cp.async"] = {start_copies, ""};
  to["cp.async.commit_group"] = {commit_copies, ""};
  to["cp.async.wait"] = {wait_for_copies, ""};
}

}  // namespace ptx
