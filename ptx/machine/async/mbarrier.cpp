#include "ptx/machine/async/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/scramble.h"
#include "ptx/machine/access.h"
#include "ptx/machine/async/place.h"
#include "ptx/machine/bits/kept.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint32_t most_arrivals = (1u << 20) - 1;

void wake(Block& block) {
  for (Warp& w : block.warps)
    for (Group& g : w.others)
      if (g.state == Group::State::at_mbarrier) g.state = Group::State::ready;
}

void complete_phase(Block& block, Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  for (std::size_t v = 0; v < barrier.complete.size(); ++v)
    barrier.complete[v] = std::max(barrier.complete[v], barrier.arriving[v]);
  barrier.arriving = {};
  barrier.pending = barrier.expected;
  ++barrier.phase;
  block.asynchronous.rounds_without_end = 0;
  if (block.in_cluster.all != nullptr) {
    barrier.peers_complete.learn(barrier.peers_arriving);
    for (Block* one : block.in_cluster.all->blocks) one->asynchronous.rounds_without_end = 0;
    block.run->met_in_cluster = true;
  }
  wake(block);
}

// What a warp did until now becomes known to those who find the phase complete; to another block,
// if the arrival is relaxed, no more than it has fenced.
void tell_phase(Warp& w, Mbarrier& barrier, const Block& owner, bool is_relaxed) {
  w.block->shadow.tick();
  const InCluster& in = w.block->in_cluster;
  if (in.all != nullptr && is_relaxed && w.block != &owner) {
    barrier.peers_arriving.met |= 1u << in.rank;
    tell_fenced(w, barrier.peers_arriving);
  } else if (in.all != nullptr) {
    tell_clocks(w, w.block->shadow.now(), barrier.peers_arriving);
  }
  if (w.block != &owner) return;
  for (std::size_t v = 0; v < barrier.arriving.size(); ++v) {
    const uint32_t known = std::max(v < w.known.size() ? w.known[v] : 0, w.since_barrier);
    barrier.arriving[v] = std::max(barrier.arriving[v], known);
  }
  barrier.arriving[static_cast<std::size_t>(w.index)] = w.block->shadow.now();
}
void learn_phase(Warp& w, const Mbarrier& barrier) {
  w.known.resize(stamp::knowers, 0);
  if (w.block->in_cluster.all != nullptr) learn_clocks(w, barrier.peers_complete);
  uint32_t by_all = ~0u;
  for (std::size_t v = 0; v < w.known.size(); ++v) {
    w.known[v] = std::max(w.known[v], barrier.complete[v]);
    const bool counts = v == stamp::copies     ? w.block->asynchronous.has_landed
                        : v >= stamp::products ? counts_as_knower(*w.block, v)
                        : v == stamp::peers    ? w.known[v] < w.block->in_cluster.settled_at
                                               : v < w.block->warps.size();
    if (counts && v != static_cast<std::size_t>(w.index)) by_all = std::min(by_all, w.known[v]);
  }
  w.since_sync = std::max(w.since_sync, barrier.complete[static_cast<std::size_t>(w.index)]);
  w.since_barrier = std::max(w.since_barrier, std::min(by_all, w.since_sync));
}

void report_uninitialised(const Op* op, Warp& w, int lane, uint64_t at) {
  report(w, op, Fault::uninitialised,
         fmt::format("{} uses an mbarrier at {} of shared memory that nobody initialised",
                     thread_text(w, lane), at));
}

// Whoever uses a barrier comes after init. Null after a finding.
Mbarrier* barrier_at(const Op* op, Warp& w, int lane, uint64_t at) {
  Block& block = *w.block;
  const auto found = block.asynchronous.barriers.find(static_cast<uint32_t>(at));
  if (found == block.asynchronous.barriers.end()) {
    report_uninitialised(op, w, lane, at);
    return nullptr;
  }
  uint32_t unwritten = 0;
  if (!block.shadow.is_after_write(w, lane, at / 4) &&
      reach_shared(w, {.op = op, .lane = lane, .address = at, .bytes = 8}, unwritten) == nullptr)
    return nullptr;
  found->second.used[static_cast<std::size_t>(w.index)] = block.shadow.now();
  return &found->second;
}

