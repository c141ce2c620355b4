// What the lanes of a warp do together: all of them, or tiles that name themselves by a mask.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/access.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

u32 mask_of(const Op* op, const Warp& w, int lane) {
  return op->b < 0 ? static_cast<u32>(op->e) : w.slot<u32>(op->b)[lane];
}
// A lane that its own mask does not name may not take part.
void look_for_unnamed_lanes(const Op* op, Warp& w) {
  if (op->b < 0 && static_cast<u32>(op->e) == all_lanes) return;
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const u32 mask = mask_of(op, w, lane);
    if ((mask >> lane & 1) != 0) continue;
    return report(
        w, op, Fault::warp_not_reached,
        fmt::format("{} takes part in a warp-wide operation ({}) whose mask {:#010x} does "
                    "not name it",
                    thread_text(w, lane), place_of(w.block->run->kernel, *op), mask),
        {.sites = {site(w, "takes part", op)}});
  }
}
// Calls f(mask, lanes) for all lanes here that name the same mask, as tiles of a warp do: these
// work together, and apart from the others.
template <class F>
void for_each_tile(const Op* op, const Warp& w, F f) {
  for (u32 left = w.mask; left != 0;) {
    const u32 mask = mask_of(op, w, std::countr_zero(left));
    u32 lanes = left;
    for (u32 i = op->b < 0 ? 0 : left; i != 0; i &= i - 1)
      if (mask_of(op, w, std::countr_zero(i)) != mask) lanes &= ~(i & -i);
    left &= ~lanes;
    f(mask, lanes);
  }
}
// Whether there are tiles whose partners are all here; the lanes of others wait for theirs.
bool are_together(const Op* op, Warp& w, bool anywhere = false) {
  look_for_unnamed_lanes(op, w);
  u32 complete = 0;
  for_each_tile(op, w, [&](u32 mask, u32 lanes) {
    if (is_complete(w, mask, lanes))
      complete |= lanes;
    else
      wait_for_lanes(w, op, mask, lanes, anywhere);
  });
  if (complete == w.alive) w.has_diverged = false;
  w.set_mask(complete);
  return complete != 0;
}
const Op* sync_warp(const Op* op, Warp& w) {
  if (!are_together(op, w, true)) return next_group(w);
  for_each_tile(op, w, [&](u32 mask, u32) { synchronise(w, mask); });
  return op + 1;
}
enum class Shuffle : std::uint8_t { up, down, bfly, idx };
// d, a: values; c, flags: the lane or distance; parts: the predicate + 1; bits: where the clamp is.
const Op* shuffle(const Op* op, Warp& w) {
  if (!are_together(op, w)) return next_group(w);
  const u32* lane_by = w.slot<u32>(op->c);
  const u32* clamps = w.slot<u32>(static_cast<int>(op->bits));
  u32 in_range = 0;
  int from[warp_size];
  for (int i = 0; i < warp_size; ++i) {
    const int b = static_cast<int>(lane_by[i] & 31), clamp = static_cast<int>(clamps[i] & 31);
    const int segment = static_cast<int>(clamps[i] >> 8 & 31);
    const int most = (i & segment) | (clamp & ~segment), least = i & segment;
    int j = i;
    bool ok = false;
    switch (static_cast<Shuffle>(op->mode)) {
      case Shuffle::up:
        j = i - b;
        ok = j >= most;
        break;
      case Shuffle::down:
        j = i + b;
        ok = j <= most;
        break;
      case Shuffle::bfly:
        j = i ^ b;
        ok = j <= most;
        break;
      case Shuffle::idx:
        j = least | (b & ~segment);
        ok = j <= most;
        break;
    }
    from[i] = ok ? j : i;
    in_range |= u32{ok} << i;
  }
  u32 given[warp_size];
  std::copy_n(w.slot<u32>(op->a), warp_size, given);
  u32* d = w.slot<u32>(op->d);
  for_each_tile(op, w, [&](u32, u32 lanes) {
    // A lane that takes no part gives nothing that anybody may rely on.
    for (int i = 0; i < warp_size; ++i)
      if ((lanes >> i & 1) != 0) d[i] = (lanes >> from[i] & 1) != 0 ? given[from[i]] : 0x7f85eedd;
  });
  if (op->parts > 1) set_predicate(w, op->parts - 2, in_range);
  return op + 1;
}
enum class Vote : std::uint8_t { all, any, uni, ballot };
const Op* vote(const Op* op, Warp& w) {
  if (!are_together(op, w)) return next_group(w);
  const u32 yes = w.predicates[op->a] ^ ((op->flags & 1 << 12) != 0 ? all_lanes : 0);
  u32 true_for = 0, ballot[warp_size];
  for_each_tile(op, w, [&](u32, u32 lanes) {
    const u32 said = yes & lanes;
    bool is_true = said == lanes;
    switch (static_cast<Vote>(op->mode)) {
      case Vote::all: break;
      case Vote::any: is_true = said != 0; break;
      case Vote::uni: is_true |= said == 0; break;
      case Vote::ballot:
        for (int i = 0; i < warp_size; ++i)
          if ((lanes >> i & 1) != 0) ballot[i] = said;
    }
    true_for |= is_true ? lanes : 0;
  });
  if (static_cast<Vote>(op->mode) == Vote::ballot)
    return for_each_lane<u32>(op, w, [&](int i) { return ballot[i]; });
  set_predicate(w, op->d, true_for);
  return op + 1;
}
// Nothing but a synchronisation makes lanes meet again that have gone different ways.
const Op* active_mask(const Op* op, Warp& w) {
  if (w.has_diverged) leave_some_behind(w, op, 2);
  const u32 mask = w.mask;
  return for_each_lane<u32>(op, w, [=](int) { return mask; });
}
// match: mode 0 any, 1 all; parts: the predicate + 2.
template <class T>
const Op* match(const Op* op, Warp& w) {
  if (!are_together(op, w)) return next_group(w);
  const T* a = w.slot<T>(op->a);
  u32 same[warp_size] = {}, all = 0;
  for_each_tile(op, w, [&](u32, u32 lanes) {
    for (int i = 0; i < warp_size; ++i)
      for (int j = 0; (lanes >> i & 1) != 0 && j < warp_size; ++j)
        same[i] |= u32{(lanes >> j & 1) != 0 && a[i] == a[j]} << j;
    if (same[std::countr_zero(lanes)] == lanes) all |= lanes;
  });
  if (op->parts > 1) set_predicate(w, op->parts - 2, all);
  const bool any_mode = op->mode == 0;
  return for_each_lane<u32>(op, w,
                            [&](int i) { return any_mode || (all >> i & 1) != 0 ? same[i] : 0u; });
}
enum class Reduction : std::uint8_t { add, min, max, band, bor, bxor };
template <class T>
T reduced(Reduction how, const T* values, u32 lanes) {
  T sum = values[std::countr_zero(lanes)];
  for (u32 left = lanes & (lanes - 1); left != 0; left &= left - 1) {
    const T v = values[std::countr_zero(left)];
    switch (how) {
      case Reduction::add: sum = static_cast<T>(static_cast<u32>(sum) + static_cast<u32>(v)); break;
      case Reduction::min: sum = std::min(sum, v); break;
      case Reduction::max: sum = std::max(sum, v); break;
      case Reduction::band: sum &= v; break;
      case Reduction::bor: sum |= v; break;
      case Reduction::bxor: sum ^= v; break;
    }
  }
  return sum;
}
template <class T>
const Op* reduce(const Op* op, Warp& w) {
  if (!are_together(op, w)) return next_group(w);
  T sums[warp_size];
  for_each_tile(op, w, [&](u32, u32 lanes) {
    const T sum = reduced(static_cast<Reduction>(op->mode), w.slot<T>(op->a), lanes);
    for (u32 left = lanes; left != 0; left &= left - 1) sums[std::countr_zero(left)] = sum;
  });
  return for_each_lane<T>(op, w, [&](int i) { return sums[i]; });
}
const Op* elect(const Op* op, Warp& w) {  // d: the leader's number or -1; parts: the predicate + 2
  if (!are_together(op, w)) return next_group(w);
  u32 leads = 0, leader[warp_size];
  for_each_tile(op, w, [&](u32, u32 lanes) {
    leads |= lanes & -lanes;
    for (u32 left = lanes; left != 0; left &= left - 1)
      leader[std::countr_zero(left)] = static_cast<u32>(std::countr_zero(lanes));
  });
  if (op->parts > 1) set_predicate(w, op->parts - 2, leads);
  return op->d < 0 ? op + 1 : for_each_lane<u32>(op, w, [&](int i) { return leader[i]; });
}

}  // namespace

u32 partners(const Op* op, const Warp& w) {
  return mask_of(op, w, std::countr_zero(w.mask)) & w.alive;
}

void add_tile_handlers(Handlers& to) {
  to["bar.warp.sync"] = {sync_warp, ""};
  to["shfl"] = {shuffle, ""};
  to["vote"] = {vote, ""};
  to["activemask"] = {active_mask, "w"};
  to["match.b32"] = {match<u32>, ""};
  to["match.b64"] = {match<u64>, ""};
  to["redux.u32"] = {reduce<u32>, ""};
  to["redux.s32"] = {reduce<s32>, ""};
  to["elect"] = {elect, ""};
}

}  // namespace ptx
