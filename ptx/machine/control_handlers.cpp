// Branches, predicates, barriers, and what the lanes of a warp do together.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/access.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"
#include "ptx/machine/reals.h"

namespace ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

u32 guarded_lanes(const Op* op, const Warp& w) {
  if (op->guard < 0) return w.mask;
  const u32 guard = w.predicates[op->guard];
  return (op->guard_negated ? ~guard : guard) & w.mask;
}

// Runs an operation for the lanes that its guard lets through.
const Op* guarded(const Op* op, Warp& w) {
  const u32 on = guarded_lanes(op, w), all = w.mask;
  if (on == 0) return op + 1;
  if (on == all) return op->behind_guard(op, w);
  w.set_mask(on);
  const Op* next = op->behind_guard(op, w);
  w.set_mask(all);
  return next;
}

const Op* split(Warp& w, u32 away, const Op* to, const Op* next) {
  w.has_diverged = true;
  w.others.push_back({.at = to, .mask = away});
  w.set_mask(w.mask & ~away);
  return go_on_at(w, next);
}
const Op* branch(const Op* op, Warp& w) {
  const u32 taken = guarded_lanes(op, w);
  const Op* to = w.code + op->jump;
  if (taken == w.mask) return w.others.empty() ? to : go_on_at(w, to);
  if (taken == 0) return op + 1;
  return split(w, taken, to, op + 1);
}
// The lanes choose from a list of places, by a.
const Op* branch_by_index(const Op* op, Warp& w) {
  const u32* index = w.slot<u32>(op->a);
  while (w.mask != 0) {
    const int lane = std::countr_zero(w.mask);
    const u32 chosen = index[lane];
    u32 same = 0;
    for (int i = 0; i < warp_size; ++i) same |= u32{index[i] == chosen} << i;
    same &= w.mask;
    if (chosen >= static_cast<u32>(op->parts)) {
      report(w, op, Fault::trap,
             fmt::format("{} jumps to entry {} of {}", thread_text(w, lane), chosen, op->parts));
      return nullptr;
    }
    w.others.push_back({.at = w.code + w.lists[op->d + static_cast<int>(chosen)], .mask = same});
    w.has_diverged |= same != w.mask;
    w.set_mask(w.mask & ~same);
  }
  return next_group(w);
}
// Stands before every place that is jumped to: groups meet here.
const Op* join(const Op* op, Warp& w) { return w.others.empty() ? op + 1 : go_on_at(w, op + 1); }

const Op* leave(const Op*, Warp& w) {
  leave_block(w, w.mask);
  if (w.others.size() == 1) w.has_diverged = false;  // all that are left are together
  return next_group(w);
}
const Op* trap(const Op* op, Warp& w) {
  report(w, op, Fault::trap,
         fmt::format("{} {}", thread_text(w, std::countr_zero(w.mask)),
                     op->mode == 1 ? "calls an address that is no function" : "executes a trap"));
  return nullptr;
}
// a: the message, b: the file, c: the line.
const Op* fail_assertion(const Op* op, Warp& w) {
  const int lane = std::countr_zero(w.mask);
  report(w, op, Fault::trap,
         fmt::format("{}: '{}' is not true ({}:{})", thread_text(w, lane),
                     text_at(w, w.slot<u64>(op->a)[lane]), text_at(w, w.slot<u64>(op->b)[lane]),
                     w.slot<u32>(op->c)[lane]));
  return nullptr;
}

// mode 1: it does not wait; + 2: the lanes of a warp may come from different places.
const Op* barrier(const Op* op, Warp& w) {
  const int number =
      op->a < 0 ? op->e : static_cast<int>(w.slot<u32>(op->a)[std::countr_zero(w.mask)]);
  const int threads =
      op->b < 0 ? 0 : static_cast<int>(w.slot<u32>(op->b)[std::countr_zero(w.mask)]);
  return arrive(w, op, number, threads, (op->mode & 1) == 0, (op->mode & 2) != 0);
}

