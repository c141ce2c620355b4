#include "ptx/machine/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/access.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster/barrier.h"
#include "ptx/machine/report/accesses.h"
#include "ptx/machine/report/stuck.h"

namespace ptx {

using std::uint32_t;
using std::uint64_t;

void PeerClocks::start(unsigned ranks) {
  met = 0;
  times_.assign(ranks * stamp::knowers, 0);
}
void PeerClocks::learn(const PeerClocks& more) {
  met |= more.met;
  for (std::size_t i = 0; i < times_.size(); ++i) times_[i] = std::max(times_[i], more.times_[i]);
}
uint32_t PeerClocks::until(unsigned rank, uint32_t warp) const {
  const auto first = times_.begin() + rank * stamp::knowers;
  const auto products = first + stamp::products, end = first + stamp::knowers;
  if (warp == stamp::of_several_groups) return *std::max_element(products, end);
  return warp == warp_size ? *std::max_element(first, products) : first[warp];
}

void tell_clocks(const Warp& w, uint32_t until, PeerClocks& told) {
  const InCluster& in = w.block->in_cluster;
  told.learn(in.known[static_cast<std::size_t>(w.index)]);
  told.met |= 1u << in.rank;
  const auto own = told.of(in.rank);
  for (std::size_t v = 0; v < own.size(); ++v)
    own[v] = std::max({own[v], v < w.known.size() ? w.known[v] : 0, w.since_barrier});
  uint32_t& mine = own[static_cast<std::size_t>(w.index)];
  mine = std::max(mine, until);
}

void tell_fenced(const Warp& w, PeerClocks& told) {
  const InCluster& in = w.block->in_cluster;
  const auto which = static_cast<std::size_t>(w.index);
  uint32_t& until = told.of(in.rank)[which];
  until = std::max(until, in.fences[which]);
}

void learn_clocks(Warp& w, const PeerClocks& more) {
  PeerClocks& known = w.block->in_cluster.known[static_cast<std::size_t>(w.index)];
  known.learn(more);
  const auto own = known.of(w.block->in_cluster.rank);
  w.known.resize(stamp::knowers, 0);
  for (std::size_t v = 0; v < own.size(); ++v) w.known[v] = std::max(w.known[v], own[v]);
}

InCluster::Last& InCluster::last(unsigned by, const Warp& w) {
  return last_by[by * w.block->warps.size() + static_cast<std::size_t>(w.index)];
}

void make_cluster(Cluster& cluster, const std::vector<Block*>& blocks) {
  cluster.blocks = blocks;
  cluster.arrived = 0, cluster.alive = 0, cluster.phase = 0;
  cluster.told.start(cluster.size());
  cluster.complete.start(cluster.size());
  for (unsigned rank = 0; rank < cluster.size(); ++rank) {
    Block& block = *blocks[rank];
    const std::size_t warps = block.warps.size();
    InCluster& in = block.in_cluster;
    in.all = &cluster, in.rank = rank, in.settled = in.settled_at = 0;
    in.known.resize(warps);
    for (PeerClocks& known : in.known) known.start(cluster.size());
    in.fences.assign(warps, 0);
    in.arrivals.assign(warps, {});
    in.last_by.assign(cluster.size() * warps, {});
    block.shadow.join_cluster(rank);
    cluster.alive += block.thread_count;
  }
}

bool knows_of_peer(const Warp& w, unsigned rank, uint32_t s) {
  const Block& block = *w.block;
  const InCluster& in = block.in_cluster;
  if (stamp::is_untold(s)) return true;
  if (stamp::time(s) < in.known[static_cast<std::size_t>(w.index)].until(rank, stamp::warp(s)))
    return true;
  const Block& peer = *in.all->blocks[rank];
  if (block.knows.knows(peer.told_as, s)) return true;
  const auto heard = block.hearsay.find(w.index);
  return heard != block.hearsay.end() && heard->second.known.knows(peer.told_as, s);
}

int rank_of_block(const Warp& w, uint32_t number) {
  const Cluster* const all = w.block->in_cluster.all;
  for (unsigned rank = 0; all != nullptr && rank < all->size(); ++rank)
    if (all->blocks[rank]->number == number) return static_cast<int>(rank);
  return -1;
}

void share_clocks(Block& block, uint32_t from, uint32_t to) {
  InCluster& in = block.in_cluster;
  if (in.all->size() == 1) return;
  PeerClocks all;
  all.start(in.all->size());
  for (std::size_t v = 0; v < in.known.size(); ++v)
    if ((from >> v & 1) != 0) all.learn(in.known[v]);
  for (std::size_t v = 0; v < in.known.size(); ++v)
    if ((to >> v & 1) != 0) in.known[v].learn(all);
}

namespace {

// Whether some thread of a block that ends has waited for what another block did in its memory; if
// it reads nothing of that, a relaxed wait will do.
bool has_waited_for(const Block& block, unsigned rank, uint32_t s) {
  const Block& other = *block.in_cluster.all->blocks[rank];
  return std::any_of(block.warps.begin(), block.warps.end(), [&](const Warp& w) {
    return knows_of_peer(w, rank, s) || lacks_fence(w, other, s);
  });
}

void look_at_end(Block& block) {
  InCluster& in = block.in_cluster;
  const std::size_t warps = block.warps.size();
  for (std::size_t n = 0; n < in.last_by.size(); ++n) {
    const InCluster::Last& last = in.last_by[n];
    const auto rank = static_cast<unsigned>(n / warps);
    if (last.stamp == 0 || has_waited_for(block, rank, last.stamp)) continue;
    Warp& other = in.all->blocks[rank]->warps[n % warps];
    const Access access{.op = other.code + last.op,
                        .lane = static_cast<int>(stamp::thread(last.stamp) % warp_size),
                        .address = last.at,
                        .writes = last.wrote};
    return report_ended(other, access, block);
  }
  for (const BulkCopy& copy : block.asynchronous.bulk) {
    if (copy.by == nullptr) continue;
    const Access access{.op = copy.op, .lane = copy.lane, .address = copy.to, .writes = true};
    return report_ended(*copy.by, access, block);
  }
}

}  // namespace

void leave_cluster(Warp& w, uint32_t lanes) {
  Block& block = *w.block;
  Cluster& cluster = *block.in_cluster.all;
  const InCluster::Arrival& own = block.in_cluster.arrivals[static_cast<std::size_t>(w.index)];
  cluster.alive -= std::popcount(lanes);
  cluster.arrived -= std::popcount(lanes & own.lanes & ~own.complete);
  if (block.has_ended()) look_at_end(block);
  complete_cluster_barrier(cluster);
}

bool cluster_can_run(const Block& block) {
  const auto& blocks = block.in_cluster.all->blocks;
  return std::any_of(blocks.begin(), blocks.end(), [](const Block* b) {
    return std::any_of(b->warps.begin(), b->warps.end(), can_run);
  });
}

}  // namespace ptx
