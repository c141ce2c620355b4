// cp.async.bulk: many bytes at once, between global and shared memory.
#include "ptx/machine/async/bulk_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

#include "ptx/machine/access.h"
#include "ptx/machine/async/place.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
#include "ptx/machine/reals.h"
#include "ptx/machine/taint.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr int piece = 16;

}  // namespace

void count_bulk(const Op* op, Warp& w, uint64_t address, uint64_t bytes) {
  if (w.block->run->counter && bytes != 0) w.block->run->counter->add_bulk(op, address, bytes);
}

namespace {

bool is_whole_copy(const Op* op, Warp& w, int lane, uint64_t to, uint64_t from, uint64_t bytes) {
  if ((to | from | bytes) % piece == 0) return true;
  report(w, op, Fault::misaligned_access,
         fmt::format("{} copies {} bytes, from {} bytes past a boundary to {} bytes past one: all "
                     "three must be "
                     "multiples of 16",
                     thread_text(w, lane), bytes, from % piece, to % piece),
         {to, true});
  return false;
}

bool read_into(const Op* op, Warp& w, int lane, uint64_t from, std::size_t bytes, BulkCopy& copy,
               Reach reach) {
  const std::size_t at = copy.data.size();
  copy.data.resize(at + bytes);
  if (reach == reach_global) count_bulk(op, w, from, bytes);
  for (std::size_t n = 0; n < bytes; n += piece) {
    const std::byte* read = reach(w, {.op = op, .lane = lane, .address = from + n, .bytes = piece},
                                  copy.unwritten_words);
    if (read == nullptr) return false;
    std::memcpy(copy.data.data() + at + n, read, piece);
  }
  return true;
}

// Denormal floats stay, other than in atomic additions.
template <class T>
void add_each(std::byte* to, const std::byte* more, int bytes) {
  for (int n = 0; n < bytes; n += static_cast<int>(sizeof(T))) {
    T a, b;
    std::memcpy(&a, to + n, sizeof a);
    std::memcpy(&b, more + n, sizeof b);
    if constexpr (std::is_floating_point_v<T>)
      a = as_gpu(a + b);
    else
      a += b;
    std::memcpy(to + n, &a, sizeof a);
  }
}
void put(std::byte* to, const std::byte* from, int bytes, Adds adds) {
  switch (adds) {
    case Adds::floats: return add_each<float>(to, from, bytes);
    case Adds::doubles: return add_each<double>(to, from, bytes);
    case Adds::words: return add_each<uint32_t>(to, from, bytes);
    case Adds::pairs_of_words: return add_each<uint64_t>(to, from, bytes);
    default: std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

bool write_out(const Op* op, Warp& w, int lane, uint64_t from, uint64_t to, int bytes, Adds adds) {
  uint32_t unwritten = 0;
  const std::byte* read =
      reach_shared_by_copy(w, {.op = op, .lane = lane, .address = from, .bytes = bytes}, unwritten);
  if (read == nullptr) return false;
  if (unwritten != 0) {
    report(w, op, Fault::uninitialised,
           fmt::format("{} leaves in memory a value that nobody wrote: {}, to {}",
                       thread_text(w, lane), place_in_shared_memory(w, from),
                       place_of_address(w, to)));
    return false;
  }
  const bool is_sum = adds != Adds::nothing;
  std::byte* write = reach_global(w,
                                  {.op = op,
                                   .lane = lane,
                                   .address = to,
                                   .bytes = bytes,
                                   .writes = true,
                                   .reads_too = is_sum,
                                   .is_strong = is_sum},
                                  unwritten);
  if (write == nullptr || (unwritten != 0 && !changes_unwritten(op, w, lane))) return false;
  put(write, read, bytes, adds);
  let_fly(w, to, static_cast<uint64_t>(bytes));
  auto& written = w.block->held[w.index * warp_size + lane].open.written;
  if (!written.empty() && written.back().first + written.back().second == to)
    written.back().second += static_cast<uint64_t>(bytes);
  else
    written.emplace_back(to, bytes);
  return true;
}

void hold_source(Warp& w, int lane, uint64_t from, uint64_t bytes) {
  for (uint64_t word = from / 4; word < (from + bytes) / 4; ++word) w.block->shadow.hold(word);
  w.block->held[w.index * warp_size + lane].open.read.emplace_back(static_cast<uint32_t>(from),
                                                                   static_cast<uint32_t>(bytes));
}

namespace {

// Whether everything is usual about where a copy goes: then nothing is left to be looked at there.
bool take_off_at_once(const Op* op, Warp& w, int lane, const BulkCopy& copy) {
  const Run::Part part = w.block->run->shared_part(static_cast<std::size_t>(op - w.code));
  const uint64_t end = uint64_t{copy.to} + copy.data.size();
  if (copy.to % piece != 0 || copy.to < part.first || end > part.end) return false;
  return w.block->shadow.take_off_run(w, lane, copy.to / 4, end / 4,
                                      static_cast<uint32_t>(op - w.code));
}

bool take_off_piecewise(const Op* op, Warp& w, int lane, const BulkCopy& copy) {
  uint32_t unwritten = 0;
  const auto each = std::min<std::size_t>(piece, copy.data.size());  // a store (st.async) has less
  for (std::size_t n = 0; n < copy.data.size(); n += each) {
    const uint64_t to = copy.to + n;
    if (reach_shared_by_copy(w,
                             {.op = op,
                              .lane = lane,
                              .address = to,
                              .bytes = static_cast<int>(each),
                              .writes = true},
                             unwritten) == nullptr)
      return false;
    for (uint64_t word = 0; word < each / 4; ++word) w.block->shadow.take_off(to / 4 + word);
  }
  return true;
}

}  // namespace

bool start_flight(const Op* op, Warp& w, int lane, BulkCopy copy) {
  if (!take_off_at_once(op, w, lane, copy) && !take_off_piecewise(op, w, lane, copy)) return false;
  w.block->asynchronous.bulk.push_back(std::move(copy));
  wake_waits(*w.block);
  return true;
}

namespace {

// Nobody may write there until the block that it goes to has waited for the copy.
void hold_source_of(const Op* op, Warp& w, uint64_t from, uint64_t bytes) {
  for (uint64_t word = from / 4; word < (from + bytes) / 4; ++word)
    w.block->shadow.hold_for_peer(word, static_cast<uint32_t>(op - w.code));
}

}  // namespace

void let_go_of_source(const Block& to, const BulkCopy& copy) {
  const uint32_t by = stamp::make(to.shadow.now(), stamp::lanes_of + stamp::copies);
  const auto op = static_cast<uint32_t>(copy.op - to.run->kernel.code.data());
  for (std::size_t word = copy.from / 4; word < (copy.from + copy.data.size()) / 4; ++word)
    copy.source->shadow.let_go_by_peer(word, to.in_cluster.rank, by, op);
}

namespace {

// a, bits: from; b: bytes; d, e: to; c: a list of the barrier's slot, what is added to it
// and the slot of the blocks that it goes to, or -1.
template <Reach reach>
const Op* copy_to_shared(const Op* op, Warp& w) {
  const auto named = static_cast<Named>(op->parts);
  uint64_t from[warp_size];
  addresses_of(op, w, from);
  const int* barrier = w.lists + op->c;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t bytes = w.slot<uint32_t>(op->b)[lane];
    BulkCopy copy{.op = op};
    const bool holds = reach == reach_shared_by_copy && w.block->in_cluster.all != nullptr;
    if (holds) copy.source = w.block, copy.from = static_cast<uint32_t>(from[lane]);
    const uint64_t to =
        place_in_shared(w, lane, op->d, (op->mode & 1) != 0, static_cast<uint64_t>(op->e), named);
    const uint64_t at = place_in_shared(w, lane, barrier[0], (op->mode & 2) != 0,
                                        static_cast<uint64_t>(barrier[1]), named);
    if (!is_whole_copy(op, w, lane, to, from[lane], bytes) ||
        !read_into(op, w, lane, from[lane], bytes, copy, reach) ||
        !start_flights(op, w, lane, to, at, barrier[2], std::move(copy)))
      return nullptr;
    if (holds) hold_source_of(op, w, from[lane], bytes);
  }
  return op + 1;
}

// The global bytes are written at once, and nobody's to touch until the wait, as are those of
// shared memory to be written. What lanes say alike is one copy, the first one's, unless it adds
// to what is there. a, bits: to; b: bytes; d, e: from; mode, from bit 2 on: Adds.
const Op* copy_to_global(const Op* op, Warp& w) {
  uint64_t to[warp_size];
  addresses_of(op, w, to);
  const auto adds = static_cast<Adds>(op->mode >> 2);
  std::set<std::array<uint64_t, 3>> made;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t bytes = w.slot<uint32_t>(op->b)[lane];
    const uint64_t from =
        place_in_shared(w, lane, op->d, (op->mode & 1) != 0, static_cast<uint64_t>(op->e),
                        static_cast<Named>(op->parts));
    if (adds == Adds::nothing && !made.insert({to[lane], from, bytes}).second) continue;
    if (!is_whole_copy(op, w, lane, to[lane], from, bytes)) return nullptr;
    for (uint64_t n = 0; n < bytes; n += piece)
      if (!write_out(op, w, lane, from + n, to[lane] + n, piece, adds)) return nullptr;
    count_bulk(op, w, to[lane], bytes);
    hold_source(w, lane, from, bytes);
  }
  return op + 1;
}

// a, bits: from; b: bytes.
const Op* prefetch(const Op* op, Warp& w) {
  uint64_t from[warp_size];
  addresses_of(op, w, from);
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t bytes = w.slot<uint32_t>(op->b)[lane];
    if ((from[lane] | bytes) % piece == 0) continue;
    report(w, op, Fault::misaligned_access,
           fmt::format("{} prefetches {} bytes, from {} bytes past a boundary: both must be "
                       "multiples of 16",
                       thread_text(w, lane), bytes, from[lane] % piece),
           {from[lane]});
    return nullptr;
  }
  return op + 1;
}

const Op* commit_group(const Op* op, Warp& w) {
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    Block::Held& held = w.block->held[w.index * warp_size + std::countr_zero(left)];
    held.groups.push_back(std::exchange(held.open, {}));
  }
  return op + 1;
}
// bits: how many groups may stay. mode 1: of the others all has been read, but need not have
// arrived
// (.read).
const Op* wait_for_groups(const Op* op, Warp& w) {
  SharedShadow& shadow = w.block->shadow;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const auto thread = static_cast<uint32_t>(w.index * warp_size + std::countr_zero(left));
    auto& groups = w.block->held[static_cast<int>(thread)].groups;
    const std::size_t over = groups.size() - std::min<std::size_t>(groups.size(), op->bits);
    for (std::size_t i = 0; i < over; ++i) {
      for (const auto& [from, bytes] : groups[i].read)
        for (uint32_t word = from / 4; word < (from + bytes) / 4; ++word)
          shadow.let_go(word, thread);
      groups[i].read.clear();
      if (op->mode == 1) continue;
      for (const auto& [to, bytes] : groups[i].written)
        land(w, to, bytes, stamp::make(shadow.now(), thread));
    }
    if (op->mode == 0) groups.erase(groups.begin(), groups.begin() + static_cast<long>(over));
  }
  return op + 1;
}

}  // namespace

void add_bulk_handlers(Handlers& to) {
  to["cp.async.bulk.shared"] = {copy_to_shared<reach_global>, ""};
  to["cp.async.bulk.peer"] = {copy_to_shared<reach_shared_by_copy>, ""};
  to["cp.async.bulk.global"] = {copy_to_global, ""};
  to["cp.async.bulk.prefetch"] = {prefetch, ""};
  to["cp.async.bulk.commit"] = {commit_group, ""};
  to["cp.async.bulk.wait"] = {wait_for_groups, ""};
}

}  // namespace ptx