// The block whose barrier it is: others may arrive there. Who finds the phase complete knows of the
// arrival itself, even if that tells no more. Null after a finding.
Block* owner_of(const Op* op, Warp& w, int lane, uint64_t& at, bool is_relaxed = false) {
  Block& block = *w.block;
  const uint64_t rank = at >> rank_shift;
  const Cluster* const all = block.in_cluster.all;
  if (rank == 0 || all == nullptr || rank > all->size() || rank - 1 == block.in_cluster.rank) {
    if (rank != 0 && all != nullptr && rank <= all->size()) at &= (uint64_t{1} << rank_shift) - 1;
    return &block;
  }
  Block& owner = *all->blocks[rank - 1];
  at &= (uint64_t{1} << rank_shift) - 1;
  uint32_t unwritten = 0;
  InCluster::Last& last = owner.in_cluster.last(block.in_cluster.rank, w);
  const InCluster::Last before = last;
  const bool is_there = reach_peer(w, {.op = op, .lane = lane, .address = at, .bytes = 8}, owner,
                                   unwritten) != nullptr;
  if (is_relaxed) last = before;
  return is_there ? &owner : nullptr;
}
Mbarrier* barrier_of(const Op* op, Warp& w, int lane, uint64_t at, Block& owner) {
  if (&owner == w.block) return barrier_at(op, w, lane, at);
  const auto found = owner.asynchronous.barriers.find(static_cast<uint32_t>(at));
  if (found != owner.asynchronous.barriers.end()) return &found->second;
  report_uninitialised(op, w, lane, at);
  return nullptr;
}

// Whether all uses of a barrier come before what this warp does now.
bool is_left(const Op* op, Warp& w, int lane, uint64_t at) {
  const auto found = w.block->asynchronous.barriers.find(static_cast<uint32_t>(at));
  if (found == w.block->asynchronous.barriers.end()) return true;
  for (std::size_t v = 0; v < found->second.used.size(); ++v) {
    const uint32_t used = found->second.used[v],
                   known = std::max(v < w.known.size() ? w.known[v] : 0, w.since_barrier);
    const bool is_told = used < stamp::last_time;  // later no order can be told
    if (used == 0 || !is_told || used < known || v == static_cast<std::size_t>(w.index)) continue;
    report(w, op, Fault::data_race,
           fmt::format("{} ends an mbarrier at {} of shared memory that threads of warp {} may "
                       "still use: a barrier is missing",
                       thread_text(w, lane), at, v),
           {.is_write = true});
    return false;
  }
  return true;
}

// b: the count.
const Op* initialise(const Op* op, Warp& w) {
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t at = place_of_lane(op, w, lane);
    const uint32_t count = w.slot<uint32_t>(op->b)[lane];
    uint32_t unwritten = 0;
    std::byte* to = reach_shared(
        w, {.op = op, .lane = lane, .address = at, .bytes = 8, .writes = true}, unwritten);
    if (to == nullptr || !is_left(op, w, lane, at)) return nullptr;
    if (count == 0 || count > most_arrivals) {
      report(w, op, Fault::trap,
             fmt::format("{} initialises an mbarrier for {} arrivals: 1 to {} are allowed",
                         thread_text(w, lane), count, most_arrivals));
      return nullptr;
    }
    std::memset(to, 0, 8);
    Mbarrier& barrier = w.block->asynchronous.barriers[static_cast<uint32_t>(at)];
    barrier = {.expected = count, .pending = count, .made_by = w.index};
    const Cluster* const all = w.block->in_cluster.all;
    barrier.peers_arriving.start(all == nullptr ? 0 : all->size());
    barrier.peers_complete.start(all == nullptr ? 0 : all->size());
  }
  return op + 1;
}
const Op* invalidate(const Op* op, Warp& w) {
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t at = place_of_lane(op, w, lane);
    uint32_t unwritten = 0;
    if (reach_shared(w, {.op = op, .lane = lane, .address = at, .bytes = 8, .writes = true},
                     unwritten) == nullptr ||
        !is_left(op, w, lane, at))
      return nullptr;
    if (w.block->asynchronous.barriers.erase(static_cast<uint32_t>(at)) == 0) {
      report_uninitialised(op, w, lane, at);
      return nullptr;
    }
  }
  return op + 1;
}

bool arrive_once(const Op* op, Warp& w, int lane, Mbarrier& barrier, uint32_t count, bool drops) {
  if (count == 0 || count > barrier.pending) {
    report(w, op, Fault::trap,
           fmt::format("{} arrives {} times at an mbarrier whose phase waits for {} more",
                       thread_text(w, lane), count, barrier.pending));
    return false;
  }
  barrier.pending -= count;
  if (drops) barrier.expected -= count;
  return true;
}

