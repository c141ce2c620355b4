#include "ptx/machine/cluster/barrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"

namespace ptx {
namespace {

using std::uint32_t;

const Op* wait_for_cluster(const Op*, Warp&);

InCluster::Arrival& arrival_of(Warp& w) {
  return w.block->in_cluster.arrivals[static_cast<std::size_t>(w.index)];
}

const Op* arrive_at_cluster(const Op* op, Warp& w) {
  if ((op->mode & is_aligned) != 0 && !is_whole(w, op)) return next_group(w);
  Block& block = *w.block;
  InCluster& in = block.in_cluster;
  InCluster::Arrival& own = arrival_of(w);
  if (const uint32_t again = own.lanes & w.mask; again != 0) {
    report(w, op, Fault::trap,
           fmt::format("{} arrives at the barrier of its cluster once more, and has not waited "
                       "since it last did",
                       thread_text(w, std::countr_zero(again))));
    return nullptr;
  }
  const bool relaxed = (op->mode & is_relaxed) != 0;
  const bool at_once = op[1].run == wait_for_cluster;
  block.shadow.tick();
  if (relaxed) {
    tell_fenced(w, in.all->told);
  } else {
    tell_clocks(w, block.shadow.now(), in.all->told);
  }
  const bool is_first = (own.lanes & ~own.complete) == 0;
  own.waits_at_once = at_once && (is_first || own.waits_at_once);
  own.tells = !relaxed && (is_first || own.tells);
  own.lanes |= w.mask;
  in.all->arrived += std::popcount(w.mask);
  complete_cluster_barrier(*in.all);
  return block.run->failed() ? nullptr : op + 1;
}

// What happened in other clusters, and blocks of this one have heard of, all of them know now.
void share_knowledge(Cluster& cluster) {
  Knowledge all;
  for (const Block* block : cluster.blocks) {
    all.learn(block->knows);
    for (const auto& [_, heard] : block->hearsay) all.learn(heard.known);
  }
  if (all.empty()) return;
  for (Block* block : cluster.blocks) block->knows.learn(all);
}

// A warp goes on behind a wait.
void learn_phase(Warp& w) {
  Block& block = *w.block;
  InCluster& in = block.in_cluster;
  Cluster& cluster = *in.all;
  PeerClocks& known = in.known[static_cast<std::size_t>(w.index)];
  known.learn(cluster.complete);
  known.met = ~0u;
  const auto own = known.of(in.rank);
  if (in.settled != cluster.phase) {
    in.settled = cluster.phase, in.settled_at = own[stamp::peers];
    block.shadow.settle_touches(cluster.complete, in.settled_at);
  }
  uint32_t by_all = own[stamp::peers];
  for (std::size_t v = 0; v < block.warps.size(); ++v) by_all = std::min(by_all, own[v]);
  if (block.asynchronous.has_landed) by_all = std::min(by_all, own[stamp::copies]);
  for (std::size_t v = stamp::products; v < own.size(); ++v)
    if (counts_as_knower(block, v)) by_all = std::min(by_all, own[v]);
  w.since_sync = std::max(w.since_sync, own[static_cast<std::size_t>(w.index)]);
  w.since_barrier = std::max(w.since_barrier, std::min(by_all, w.since_sync));
  if (std::none_of(own.begin(), own.end(), [&](uint32_t t) { return t > w.since_barrier; })) return;
  w.known.resize(stamp::knowers, 0);
  for (std::size_t v = 0; v < own.size(); ++v) w.known[v] = std::max(w.known[v], own[v]);
}

void leave_barrier(Warp& w, uint32_t lanes) {
  InCluster::Arrival& own = arrival_of(w);
  own.lanes &= ~lanes, own.complete &= ~lanes;
  learn_phase(w);
  if (lanes == w.alive) w.has_diverged = false;
}

const Op* wait_for_cluster(const Op* op, Warp& w) {
  InCluster::Arrival& own = arrival_of(w);
  if (const uint32_t missing = w.mask & ~own.lanes; missing != 0) {
    report(w, op, Fault::trap,
           fmt::format("{} waits at the barrier of its cluster, and has not arrived there",
                       thread_text(w, std::countr_zero(missing))));
    return nullptr;
  }
  if ((w.mask & ~own.complete) == 0) {
    leave_barrier(w, w.mask);
    return op + 1;
  }
  w.others.push_back({.at = op + 1, .mask = w.mask, .state = Group::State::at_cluster_barrier});
  w.set_mask(0);
  return next_group(w);
}

// What the phase makes known of a block: of a warp that does nothing until it waits, all until now.
void tell_all(Block& block, PeerClocks& told) {
  block.shadow.tick();
  const uint32_t now = block.shadow.now();
  const auto own = told.of(block.in_cluster.rank);
  for (const Warp& w : block.warps) {
    const InCluster::Arrival& arrival =
        block.in_cluster.arrivals[static_cast<std::size_t>(w.index)];
    if (w.alive == 0 || (arrival.waits_at_once && arrival.tells))
      own[static_cast<std::size_t>(w.index)] = now;
  }
  own[stamp::peers] = now;
}

void let_go(Block& block) {
  for (Warp& w : block.warps) {
    InCluster::Arrival& own = arrival_of(w);
    own.complete |= own.lanes;
    uint32_t waited = 0;
    for (Group& g : w.others) {
      if (g.state != Group::State::at_cluster_barrier) continue;
      g.state = Group::State::ready;
      waited |= g.mask;
    }
    if (waited != 0) leave_barrier(w, waited);
  }
}

// Whether nobody does anything between an arrival and its wait.
bool all_wait_at_once(const Cluster& cluster) {
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(), [](const Block* block) {
    return std::all_of(block->warps.begin(), block->warps.end(), [&](const Warp& w) {
      const auto& own = block->in_cluster.arrivals[static_cast<std::size_t>(w.index)];
      return w.alive == 0 || (own.waits_at_once && own.tells);
    });
  });
}

}  // namespace

void complete_cluster_barrier(Cluster& cluster) {
  if (cluster.alive == 0 || cluster.arrived < cluster.alive) return;
  for (Block* block : cluster.blocks) tell_all(*block, cluster.told);
  cluster.complete.learn(cluster.told);
  cluster.arrived = 0;
  ++cluster.phase;
  share_knowledge(cluster);
  const bool is_of_all = all_wait_at_once(cluster);
  for (Block* block : cluster.blocks) {
    if (is_of_all) block->shadow.forget_reads();
    let_go(*block);
  }
  cluster.blocks[0]->run->met_in_cluster = true;
}

bool report_cluster_barrier(Block& block) {
  const Cluster& cluster = *block.in_cluster.all;
  for (Warp& w : block.warps)
    for (const Group& g : w.others) {
      if (g.state != Group::State::at_cluster_barrier) continue;
      report(w, g.at - 1, Fault::barrier_not_reached,
             fmt::format("{} waits at the barrier of its cluster, which {} of {} threads have "
                         "reached that have not returned",
                         thread_text(w, std::countr_zero(g.mask)), cluster.arrived, cluster.alive),
             {.sites = {site(w, "waits", g.at - 1)}});
      return true;
    }
  return false;
}

void add_cluster_barrier_handlers(Handlers& to) {
  to["barrier.cluster.arrive"] = {arrive_at_cluster, ""};
  to["barrier.cluster.wait"] = {wait_for_cluster, ""};
}

}  // namespace ptx
