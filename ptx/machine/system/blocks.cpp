#include "ptx/machine/system/blocks.h"

#include <algorithm>
#include <cstring>

#include "ptx/machine/bits/results.h"
#include "ptx/machine/system/specials.h"

namespace ptx {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint32_t poison = 0x7f85eedd;

void fill(Warp& w, int slot, bool is_wide, uint64_t bits) {
  for (int lane = 0; lane < warp_size; ++lane) {
    if (is_wide)
      w.slot<uint64_t>(slot)[lane] = bits;
    else
      w.slot<uint32_t>(slot)[lane] = static_cast<uint32_t>(bits);
  }
}

void fill_constants(Warp& w) {
  const Run& run = *w.block->run;
  for (const Constant& c : run.kernel.constants) fill(w, c.slot, c.is_wide, c.bits);
  for (const ParamSlot& p : run.kernel.param_slots) {
    uint64_t bits = 0;
    if (p.at + static_cast<std::size_t>(p.bytes) <= run.launch.params.size())
      std::memcpy(&bits, run.launch.params.data() + p.at, static_cast<std::size_t>(p.bytes));
    if (p.is_signed && p.bytes < 8) {
      const int shift = 64 - 8 * p.bytes;
      bits = static_cast<uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
    }
    fill(w, p.slot, p.is_wide, bits);
  }
}

// Those that each block has anew, which are the same for all its threads, or the others.
void fill_specials(Warp& w, bool of_block) {
  for (const SpecialSlot& s : w.block->run->kernel.specials) {
    if (s.special->is_of_block != of_block) continue;
    if (of_block) fill(w, s.slot, s.is_wide, s.special->value(w, 0, s.at));
    for (unsigned lane = 0; lane < warp_size && !of_block; ++lane) {
      const uint64_t bits = s.special->value(w, lane, s.at);
      if (s.is_wide)
        w.slot<uint64_t>(s.slot)[lane] = bits;
      else
        w.slot<uint32_t>(s.slot)[lane] = static_cast<uint32_t>(bits);
    }
  }
}

void start(Warp& w) {
  const Run& run = *w.block->run;
  const int left = w.block->thread_count - w.index * warp_size;
  w.alive = left >= warp_size ? all_lanes : (1u << left) - 1;
  w.others.clear();
  w.has_diverged = false;
  w.known.clear();
  w.asked = w.registers = 0;
  w.set_mask(w.alive);
  w.at = w.code;
  w.since_barrier = w.since_sync = 1;
  w.since_tile_sync = 0;
  w.lanes_know.clear();
  if (w.has_taint) {
    std::fill(w.taint.begin(), w.taint.end(), 0);
    std::fill(w.predicate_taint.begin(), w.predicate_taint.end(), 0);
  }
  w.origins.clear();
  w.predicate_origins.clear();
  w.last_unwritten = {};
  w.has_taint = !run.kernel.unset.empty();
  if (w.has_taint) make_room_for_unwritten(w);
  for (const int slot : run.kernel.unset)
    for (int lane = 0; lane < warp_size; ++lane) set_unwritten(w, slot, lane, ~uint64_t{0});
}

// One that a launch left, if there is any: most have as much memory as the next one asks for.
std::unique_ptr<Block> spare_block(Run& run) {
  auto& spare = run.memory.spare_blocks;
  if (spare.empty()) return std::make_unique<Block>();
  std::unique_ptr<Block> block = std::move(spare.back());
  spare.pop_back();
  return block;
}

// But for the memory that it has.
void forget(Warp& w) {
  Warp fresh;
  fresh.others.swap(w.others);
  fresh.known.swap(w.known);
  fresh.taint.swap(w.taint);
  fresh.predicate_taint.swap(w.predicate_taint);
  w = std::move(fresh);
}

}  // namespace

std::unique_ptr<Block> make_block(Run& run) {
  std::unique_ptr<Block> block = spare_block(run);
  const Program::Kernel& kernel = run.kernel;
  block->run = &run;
  block->in_cluster = {};
  block->thread_count = static_cast<int>(run.launch.block.count());
  const int warps = (block->thread_count + warp_size - 1) / warp_size;
  block->warps.resize(static_cast<std::size_t>(warps));
  const std::size_t slot_words = static_cast<std::size_t>(kernel.slots + 1) * warp_size;
  block->slots.resize(slot_words * static_cast<std::size_t>(warps) + 16);
  block->predicates.assign(static_cast<std::size_t>(kernel.predicates * warps), 0);
  block->shared.resize(run.shared_bytes + 16);
  block->local_bytes = kernel.facts.local;
  block->local.resize(kernel.facts.local * static_cast<std::size_t>(warps) * warp_size);
  block->local_is_written.resize(block->local.size() / 4 + 1);
  auto* slots = block->slots.data();
  while (reinterpret_cast<uint64_t>(slots) % 64 != 0) ++slots;
  for (int i = 0; i < warps; ++i) {
    Warp& w = block->warps[static_cast<std::size_t>(i)];
    forget(w);
    w.slots = slots + slot_words * static_cast<std::size_t>(i);
    w.predicates = block->predicates.data() + kernel.predicates * i;
    w.code = run.code();
    w.lists = kernel.lists.data();
    w.block = block.get();
    w.index = i;
    w.taint.assign(static_cast<std::size_t>(kernel.slots + 1), 0);
    w.predicate_taint.assign(static_cast<std::size_t>(kernel.predicates), 0);
    constexpr uint64_t wide_poison = uint64_t{poison} << 32 | poison;
    for (const int slot : kernel.unset) fill(w, slot, true, wide_poison);  // or what follows it
    fill_constants(w);
    fill_specials(w, false);
  }
  return block;
}

void keep_for_later(std::unique_ptr<Block> block) {
  constexpr std::size_t most = 4096, most_bytes = 1 << 22, most_together = 1 << 27;
  auto& spare = block->run->memory.spare_blocks;
  const std::size_t bytes = block->local.size() + block->slots.size() + block->shared.size();
  if (spare.size() < most && bytes < most_bytes && (spare.size() + 1) * bytes < most_together)
    spare.push_back(std::move(block));
}

void start(Block& block, const Dim& at) {
  const Run& run = *block.run;
  const Dim& grid = run.launch.grid;
  block.number = run.numbering.others +
                 static_cast<uint32_t>(at.x + grid.x * (at.y + uint64_t{grid.y} * at.z));
  block.told_as = std::uint64_t{run.numbering.earlier} + block.number;
  block.at = at;
  block.exited = 0;
  block.next = 0;
  block.stored = 0;
  block.waits_for_grids.clear();
  std::fill(std::begin(block.barriers), std::end(block.barriers), Block::Barrier{});
  block.knows.clear();
  block.hearsay.clear();
  block.released.clear();
  block.unwritten_from.clear();
  block.own_unwritten.clear();
  block.copies.resize(block.warps.size());
  for (Block::Copies& copies : block.copies) copies.forget();
  block.asynchronous = {};
  block.held.clear();
  start_warpgroups(block);
  block.shadow.start(run.shared_bytes / 4, reinterpret_cast<uint32_t*>(block.shared.data()),
                     poison);
  if (run.watch != nullptr) block.shadow.ignore_order();
  auto* own_words = reinterpret_cast<uint32_t*>(block.local.data());
  std::fill(own_words, own_words + block.local.size() / 4, poison);
  std::fill(block.local_is_written.begin(), block.local_is_written.end(), 0);
  for (Warp& w : block.warps) start(w);
}

void fill_specials_of(Block& block) {
  for (Warp& w : block.warps) fill_specials(w, true);
}

}  // namespace ptx
