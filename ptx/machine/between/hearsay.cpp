// What blocks know of each other's work, by fences and atomic operations.
#include <algorithm>
#include <bit>

#include "ptx/machine/access.h"

namespace ptx {

using std::uint32_t;
using std::uint64_t;

namespace {

// In that of a usual operation: to look whether anything was told at an address, and to hear it or
// to tell.
constexpr uint64_t time_to_look = 10, time_to_hear = 100, time_to_tell = 150;

// Blocks of a cluster hear and tell in each other's shared memory: by generic addresses.
bool is_of_peer(uint64_t& address, const Warp& w, Reach reach) {
  const Block& block = *w.block;
  if (block.in_cluster.all == nullptr) return false;
  const auto rank = reach == reach_cluster ? address >> rank_shift : 0;
  if (reach == reach_cluster || reach == reach_shared) {
    const bool is_own = rank == 0 || rank > block.in_cluster.all->size();
    const Block& of = is_own ? block : *block.in_cluster.all->blocks[rank - 1];
    address = (address & ((uint64_t{1} << rank_shift) - 1)) +
              reinterpret_cast<uint64_t>(of.shared.data());
    return true;
  }
  return reach == reach_generic && peer_of(block, address).block != nullptr;
}

// Every block has the same addresses of shared memory: what is released there, it alone hears. One
// that was generic comes to be that of shared memory.
bool is_shared(uint64_t& address, const Warp& w, Reach reach) {
  if (is_of_peer(address, w, reach)) return false;
  if (reach == reach_shared) return true;
  const uint64_t inside = address - reinterpret_cast<uint64_t>(w.block->shared.data());
  if (reach != reach_generic || inside >= w.block->run->shared_bytes) return false;
  address = inside;
  return true;
}

void listen(Block::Hearsay::Reach& to, uint64_t address, const Knowledge& told) {
  if (to.heard == told.version() && to.heard_at == address) return;
  to.unfenced.learn(told);
  to.heard_at = address, to.heard = told.version();
}

bool is_told(const Block::Hearsay::Reach& mine) {
  return mine.told != nullptr && mine.told_version == mine.fenced.version();
}
// What the last fence of a warp lets others know, for as many addresses as it tells it at.
const Told& told_once(Block::Hearsay::Reach& mine, const Warp& w, bool own_block_alone) {
  if (!is_told(mine)) {
    auto& all = w.block->run->told.by_fences;
    mine.told =
        &all.emplace_back(Told::By{w.block->told_as, w.index, own_block_alone, all.size() + 1});
    all.back().tell(mine.fenced);
    mine.told_version = mine.fenced.version();
  }
  return *mine.told;
}

// Of launches that are under way, and of the same one.
void hear_others(Warp& w, uint64_t address) {
  const auto& locks = w.block->run->memory.told_at_locks;
  const auto found = locks.find(address);
  if (found == locks.end()) return;
  w.block->run->extra_time += time_to_hear;
  w.block->hearsay[w.index].of_all.unfenced.hear(found->second);
}

}  // namespace

void hear(Warp& w, uint64_t address, Reach reach, Lock lock) {
  Block& block = *w.block;
  const bool is_global = !is_shared(address, w, reach);
  const bool is_in_cluster = is_global && peer_of(block, address).block != nullptr;
  block.run->meets_others |= is_global && !is_in_cluster;
  block.run->extra_time += time_to_look;
  if (const auto found = block.run->told.at.find(address);
      is_global && found != block.run->told.at.end()) {
    block.run->extra_time += time_to_hear;
    block.hearsay[w.index].of_all.unfenced.hear(found->second);
  }
  if (is_global && lock == Lock::may_take_or_free) hear_others(w, address);
  if (const auto found = block.released.find(address); found != block.released.end())
    listen(block.hearsay[w.index].of_block, address, found->second);
}

void tell(Warp& w, uint64_t address, Reach reach, Lock lock) {
  Block& block = *w.block;
  const auto mine = block.hearsay.find(w.index);
  if (mine == block.hearsay.end()) return;
  block.run->extra_time += time_to_tell;
  if (!is_shared(address, w, reach)) {
    Block::Hearsay::Reach& of_all = mine->second.of_all;
    const std::size_t addresses = block.run->told.at.size();
    const auto tell_at = [&](Told& here) {
      if (here.is_room(addresses))
        here.tell(told_once(of_all, w, false));
      else
        here.tell(of_all.fenced);
    };
    tell_at(block.run->told.at[address]);
    auto& locks = block.run->memory.told_at_locks;
    if (lock == Lock::may_take_or_free) tell_at(locks[address]);
    // Whoever frees one has taken it.
    if (const auto taken = lock == Lock::may_free ? locks.find(address) : locks.end();
        taken != locks.end())
      tell_at(taken->second);
  }
  Block::Hearsay::Reach& of_block = mine->second.of_block;
  Knowledge& here = block.released[address];
  if (here.empty())
    here.hear(told_once(of_block, w, true));
  else if (!is_told(of_block) || !here.has_heard(*of_block.told))
    here.learn(of_block.fenced);
}

namespace {

// What others tell of a block, one of its warps has let them know by a fence, or their cluster has.
bool may_be_told_of_itself(const Block& block) {
  return block.in_cluster.all != nullptr ||
         std::any_of(block.hearsay.begin(), block.hearsay.end(), [](const auto& of_warp) {
           const Block::Hearsay& heard = of_warp.second;
           return !heard.of_all.fenced.empty() || !heard.of_block.fenced.empty();
         });
}

// What a warp heard of others of its block counts for shared memory as well; there a thread counts
// for its warp.
void know_own_block(Warp& w, const Knowledge& known) {
  const Knowledge::Visit know = [&](uint64_t whose, uint32_t time) {
    w.known.resize(stamp::knowers, 0);
    if (whose == Knowledge::all) {
      for (uint32_t& of_any : w.known) of_any = std::max(of_any, time);
      return false;
    }
    const uint64_t warp = whose >= Knowledge::first_thread
                              ? (whose - Knowledge::first_thread) / warp_size
                              : whose - Knowledge::first_warp;
    w.known.at(warp) = std::max(w.known.at(warp), time);
    return false;
  };
  if (may_be_told_of_itself(*w.block))
    known.visit(w.block->told_as, know);
  else
    known.visit_learnt(w.block->told_as, know);
}

// What a fence is about of its own warp: what its lanes have done, and what others of the warp did
// before these last waited for them.
void fence_own(const Warp& w, Knowledge& fenced) {
  const uint64_t block = w.block->told_as;
  const bool is_whole = w.mask == w.alive;
  fenced.learn(block, Knowledge::first_warp + static_cast<uint64_t>(w.index),
               is_whole ? w.block->shadow.now() : std::max(w.since_sync, w.since_tile_sync));
  for (uint32_t left = is_whole ? 0 : w.mask; left != 0; left &= left - 1)
    fenced.learn(block,
                 Knowledge::first_thread + static_cast<uint64_t>(w.index * warp_size) +
                     static_cast<uint64_t>(std::countr_zero(left)),
                 w.block->shadow.now());
}

void learn_of_peers(Knowledge& known, const Warp& w) {
  InCluster& in = w.block->in_cluster;
  for (unsigned rank = 0; rank < in.all->size(); ++rank) {
    const auto times = in.known[static_cast<std::size_t>(w.index)].of(rank);
    if (rank != in.rank)
      known.learn(in.all->blocks[rank]->told_as, std::vector(times.begin(), times.end()));
  }
}

}  // namespace

void fence(Warp& w, bool for_block_alone) {
  using Hearsay = Block::Hearsay;
  Block& block = *w.block;
  Hearsay& mine = block.hearsay[w.index];
  block.shadow.tick();
  for (const auto reach : {&Hearsay::of_block, &Hearsay::of_all}) {
    if (for_block_alone && reach == &Hearsay::of_all) break;
    if ((mine.*reach).unfenced.empty()) continue;
    mine.known.learn((mine.*reach).unfenced);
    (mine.*reach).unfenced.clear();
  }
  know_heard(w, {});
  for (const auto reach : {&Hearsay::of_block, &Hearsay::of_all}) {
    if (for_block_alone && reach == &Hearsay::of_all) break;
    Hearsay::Reach& told = mine.*reach;
    Knowledge& fenced = told.fenced;
    if (told.fenced_of_block != block.knows.version()) fenced.learn(block.knows);
    if (told.fenced_of_warp != mine.known.version()) fenced.learn(mine.known);
    told.fenced_of_block = block.knows.version(), told.fenced_of_warp = mine.known.version();
    fenced.learn(block.told_as, w.known);
    fenced.learn(block.told_as, Knowledge::all, w.since_barrier);
    fence_own(w, fenced);
    if (block.in_cluster.all != nullptr) learn_of_peers(fenced, w);
  }
  if (for_block_alone) return;
  block.run->late_stores.fence(block);
  if (block.in_cluster.all == nullptr) return;
  block.in_cluster.fences[static_cast<std::size_t>(w.index)] = block.shadow.now();
  for (const Block* const peer : block.in_cluster.all->blocks) block.run->late_stores.fence(*peer);
}

void hear_of_phase(Warp& w, std::span<const uint32_t> own, const PeerClocks& peers) {
  Block& block = *w.block;
  Block::Hearsay& mine = block.hearsay[w.index];
  // Of what several warps did: the latest, as of all that a phase makes known.
  const auto learn = [](Knowledge& to, const Block& of, std::span<const uint32_t> times) {
    std::vector<uint32_t> all(times.begin(), times.end());
    all[warp_size] = *std::max_element(all.begin(), all.begin() + warp_size);
    to.learn(of.told_as, all);
  };
  learn(mine.of_block.unfenced, block, own);
  learn(mine.of_all.unfenced, block, own);
  if (block.in_cluster.all == nullptr) return;
  PeerClocks told = peers;
  for (const Block* const peer : block.in_cluster.all->blocks)
    learn(mine.of_all.unfenced, *peer, told.of(peer->in_cluster.rank));
  block.in_cluster.known[static_cast<std::size_t>(w.index)].met |= peers.met;
}

void know_heard(Warp& w, const Knowledge& more) {
  Block::Hearsay& mine = w.block->hearsay[w.index];
  mine.known.learn(more);
  if (mine.known_here != mine.known.version()) know_own_block(w, mine.known);
  mine.known_here = mine.known.version();
}

bool lacks_fence(const Warp& w, const Block& other, uint32_t s) {
  const auto heard = w.block->hearsay.find(w.index);
  return heard != w.block->hearsay.end() && heard->second.of_all.unfenced.knows(other.told_as, s);
}

std::byte* reach_atomically(Warp& w, Access a, Reach reach, Lock lock, uint32_t& unwritten) {
  hear(w, a.address, reach, lock);
  tell(w, a.address, reach, lock);
  a.writes = a.is_strong = true;
  std::byte* const to = reach(w, a, unwritten);
  const bool is_taken = a.op->d >= 0;  // what was there before
  if (to != nullptr)
    w.block->run->late_stores.change(w, a.op, a.address, static_cast<std::size_t>(a.bytes),
                                     !is_taken);
  return to;
}

}  // namespace ptx
