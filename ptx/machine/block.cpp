#include "ptx/machine/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/access.h"

namespace ptx {
namespace {

using std::uint32_t;
using State = Group::State;

bool meet(const Group& a, const Group& b) {
  const bool are_near = a.at == b.at || (a.meets_anywhere && b.meets_anywhere);
  return a.state == State::at_warp_op && b.state == a.state && are_near && a.partners == b.partners;
}
// Groups that wait for each other at a warp-wide operation are ready for it, once all are there; or
// behind it, where they synchronise at different places.
void gather(Warp& w) {
  for (std::size_t i = 0; i < w.others.size(); ++i) {
    const Group g = w.others[i];
    if (g.state != State::at_warp_op) continue;
    uint32_t here = 0;
    bool at_one_place = true;
    for (const Group& other : w.others) {
      if (!meet(g, other)) continue;
      here |= other.mask;
      at_one_place &= other.at == g.at;
    }
    if (!is_complete(w, g.partners, here)) continue;
    if (!at_one_place) synchronise(w, g.partners);
    for (Group& other : w.others)
      if (meet(g, other)) other = {.at = other.at + (at_one_place ? 0 : 1), .mask = other.mask};
  }
}

// What one thread fenced before a barrier, others may let know behind it; and what one heard
// before, others know once they fence it. For threads of the block alone the barrier is a fence.
void share_hearsay(Block& block, uint32_t from, uint32_t to) {
  for (const auto reach : {&Block::Hearsay::of_all, &Block::Hearsay::of_block}) {
    Block::Hearsay::Reach all;
    for (auto& [warp, heard] : block.hearsay) {
      if ((from >> warp & 1) == 0) continue;
      all.unfenced.learn((heard.*reach).unfenced);
      all.fenced.learn((heard.*reach).fenced);
    }
    if (all.unfenced.empty() && all.fenced.empty()) continue;
    for (Warp& w : block.warps) {
      if ((to >> w.index & 1) == 0) continue;
      Block::Hearsay::Reach& mine = block.hearsay[w.index].*reach;
      mine.unfenced.learn(all.unfenced);
      mine.fenced.learn(all.fenced);
      if (reach == &Block::Hearsay::of_block) know_heard(w, all.unfenced);
    }
  }
}

void add_known(const Warp& w, std::vector<uint32_t>& all) {
  all.resize(stamp::knowers, 0);
  for (std::size_t v = 0; v < all.size(); ++v)
    all[v] = std::max({all[v], v < w.known.size() ? w.known[v] : 0, w.since_barrier});
  all[static_cast<std::size_t>(w.index)] = w.block->shadow.now();
}

// Whoever waited knows what any of those knew that arrived, and what they had done by then.
void let_go(Block& block, int number, Block::Barrier& barrier) {
  block.shadow.tick();
  const uint32_t now = block.shadow.now();
  const auto waits = [&](const Warp& w) { return (barrier.waiting >> w.index & 1) != 0; };
  const bool by_all =
      barrier.told.empty() &&
      (barrier.expected == 0 || barrier.expected >= block.thread_count - block.exited);
  bool is_of_all = by_all;
  if (!by_all)
    for (const Warp& w : block.warps)
      if (waits(w)) add_known(w, barrier.told);
  for (Warp& w : block.warps) {
    if (!waits(w)) {
      is_of_all &= w.alive == 0;
      continue;
    }
    w.since_sync = now;
    w.has_diverged = false;
    if (by_all) {
      w.since_barrier = now;
    } else {
      w.known = barrier.told;
    }
    if (const auto heard = block.hearsay.find(w.index); heard != block.hearsay.end())
      block.knows.learn(heard->second.known);
    for (Group& g : w.others)
      if (g.state == State::at_barrier && g.barrier == number) g.state = State::ready;
  }
  if (!block.hearsay.empty()) share_hearsay(block, barrier.warps, barrier.waiting);
  if (block.in_cluster.all != nullptr) share_clocks(block, barrier.warps, barrier.waiting);
  if (is_of_all) block.shadow.forget_reads();
  barrier = {.last_arrived = barrier.arrived, .last_yes = barrier.yes};
}

// Of the groups that may go on, but for those that let others go first.
const Group* lowest_ready(const Warp& w) {
  const Group* lowest = nullptr;
  for (const Group& g : w.others)
    if (g.state == State::ready && !g.stepped_back && (lowest == nullptr || g.at < lowest->at))
      lowest = &g;
  return lowest;
}

// Lanes of one warp that wait at different places for the same barrier.
bool is_torn(Block& block, int number) {
  for (Warp& w : block.warps) {
    const Op* first = nullptr;
    for (const Group& g : w.others) {
      if (g.state != State::at_barrier || g.barrier != number || g.is_apart) continue;
      if (first != nullptr && first != g.at) {
        const Program::Kernel& kernel = block.run->kernel;
        report(w, g.at - 1, Fault::barrier_not_reached,
               fmt::format("lanes of one warp wait at two different barriers: {} at {}, {} at {}",
                           thread_text(w, std::countr_zero(g.mask)), place_of(kernel, *(g.at - 1)),
                           "others", place_of(kernel, *(first - 1))),
               {.sites = {site(w, "waits", g.at - 1), site(w, "others", first - 1)}});
        return true;
      }
      first = g.at;
    }
  }
  return false;
}

}  // namespace

const Op* go_on_at(Warp& w, const Op* at) {
  w.others.push_back({.at = at, .mask = w.mask});
  w.set_mask(0);
  return next_group(w);
}

void leave_some_behind(Warp& w, const Op* at, unsigned one_in) {
  Run& run = *w.block->run;
  if (run.settings.order != Order::shuffled || (w.mask & (w.mask - 1)) == 0) return;
  const std::uint64_t drawn = run.draw();
  const auto behind = w.mask & static_cast<uint32_t>(drawn >> 32);
  if (drawn % one_in != 0 || behind == 0 || behind == w.mask) return;
  w.others.push_back({.at = at, .mask = behind, .stepped_back = true});
  w.set_mask(w.mask & ~behind);
}

const Op* step_back(Warp& w, const Op* next, bool may_wait_for_blocks) {
  w.others.push_back({.at = next, .mask = w.mask, .stepped_back = true});
  w.set_mask(0);
  gather(w);
  if (lowest_ready(w) != nullptr) return next_group(w);
  w.lets_go_first = true;
  w.lets_blocks_go_first = may_wait_for_blocks;
  return nullptr;
}

const Op* next_group(Warp& w) {
  gather(w);
  const Group* lowest = lowest_ready(w);
  if (lowest == nullptr) {
    for (Group& g : w.others) g.stepped_back = false;
    lowest = lowest_ready(w);
  }
  if (lowest == nullptr) {
    w.set_mask(0);
    return nullptr;
  }
  const Op* at = lowest->at;
  uint32_t mask = 0;
  std::erase_if(w.others, [&](const Group& g) {
    const bool joins = g.state == State::ready && g.at == at;
    if (joins) mask |= g.mask;
    return joins;
  });
  w.set_mask(mask);
  return at;
}

bool is_complete(const Warp& w, uint32_t mask, uint32_t here) {
  return (mask & w.alive & ~here) == 0;
}

void wait_for_lanes(Warp& w, const Op* op, uint32_t mask, uint32_t lanes, bool anywhere) {
  w.others.push_back({.at = op,
                      .mask = lanes,
                      .state = State::at_warp_op,
                      .partners = mask,
                      .meets_anywhere = anywhere});
}

bool is_whole(Warp& w, const Op* op) {
  if (is_complete(w, all_lanes, w.mask)) {
    w.has_diverged = false;
    return true;
  }
  wait_for_lanes(w, op, all_lanes, w.mask, false);
  w.set_mask(0);
  return false;
}

void synchronise(Warp& w, uint32_t mask) {
  w.block->shadow.tick();
  const uint32_t now = w.block->shadow.now();
  if ((w.alive & ~mask) == 0) {
    w.since_sync = now;
    return;
  }
  w.since_tile_sync = now;
  w.lanes_know.resize(warp_size, {});
  std::array<uint32_t, warp_size> all = {};
  for (uint32_t left = mask & w.alive; left != 0; left &= left - 1) {
    const auto& one = w.lanes_know[static_cast<std::size_t>(std::countr_zero(left))];
    for (std::size_t i = 0; i < warp_size; ++i)
      all[i] = (mask >> i & 1) != 0 ? now : std::max(all[i], one[i]);
  }
  for (uint32_t left = mask & w.alive; left != 0; left &= left - 1)
    w.lanes_know[static_cast<std::size_t>(std::countr_zero(left))] = all;
}

const Op* arrive(Warp& w, const Op* op, int number, int threads, bool waits, bool is_apart) {
  Block& block = *w.block;
  if (number < 0 || number > 15) {
    report(w, op, Fault::trap,
           fmt::format("{} uses barrier {}; there are 0 to 15",
                       thread_text(w, std::countr_zero(w.mask)), number));
    return nullptr;
  }
  if (threads % warp_size != 0) {
    report(w, op, Fault::illegal_instruction,
           fmt::format("{} meets {} threads at barrier {}: hardware takes multiples of {} only",
                       thread_text(w, std::countr_zero(w.mask)), threads, number, warp_size));
    return nullptr;
  }
  Block::Barrier& barrier = block.barriers[number];
  barrier.arrived += std::popcount(w.mask);
  barrier.warps |= 1u << w.index;
  if (threads != 0) barrier.expected = threads;
  if (!waits) {
    block.shadow.tick();
    add_known(w, barrier.told);
    complete_barriers(block);
    return op + 1;
  }
  barrier.waiting |= 1u << w.index;
  w.others.push_back({.at = op + 1,
                      .mask = w.mask,
                      .state = State::at_barrier,
                      .barrier = number,
                      .is_apart = is_apart});
  w.set_mask(0);
  complete_barriers(block);
  return block.run->failed() ? nullptr : next_group(w);
}

void complete_barriers(Block& block) {
  for (int number = 0; number < 16; ++number) {
    Block::Barrier& barrier = block.barriers[number];
    if (barrier.arrived == 0) continue;
    const int expected =
        barrier.expected != 0 ? barrier.expected : block.thread_count - block.exited;
    if (barrier.arrived < expected || is_torn(block, number)) continue;
    let_go(block, number, barrier);
  }
}

void leave_block(Warp& w, uint32_t lanes) {
  w.alive &= ~lanes;
  w.set_mask(0);
  if (w.alive == 0 && !have_asked_alike(w)) return;
  w.block->exited += std::popcount(lanes);
  complete_barriers(*w.block);
  if (w.block->in_cluster.all != nullptr) leave_cluster(w, lanes);
}

const char* text_at(Warp& w, std::uint64_t address, std::uint64_t most) {
  const Region* region = w.block->run->memory.at(address);
  if (region == nullptr) return "?";
  const char* text = reinterpret_cast<const char*>(region->area.bytes_at(address));
  const std::uint64_t left = std::min<std::uint64_t>(region->end - address, most);
  return std::find(text, text + left, '\0') == text + left ? "?" : text;
}

}  // namespace ptx
