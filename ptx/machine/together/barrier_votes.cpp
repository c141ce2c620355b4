// bar.red: threads that meet at a barrier count for how many a predicate holds.
#include <bit>

#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"

namespace ptx {
namespace {

using std::uint32_t;

Block::Barrier* barrier_of(const Op* op, Warp& w) {
  const uint32_t number = w.slot<uint32_t>(op->a)[std::countr_zero(w.mask)];
  return number < 16 ? &w.block->barriers[number] : nullptr;
}

// a: the barrier, b: threads or -1, c: the predicate; flags bit 12: negated.
const Op* vote_at_barrier(const Op* op, Warp& w) {
  const uint32_t said = w.predicates[op->c] ^ ((op->flags & 1 << 12) != 0 ? all_lanes : 0);
  if (Block::Barrier* barrier = barrier_of(op, w); barrier != nullptr)
    barrier->yes += std::popcount(said & w.mask);
  const int lane = std::countr_zero(w.mask);
  const int number = static_cast<int>(w.slot<uint32_t>(op->a)[lane]);
  const int threads = op->b < 0 ? 0 : static_cast<int>(w.slot<uint32_t>(op->b)[lane]);
  return arrive(w, op, number, threads, true);
}

// Behind it. d: the result. mode 0: how many, 1: whether all, 2: whether any.
const Op* count_votes(const Op* op, Warp& w) {
  const Block::Barrier& barrier = *barrier_of(op, w);
  const auto yes = static_cast<uint32_t>(barrier.last_yes);
  if (op->mode == 0) return for_each_lane<uint32_t>(op, w, [=](int) { return yes; });
  const bool holds = op->mode == 1 ? barrier.last_yes == barrier.last_arrived : yes > 0;
  w.predicates[op->d] = (w.predicates[op->d] & ~w.mask) | (holds ? w.mask : 0);
  return op + 1;
}

}  // namespace

void add_barrier_vote_handlers(Handlers& to) {
  to["barrier.vote"] = {vote_at_barrier, ""};
  to["barrier.votes"] = {count_votes, ""};
}

}  // namespace ptx