// d: the state or -1, b: the count or -1, c: bytes to expect or -1. mode 1: drop, + 2: relaxed.
const Op* arrive_at_phase(const Op* op, Warp& w) {
  std::pair<const Mbarrier*, uint32_t> told = {};  // and in which phase
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint64_t at = place_of_lane(op, w, lane);
    const bool is_relaxed = (op->mode & 2) != 0;
    Block* const owner = owner_of(op, w, lane, at, is_relaxed);
    Mbarrier* barrier = owner == nullptr ? nullptr : barrier_of(op, w, lane, at, *owner);
    if (barrier == nullptr) return nullptr;
    if (op->d >= 0)
      w.slot<uint64_t>(op->d)[lane] = uint64_t{barrier->phase} << 32 | barrier->pending;
    if (op->c >= 0) barrier->bytes += w.slot<uint32_t>(op->c)[lane];
    const uint32_t count = op->b < 0 ? 1 : w.slot<uint32_t>(op->b)[lane];
    const std::pair here(static_cast<const Mbarrier*>(barrier), barrier->phase);
    const bool may_be_of_other = w.block->in_cluster.all != nullptr;
    if (std::exchange(told, here) != here || may_be_of_other)
      tell_phase(w, *barrier, *owner, is_relaxed);
    if (!arrive_once(op, w, lane, *barrier, count, (op->mode & 1) != 0)) return nullptr;
    complete_phase(*owner, *barrier);
  }
  return op + 1;
}
// b: bytes. mode 1: they are there.
const Op* expect_bytes(const Op* op, Warp& w) {
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint64_t at = place_of_lane(op, w, lane);
    Block* const owner = owner_of(op, w, lane, at);
    Mbarrier* barrier = owner == nullptr ? nullptr : barrier_of(op, w, lane, at, *owner);
    if (barrier == nullptr) return nullptr;
    const std::int64_t bytes = w.slot<uint32_t>(op->b)[lane];
    barrier->bytes += op->mode == 1 ? -bytes : bytes;
    if (op->mode == 1) complete_phase(*owner, *barrier);
  }
  return op + 1;
}

// cp.async.mbarrier.arrive. mode 1: .noinc, the arrival is one of those expected.
const Op* arrive_with_copies(const Op* op, Warp& w) {
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t at = place_of_lane(op, w, lane);
    Mbarrier* barrier = barrier_at(op, w, lane, at);
    if (barrier == nullptr) return nullptr;
    if (op->mode == 0) ++barrier->pending;
    std::vector<CopyArrival>& all = w.block->asynchronous.arrivals[static_cast<uint32_t>(at)];
    const std::size_t copies = copies_of(w).started;
    if (all.empty() || all.back().warp != w.index || all.back().copies != copies ||
        (all.back().lanes >> lane & 1) != 0)
      all.push_back({.warp = w.index, .copies = copies});
    all.back().lanes |= 1u << lane;
  }
  wake(*w.block);
  return op + 1;
}

void land(Block& block, const BulkCopy& copy) {
  std::memcpy(block.shared.data() + copy.to, copy.data.data(), copy.data.size());
  const std::size_t first = copy.to / 4, end = first + copy.data.size() / 4;
  block.shadow.land_run(first, end);
  for (std::size_t word = first; copy.unwritten_words != 0 && word < end; ++word)
    unwrite(block, word);
}

// What is on its way to a barrier arrives. False after a finding.
bool land_all(Block& block, uint32_t at, Mbarrier& barrier) {
  Asynchronous& all = block.asynchronous;
  bool any = false;
  if (const auto waiting = all.arrivals.find(at); waiting != all.arrivals.end()) {
    const std::vector<CopyArrival> due = std::move(waiting->second);
    all.arrivals.erase(waiting);
    for (const CopyArrival& a : due) {
      Warp& w = block.warps[static_cast<std::size_t>(a.warp)];
      if (!finish_copies_before(w, a.lanes, a.copies)) return false;
      uint32_t& known = barrier.arriving[static_cast<std::size_t>(a.warp)];
      known = std::max(known, a.waited_at);
      barrier.pending -= std::min(barrier.pending, static_cast<uint32_t>(std::popcount(a.lanes)));
      any = true;
    }
  }
  for (const BulkCopy& copy : all.bulk) {
    if (copy.barrier != at) continue;
    land(block, copy);
    if (copy.source != nullptr) let_go_of_source(block, copy);
    barrier.bytes -= static_cast<std::int64_t>(copy.data.size());
    any = true;
  }
  std::erase_if(all.bulk, [&](const BulkCopy& copy) { return copy.barrier == at; });
  if (!any) return true;
  all.has_landed = true;
  block.shadow.tick();
  barrier.arriving[stamp::copies] = block.shadow.now();
  complete_phase(block, barrier);
  return true;
}