// Predicates.
void set_predicate(Warp& w, int predicate, u32 lanes) {
  w.predicates[predicate] = (w.predicates[predicate] & ~w.mask) | (lanes & w.mask);
}
enum class Logic : std::uint8_t { land, lor, lxor, lnot, copy, yes, no };
// mode: Logic. flags bits 12 and 13: a or b negated. c: a predicate, or -1.
const Op* predicate_logic(const Op* op, Warp& w) {
  const u32 a = op->a < 0 ? 0 : w.predicates[op->a] ^ ((op->flags & 1 << 12) != 0 ? all_lanes : 0);
  const u32 b = op->b < 0 ? 0 : w.predicates[op->b] ^ ((op->flags & 1 << 13) != 0 ? all_lanes : 0);
  u32 d = 0;
  switch (static_cast<Logic>(op->mode)) {
    case Logic::land: d = a & b; break;
    case Logic::lor: d = a | b; break;
    case Logic::lxor: d = a ^ b; break;
    case Logic::lnot: d = ~a; break;
    case Logic::copy: d = a; break;
    case Logic::yes: d = all_lanes; break;
    case Logic::no: break;
  }
  set_predicate(w, op->d, d);
  return op + 1;
}
template <class T>
const Op* select(const Op* op, Warp& w) {
  const T *a = w.slot<T>(op->a), *b = w.slot<T>(op->b);
  const u32 chosen = w.predicates[op->c] ^ ((op->flags & 1 << 14) != 0 ? all_lanes : 0);
  u32 first[warp_size];
  for (int i = 0; i < warp_size; ++i) first[i] = chosen >> i & 1;
  return for_each_lane<T>(op, w, [&](int i) { return first[i] ? a[i] : b[i]; });
}
template <class T, class S>
const Op* select_by_sign(const Op* op, Warp& w) {  // slct
  const T *a = w.slot<T>(op->a), *b = w.slot<T>(op->b);
  const S* c = w.slot<S>(op->c);
  const bool flushes = (op->flags & flush_denormals) != 0;
  const S below = std::is_same_v<S, float> && flushes ? static_cast<S>(-0x1p-126) : S{};
  return for_each_lane<T>(
      op, w, [=](int i) { return c[i] >= 0 || (flushes && c[i] > below) ? a[i] : b[i]; });
}
template <class T>
void add_selections(Handlers& to, std::initializer_list<const char*> types) {
  static constexpr char x = slot_letter<T>;
  static const char letters[] = {x, x, x, 'w', 0};
  for (const std::string type : types) {
    to["slct." + type + ".s32"] = {select_by_sign<T, s32>, letters};
    to["slct." + type + ".f32"] = {select_by_sign<T, float>, letters};
  }
}

