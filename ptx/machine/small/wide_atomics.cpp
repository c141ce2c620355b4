// Atomic operations on 128 bits: to exchange and, mode 9, to compare first. What they give, take
// and compare with are pairs of 64 bits: d, b and c say where in the lists.
#include <bit>
#include <cstring>

#include "ptx/machine/access.h"
#include "ptx/machine/cluster/cluster.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/taint.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Pair {
  u64 lower = 0, upper = 0;
  bool operator==(const Pair&) const = default;
};

Pair pair_of(Warp& w, int list, int lane) {
  return {w.slot<u64>(w.lists[list])[lane], w.slot<u64>(w.lists[list + 1])[lane]};
}

template <Reach reach>
const Op* wide_atomic(const Op* op, Warp& w) {
  constexpr u32 cas = 9;
  u64 at[warp_size];
  addresses_of(op, w, at);
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    u32 unwritten = 0;
    std::byte* to = reach_atomically(w,
                                     {.op = op,
                                      .lane = lane,
                                      .address = at[lane],
                                      .bytes = sizeof(Pair),
                                      .reads_too = op->mode == cas},
                                     reach, Lock::may_take_or_free, unwritten);
    if (to == nullptr || (unwritten != 0 && !changes_unwritten(op, w, lane))) return nullptr;
    Pair old, now = pair_of(w, op->b, lane);
    std::memcpy(&old, to, sizeof old);
    if (op->mode == cas) now = old == now ? pair_of(w, op->c, lane) : old;
    if (std::memcmp(to, &now, sizeof now) != 0) ++w.block->run->changes;
    std::memcpy(to, &now, sizeof now);
    if (op->d < 0) continue;
    w.slot<u64>(w.lists[op->d])[lane] = old.lower;
    w.slot<u64>(w.lists[op->d + 1])[lane] = old.upper;
  }
  return op + 1;
}

}  // namespace

void add_wide_atomic_handlers(Handlers& to) {
  to["atom.global.b128"] = {wide_atomic<reach_global>, ""};
  to["atom.shared.b128"] = {wide_atomic<reach_shared>, ""};
  to["atom.shared::cluster.b128"] = {wide_atomic<reach_cluster>, ""};
  to["atom.b128"] = {wide_atomic<reach_generic>, ""};
}

}  // namespace ptx