// Some phases take longer than the system lets anybody wait: a try of each warp is in vain, and in
// some phases many are.
bool is_tried_in_vain(Mbarrier& barrier, const Warp& w, uint64_t at) {
  constexpr uint64_t one_of = 8, of_these = 2, many = 40;
  const Run& run = *w.block->run;
  if (run.settings.order != Order::shuffled) return false;
  const uint64_t which = w.block->told_as << 32 ^ at << 20 ^ barrier.phase;
  const uint64_t drawn = assay::scramble(run.settings.seed ^ which);
  if (drawn % one_of != 0) return false;
  if (std::exchange(barrier.tried_phase, barrier.phase) != barrier.phase) barrier.tried_by = {};
  std::uint8_t& tried = barrier.tried_by[static_cast<std::size_t>(w.index)];
  return tried < (drawn / one_of % of_these == 0 ? many : 1) && ++tried != 0;
}

// d: the predicate, b: the state or the parity. mode 0: test_wait, 1: try_wait, which may wait; +
// 2: by parity; + 4: relaxed.
const Op* wait_for_phase(const Op* op, Warp& w) {
  Block& block = *w.block;
  uint32_t done = 0;
  bool is_short = false;
  const Mbarrier* last = nullptr;
  uint64_t at = 0;
  for (uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    at = place_of_lane(op, w, lane);
    Mbarrier* barrier = barrier_at(op, w, lane, at);
    if (barrier == nullptr) return nullptr;
    const auto is_over = [&] {
      return (op->mode & 2) != 0 ? (barrier->phase & 1) != (w.slot<uint32_t>(op->b)[lane] & 1)
                                 : barrier->phase != w.slot<uint64_t>(op->b)[lane] >> 32;
    };
    is_short = is_short || (!is_over() && is_tried_in_vain(*barrier, w, at));
    if (!is_short && !land_all(block, static_cast<uint32_t>(at), *barrier)) return nullptr;
    done |= uint32_t{is_over()} << lane;
    if (!is_over() || std::exchange(last, barrier) == barrier) continue;
    if ((op->mode & 4) != 0)
      hear_of_phase(w, barrier->complete, barrier->peers_complete);
    else
      learn_phase(w, *barrier);
  }
  if (done == 0 && (op->mode & 1) != 0 && !w.gives_up && !is_short) {
    w.others.push_back({.at = op,
                        .mask = w.mask,
                        .state = Group::State::at_mbarrier,
                        .barrier = static_cast<int>(at)});
    w.set_mask(0);
    return next_group(w);
  }
  w.gives_up = false;
  w.predicates[op->d] = (w.predicates[op->d] & ~w.mask) | done;
  if (done == 0) return step_back(w, op + 1, false);
  leave_some_behind(w, op + 1, 8);  // what one lane says later says nothing about the others
  return op + 1;
}

const Op* pending_count(const Op* op, Warp& w) {
  const uint64_t* a = w.slot<uint64_t>(op->a);
  return for_each_lane<uint32_t>(op, w, [=](int i) { return static_cast<uint32_t>(a[i]); });
}

}  // namespace

void finish_bulk_copies(Block& block) {
  for (const BulkCopy& copy : block.asynchronous.bulk) land(block, copy);
  block.asynchronous = {};
}

void wake_waits(Block& block) { wake(block); }

void add_mbarrier_handlers(Handlers& to) {
  to["mbarrier.init"] = {initialise, ""};
  to["mbarrier.inval"] = {invalidate, ""};
  to["mbarrier.arrive"] = {arrive_at_phase, ""};
  to["mbarrier.expect"] = {expect_bytes, ""};
  to["mbarrier.wait"] = {wait_for_phase, ""};
  to["mbarrier.pending_count"] = {pending_count, "wx"};
  to["cp.async.mbarrier"] = {arrive_with_copies, ""};
}

}  // namespace ptx
