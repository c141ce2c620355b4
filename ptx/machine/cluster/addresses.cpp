// Addresses of shared memory: generic ones, a block's own, and those of its cluster.
#include <fmt/format.h>

#include <bit>

#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 base_of(const Block& block) { return reinterpret_cast<u64>(block.shared.data()); }

// A generic address that no block has: of a rank that the cluster lacks. Nobody may go there.
constexpr u64 no_rank = u64{0xc1} << 56;

bool is_in_cluster(const Block& block) {
  return block.in_cluster.all != nullptr && block.in_cluster.all->size() > 1;
}
u64 in_cluster(const Block& block, const Block& of, u64 at) {
  return &block == &of ? at : u64{of.in_cluster.rank + 1} << rank_shift | at;
}

// mode 0: to generic; 1: from it.
u64 converted(const Block& block, u64 a, bool from) {
  if (from) {
    const InPeer peer = peer_of(block, a);
    return peer.block == nullptr ? a - base_of(block) : in_cluster(block, *peer.block, peer.at);
  }
  const u64 rank = a >> rank_shift;
  const auto& blocks = block.in_cluster.all->blocks;
  const bool is_of_own = rank == 0 || rank > blocks.size();
  return is_of_own ? a + base_of(block)
                   : base_of(*blocks[rank - 1]) + (a & ((u64{1} << rank_shift) - 1));
}
const Op* convert_shared_address(const Op* op, Warp& w) {
  const Block& block = *w.block;
  const u64 base = base_of(block);
  const u64* a = w.slot<u64>(op->a);
  const bool from = op->mode == 1;
  if (is_in_cluster(block))
    return for_each_lane<u64>(op, w, [&](int i) { return converted(block, a[i], from); });
  return for_each_lane<u64>(op, w, [=](int i) { return from ? a[i] - base : a[i] + base; });
}
const Op* convert_local_address(const Op* op, Warp& w) {
  const u64 bytes = w.block->local_bytes;
  const u64 base =
      reinterpret_cast<u64>(w.block->local.data()) + static_cast<u64>(w.index) * warp_size * bytes;
  const u64* a = w.slot<u64>(op->a);
  const bool from = op->mode == 1;
  return for_each_lane<u64>(op, w, [=](int i) {
    const u64 mine = base + static_cast<u64>(i) * bytes;
    return from ? a[i] - mine : a[i] + mine;
  });
}

// d: the predicate. mode: 0 global, 1 shared, 2 local, 3 constant, 4 shared of the cluster.
const Op* is_in_space(const Op* op, Warp& w) {
  const Block& block = *w.block;
  const u64 local = reinterpret_cast<u64>(block.local.data());
  const u64* a = w.slot<u64>(op->a);
  u32 yes = 0;
  for (int i = 0; i < warp_size; ++i) {
    const bool in_shared = a[i] - base_of(block) < block.run->shared_bytes;
    const bool in_local = a[i] - local < block.local.size();
    const bool in_any = in_shared || peer_of(block, a[i]).block != nullptr;
    const bool in = op->mode == 1   ? in_shared
                    : op->mode == 2 ? in_local
                    : op->mode == 4 ? in_any
                                    : op->mode == 0 && !in_any && !in_local;
    yes |= u32{in} << i;
  }
  w.predicates[op->d] = (w.predicates[op->d] & ~w.mask) | (yes & w.mask);
  return op + 1;
}

// Of an address of a block's shared memory, the block and the place; null: it is no such address.
InPeer place_of(const Block& block, u64 a, bool is_generic) {
  auto& own = const_cast<Block&>(block);
  if (is_generic) {
    const u64 at = a - base_of(block);
    return at < block.run->shared_bytes ? InPeer{&own, at} : peer_of(block, a);
  }
  const u64 rank = a >> rank_shift, at = a & ((u64{1} << rank_shift) - 1);
  if (rank == 0) return {&own, at};
  const Cluster* const all = block.in_cluster.all;
  if (all == nullptr) return {rank == 1 ? &own : nullptr, at};
  return {rank <= all->size() ? all->blocks[rank - 1] : nullptr, at};
}

// The same place in another block. a: an address, b: its rank. mode 1: generic.
template <class T>
const Op* map_address(const Op* op, Warp& w) {
  const Block& block = *w.block;
  const bool is_generic = op->mode == 1;
  const Cluster* const all = block.in_cluster.all;
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const u32 rank = w.slot<u32>(op->b)[lane];
    const InPeer from = place_of(block, w.slot<T>(op->a)[lane], is_generic);
    if (from.block == nullptr) {
      report(w, op, Fault::bad_address,
             fmt::format("{} maps an address to another block that is not of shared memory",
                         thread_text(w, lane)));
      return nullptr;
    }
    const u32 ranks = all == nullptr ? 1 : all->size();
    const Block& to = rank >= ranks || all == nullptr ? block : *all->blocks[rank];
    const u64 of_cluster = u64{rank + 1} << rank_shift | from.at;
    u64 mapped = is_generic ? base_of(to) + from.at : in_cluster(block, to, from.at);
    if (rank >= ranks) mapped = is_generic ? no_rank | of_cluster : of_cluster;
    w.slot<T>(op->d)[lane] = static_cast<T>(mapped);
  }
  return op + 1;
}

template <class T>
const Op* rank_of_address(const Op* op, Warp& w) {
  const Block& block = *w.block;
  const T* a = w.slot<T>(op->a);
  return for_each_lane<u32>(op, w, [&](int i) {
    const InPeer of = place_of(block, a[i], op->mode == 1);
    return of.block == nullptr ? ~0u : of.block->in_cluster.rank;
  });
}

}  // namespace

bool is_of_no_rank(const Block&, u64 address) { return address >> 56 == no_rank >> 56; }

void add_shared_address_handlers(Handlers& to) {
  to["cvta.shared"] = {convert_shared_address, "xx"};
  to["cvta.local"] = {convert_local_address, "xx"};
  to["isspacep"] = {is_in_space, "px"};
  to["mapa.u32"] = {map_address<u32>, "www"};
  to["mapa.u64"] = {map_address<u64>, "xxw"};
  to["getctarank.u32"] = {rank_of_address<u32>, "ww"};
  to["getctarank.u64"] = {rank_of_address<u64>, "wx"};
}

}  // namespace ptx
