#include "ptx/machine/report/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/cluster/barrier.h"

namespace ptx {
namespace {

// Lanes that can go on, and where.
struct Ready {
  const Op* at = nullptr;
  std::uint32_t mask = 0;
};
Ready ready_of(const Warp& w) {
  if (w.at != nullptr) return {w.at, w.mask};
  const auto found = std::find_if(w.others.begin(), w.others.end(),
                                  [](const Group& g) { return g.state == Group::State::ready; });
  return found == w.others.end() ? Ready{} : Ready{found->at, found->mask};
}

}  // namespace

void report_endless(const std::vector<std::unique_ptr<Block>>& in_flight, double limit) {
  for (const auto& block : in_flight)
    for (Warp& w : block->warps)
      if (const Ready ready = ready_of(w); ready.at != nullptr)
        return report(w, ready.at, Fault::never_ends,
                      fmt::format("{} was still running after {:.3g} s of CPU time",
                                  thread_text(w, std::countr_zero(ready.mask)), limit));
}

void report_no_room(Block& block, std::size_t in_flight, std::uint64_t grid) {
  for (Warp& w : block.warps)
    if (const Ready ready = ready_of(w); ready.at != nullptr)
      return report(
          w, ready.at, Fault::never_ends,
          fmt::format("{} waits for a block that finds no room: {} of the grid's {} fit on the "
                      "device together, and all that are there wait",
                      thread_text(w, std::countr_zero(ready.mask)), in_flight, grid),
          {.sites = {site(w, "waits", ready.at)}});
}

namespace {

// Of a block that waits for itself, where others wait for it.
std::string at_cluster_barrier(const Block& block) {
  const Cluster* const all = block.in_cluster.all;
  if (all == nullptr || all->arrived == 0) return "";
  return fmt::format("; {} of {} threads have reached the barrier of the cluster", all->arrived,
                     all->alive);
}

// The block of a cluster that waits for something else than its barrier.
Block& culprit_of(Block& block) {
  if (block.in_cluster.all == nullptr) return block;
  for (Block* one : block.in_cluster.all->blocks)
    for (const Warp& w : one->warps)
      for (const Group& g : w.others)
        if (g.state != Group::State::at_cluster_barrier) return *one;
  return block;
}

}  // namespace

void report_stuck(Block& any) {
  Block& block = culprit_of(any);
  for (Warp& w : block.warps)
    for (const Group& g : w.others)
      if (g.state == Group::State::at_warp_op)
        return report(
            w, g.at, Fault::warp_not_reached,
            fmt::format("{} waits at an operation of the whole warp that lanes {:#x} never reach",
                        thread_text(w, std::countr_zero(g.mask)), g.partners & w.alive & ~g.mask));
  if (report_lone_warps(block) || report_endless_phase(block)) return;
  for (Warp& w : block.warps)
    for (const Group& g : w.others) {
      if (g.state != Group::State::at_barrier) continue;
      return report(
          w, g.at - 1, Fault::barrier_not_reached,
          fmt::format("{} waits at barrier {}, which {} of {} threads have reached and {} have "
                      "returned without{}",
                      thread_text(w, std::countr_zero(g.mask)), g.barrier,
                      block.barriers[g.barrier].arrived, block.thread_count, block.exited,
                      at_cluster_barrier(block)),
          {.sites = {site(w, "waits", g.at - 1)}});
    }
  report_cluster_barrier(block);
}

}  // namespace ptx
