// Accesses to the shared memory of other blocks of a cluster.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/access.h"
#include "ptx/machine/bits/kept.h"
#include "ptx/machine/cluster/barrier.h"
#include "ptx/machine/report/accesses.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint64_t time_to_touch = 5;  // in that of a usual operation

Details details_in_shared(const Warp& w, const Access& a) {
  return {.is_write = a.writes, .sites = {site(w, verb(a), a.op)}};
}

bool is_inside(Warp& w, const Access& a, const Block& owner) {
  const uint64_t size = owner.run->shared_bytes;
  if (a.address + static_cast<uint64_t>(a.bytes) > size) {
    report(w, a.op, Fault::bad_address,
           fmt::format("{} {} {} bytes at {} of {} bytes of shared memory of {}",
                       thread_text(w, a.lane), verb(a), a.bytes,
                       static_cast<std::int64_t>(a.address), size, block_text(owner)),
           details_in_shared(w, a));
    return false;
  }
  const int unit = a.unit == 0 ? a.bytes : a.unit;
  const uint64_t beyond = a.address % static_cast<uint64_t>(unit);
  if (beyond == 0) return true;
  report(w, a.op, Fault::misaligned_access,
         fmt::format("{} {} {} bytes at {} of {}, {} bytes past a multiple of {}",
                     thread_text(w, a.lane), verb(a), a.bytes, place_in_shared_memory(w, a.address),
                     block_text(owner), beyond, unit),
         details_in_shared(w, a));
  return false;
}

// Whether it has started, as far as the warp knows, and has not ended.
bool is_there(Warp& w, const Access& a, const Block& owner) {
  const InCluster& in = w.block->in_cluster;
  const unsigned rank = owner.in_cluster.rank;
  const bool has_met = (in.known[static_cast<std::size_t>(w.index)].met >> rank & 1) != 0;
  if (!has_met && !knows_of_peer(w, rank, stamp::make(0, 0))) {
    report(w, a.op, Fault::data_race,
           fmt::format("{} {} {} of {}, which may not have started yet: a cluster barrier is "
                       "missing",
                       thread_text(w, a.lane), verb(a), place_in_shared_memory(w, a.address),
                       block_text(owner)),
           details_in_shared(w, a));
    return false;
  }
  if (!owner.has_ended()) return true;
  report_ended(w, a, owner);
  return false;
}

void report_conflict(Warp& w, const Access& a, const Block& owner, uint64_t offset,
                     const SharedShadow::Conflict& conflict) {
  report_race(w, a, fmt::format("{} of {}", place_in_shared_memory(w, offset), block_text(owner)),
              other_of(w, conflict, owner));
}

}  // namespace

std::byte* reach_peer(Warp& w, const Access& a, Block& owner, uint32_t& unwritten) {
  const auto op = static_cast<uint32_t>(a.op - w.code);
  w.block->run->extra_time += time_to_touch;
  if (!is_inside(w, a, owner) || !is_there(w, a, owner)) return nullptr;
  if (!a.is_waited_for)
    owner.in_cluster.last(w.block->in_cluster.rank, w) = {
        stamp::make(w.block->shadow.now(), static_cast<uint32_t>(w.index * warp_size + a.lane)), op,
        a.address, a.writes};
  for (uint64_t at = 0; at < static_cast<uint64_t>(a.bytes); at += 4) {
    const std::size_t word = (a.address + at) / 4;
    const unsigned bytes = bytes_within_word(a);
    if ((a.reads_too || !a.writes) && !owner.shadow.is_written(word, bytes)) {
      unwritten |= 1u << at / 4;
      note_unwritten_shared(w, a, owner, word, static_cast<int>(at / 4));
    }
    SharedShadow::Conflict conflict;
    const bool ordered = a.writes ? owner.shadow.write(w, a.lane, word, op, conflict, bytes)
                                  : owner.shadow.read(w, a.lane, word, op, conflict, bytes);
    if (ordered || a.is_strong) continue;
    report_conflict(w, a, owner, word * 4, conflict);
    return nullptr;
  }
  return owner.shared.data() + a.address;
}

std::byte* report_no_rank(Warp& w, const Access& a) {
  const uint64_t rank =
      a.address >> 32 != 0 ? a.address >> rank_shift & 0xff : a.address >> rank_shift;
  report(
      w, a.op, Fault::bad_address,
      fmt::format("{} {} shared memory of rank {} of its cluster, which has {} blocks",
                  thread_text(w, a.lane), verb(a), rank - 1, w.block->run->launch.cluster.count()),
      details_in_shared(w, a));
  return nullptr;
}

std::byte* reach_cluster(Warp& w, const Access& a, uint32_t& unwritten) {
  const Block& block = *w.block;
  const auto rank = static_cast<unsigned>(a.address >> rank_shift);
  if (rank == 0) return reach_shared(w, a, unwritten);
  const Cluster* const all = block.in_cluster.all;
  if (rank > (all == nullptr ? 1 : all->size())) return report_no_rank(w, a);
  Access inside = a;
  inside.address = a.address & ((1u << rank_shift) - 1);
  if (all == nullptr || rank - 1 == block.in_cluster.rank)
    return reach_shared(w, inside, unwritten);
  return reach_peer(w, inside, *all->blocks[rank - 1], unwritten);
}

InPeer peer_of(const Block& block, uint64_t address) {
  const Cluster* const all = block.in_cluster.all;
  if (all == nullptr) return {};
  for (Block* const peer : all->blocks) {
    const uint64_t at = address - reinterpret_cast<uint64_t>(peer->shared.data());
    if (at < block.run->shared_bytes) return {peer, at};
  }
  return {};
}

}  // namespace ptx