// Warp-wide operations.
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
// Whether all partners are here; else the group waits for them.
bool are_together(const Op* op, Warp& w) {
  look_for_unnamed_lanes(op, w);
  return are_together(w, op, partners(op, w));
}
const Op* sync_warp(const Op* op, Warp& w) {
  if (!are_together(op, w)) return next_group(w);
  w.block->shadow.tick();
  w.since_sync = w.block->shadow.now();
  return op + 1;
}
enum class Shuffle : std::uint8_t { up, down, bfly, idx };
// d, a: values; c, flags: the lane or distance; parts: the predicate + 1; bits: where the clamp is.
const Op* shuffle(const Op* op, Warp& w) {
  if (!are_together(op, w)) return next_group(w);
  const u32* lane_by = w.slot<u32>(op->c);
  const u32* clamps = w.slot<u32>(static_cast<int>(op->bits));
  const u32* a = w.slot<u32>(op->a);
  u32 taken[warp_size], in_range = 0;
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
    if (!ok) j = i;
    // A lane that takes no part gives nothing that anybody may rely on.
    taken[i] = (w.mask >> j & 1) != 0 ? a[j] : 0x7f85eedd;
    in_range |= u32{ok} << i;
  }
  u32* d = w.slot<u32>(op->d);
  for (int i = 0; i < warp_size; ++i) d[i] = (w.mask >> i & 1) != 0 ? taken[i] : d[i];
  if (op->parts > 1) set_predicate(w, op->parts - 2, in_range);
  return op + 1;
}
enum class Vote : std::uint8_t { all, any, uni, ballot };
const Op* vote(const Op* op, Warp& w) {
  if (!are_together(op, w)) return next_group(w);
  const u32 said = (w.predicates[op->a] ^ ((op->flags & 1 << 12) != 0 ? all_lanes : 0)) & w.mask;
  switch (static_cast<Vote>(op->mode)) {
    case Vote::all: set_predicate(w, op->d, said == w.mask ? all_lanes : 0); break;
    case Vote::any: set_predicate(w, op->d, said != 0 ? all_lanes : 0); break;
    case Vote::uni: set_predicate(w, op->d, said == 0 || said == w.mask ? all_lanes : 0); break;
    case Vote::ballot: return for_each_lane<u32>(op, w, [=](int) { return said; });
  }
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
  u32 same[warp_size] = {};
  for (int i = 0; i < warp_size; ++i)
    for (int j = 0; j < warp_size; ++j) same[i] |= u32{(w.mask >> j & 1) != 0 && a[i] == a[j]} << j;
  const u32 mask = w.mask;
  const bool all = same[std::countr_zero(mask)] == mask;
  if (op->parts > 1) set_predicate(w, op->parts - 2, all ? all_lanes : 0);
  const bool any_mode = op->mode == 0;
  return for_each_lane<u32>(op, w, [&](int i) { return any_mode ? same[i] : all ? mask : 0u; });
}
enum class Reduction : std::uint8_t { add, min, max, band, bor, bxor };
template <class T>
const Op* reduce(const Op* op, Warp& w) {
  if (!are_together(op, w)) return next_group(w);
  const T* a = w.slot<T>(op->a);
  bool first = true;
  T sum{};
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const T v = a[std::countr_zero(left)];
    if (first)
      sum = v;
    else
      switch (static_cast<Reduction>(op->mode)) {
        case Reduction::add:
          sum = static_cast<T>(static_cast<u32>(sum) + static_cast<u32>(v));
          break;
        case Reduction::min: sum = std::min(sum, v); break;
        case Reduction::max: sum = std::max(sum, v); break;
        case Reduction::band: sum &= v; break;
        case Reduction::bor: sum |= v; break;
        case Reduction::bxor: sum ^= v; break;
      }
    first = false;
  }
  return for_each_lane<T>(op, w, [=](int) { return sum; });
}
const Op* elect(const Op* op, Warp& w) {  // d: the leader's number or -1; parts: the predicate + 2
  if (!are_together(op, w)) return next_group(w);
  const u32 leader = static_cast<u32>(std::countr_zero(w.mask));
  if (op->parts > 1) set_predicate(w, op->parts - 2, 1u << leader);
  return op->d < 0 ? op + 1 : for_each_lane<u32>(op, w, [=](int) { return leader; });
}
const Op* nothing(const Op* op, Warp&) { return op + 1; }

}  // namespace

u32 partners(const Op* op, const Warp& w) {
  return mask_of(op, w, std::countr_zero(w.mask)) & w.alive;
}

void add_control_handlers(Handlers& to) {
  to["guarded"] = {guarded, ""};
  to["bra"] = {branch, ""};
  to["brx"] = {branch_by_index, ""};
  to["join"] = {join, ""};
  to["ret"] = {leave, ""};
  to["trap"] = {trap, ""};
  to["assert"] = {fail_assertion, ""};
  to["barrier"] = {barrier, ""};
  to["nothing"] = {nothing, ""};
  to["predicate"] = {predicate_logic, ""};
  to["selp.b32"] = {select<u32>, "wwwp"};
  to["selp.b64"] = {select<u64>, "xxxp"};
  add_selections<u32>(to, {"b16", "u16", "s16", "b32", "u32", "s32", "f32"});
  add_selections<u64>(to, {"b64", "u64", "s64", "f64"});
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

const Handling* handling_of(const std::string& name) {
  static const Handlers all = [] {
    Handlers h;
    add_integer_handlers(h);
    add_bit_handlers(h);
    add_rare_integer_handlers(h);
    add_real_handlers(h);
    add_conversion_handlers(h);
    add_half_handlers(h);
    add_barrier_vote_handlers(h);
    add_copy_handlers(h);
    add_mbarrier_handlers(h);
    add_bulk_handlers(h);
    add_tensor_copy_handlers(h);
    add_texture_handlers(h);
    add_print_handlers(h);
    add_waiting_handlers(h);
    add_multiply_handlers(h);
    add_matrix_handlers(h);
    add_warpgroup_handlers(h);
    add_product_register_handlers(h);
    add_group_multiply_handlers(h);
    add_load_handlers(h);
    add_memory_handlers(h);
    add_cluster_barrier_handlers(h);
    add_shared_address_handlers(h);
    add_cluster_copy_handlers(h);
    add_control_handlers(h);
    for (auto& [handler, handling] : h) handling.follows = following_of(handler);
    return h;
  }();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace ptx
