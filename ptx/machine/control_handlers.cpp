// Branches, predicates and barriers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/decode/calls/flatten.h"
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

// Nobody else can wait until bulk copies of a thread have read shared memory, which another block
// gets when this one has ended. False after a finding.
bool has_waited_for_copies(const Op* op, Warp& w) {
  for (u32 left = w.block->held.empty() ? 0 : w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto found = w.block->held.find(w.index * warp_size + lane);
    if (found == w.block->held.end()) continue;
    const Block::Held& held = found->second;
    const auto reads = [](const Block::Held::Pieces& pieces) { return !pieces.read.empty(); };
    const auto group = std::find_if(held.groups.begin(), held.groups.end(), reads);
    if (group == held.groups.end() && !reads(held.open)) continue;
    const auto& pieces = group == held.groups.end() ? held.open : *group;
    report(w, op, Fault::data_race,
           fmt::format("{} ends, and its bulk copy may not have read {} yet, which another block "
                       "may write to then: a wait for the copy is missing "
                       "(cp.async.bulk.wait_group.read)",
                       thread_text(w, lane), place_in_shared_memory(w, pieces.read[0].first)));
    return false;
  }
  return true;
}

const Op* leave(const Op* op, Warp& w) {
  if (!has_waited_for_copies(op, w)) return nullptr;
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
// mode 0: levels of functions that call themselves; 1: memory of alloca.
const Op* lack(const Op* op, Warp& w) {
  const std::string who = thread_text(w, std::countr_zero(w.mask));
  report(w, op, Fault::unsupported,
         op->mode == 0
             ? fmt::format("{} is {} calls deep in functions that call themselves, and the machine "
                           "follows no more; a loop with a stack of its own would be",
                           who, most_levels)
             : fmt::format("{} has taken more than {} bytes by alloca, and the machine has no more",
                           who, most_allocated));
  return nullptr;
}
// a: the bytes of a thread's stack; bits: those of them that ptxas knows of, and sees to where they
// alone are more than the limit.
const Op* look_at_stack(const Op* op, Warp& w) {
  const u64 limit = w.block->run->launch.stack_of_thread;
  const u64 room = op->bits > limit ? op->bits + limit : limit;
  const u64* const bytes = w.slot<u64>(op->a);
  for (u32 left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (bytes[lane] <= room) continue;
    report(w, op, Fault::bad_address,
           fmt::format("{} has {} bytes or more of arrays on its stack here, and a stack has {} "
                       "bytes: cudaDeviceSetLimit(cudaLimitStackSize, ...) before the launch gives "
                       "more",
                       thread_text(w, lane), bytes[lane], limit));
    return nullptr;
  }
  return op + 1;
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

const Op* nothing(const Op* op, Warp&) { return op + 1; }

}  // namespace

void add_control_handlers(Handlers& to) {
  to["guarded"] = {guarded, ""};
  to["bra"] = {branch, ""};
  to["brx"] = {branch_by_index, ""};
  to["join"] = {join, ""};
  to["ret"] = {leave, ""};
  to["trap"] = {trap, ""};
  to["lacks"] = {lack, ""};
  to["stack"] = {look_at_stack, ""};
  to["assert"] = {fail_assertion, ""};
  to["barrier"] = {barrier, ""};
  to["nothing"] = {nothing, ""};
  to["predicate"] = {predicate_logic, ""};
  to["selp.b32"] = {select<u32>, "wwwp"};
  to["selp.b64"] = {select<u64>, "xxxp"};
  add_selections<u32>(to, {"b16", "u16", "s16", "b32", "u32", "s32", "f32"});
  add_selections<u64>(to, {"b64", "u64", "s64", "f64"});
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
    add_eight_bit_float_handlers(h);
    add_barrier_vote_handlers(h);
    add_copy_handlers(h);
    add_mbarrier_handlers(h);
    add_bulk_handlers(h);
    add_tensor_copy_handlers(h);
    add_texture_handlers(h);
    add_print_handlers(h);
    add_heap_handlers(h);
    add_waiting_handlers(h);
    add_multiply_handlers(h);
    add_matrix_handlers(h);
    add_warpgroup_handlers(h);
    add_product_register_handlers(h);
    add_group_multiply_handlers(h);
    add_load_handlers(h);
    add_memory_handlers(h);
    add_wide_atomic_handlers(h);
    add_cluster_barrier_handlers(h);
    add_shared_address_handlers(h);
    add_cluster_copy_handlers(h);
    add_control_handlers(h);
    add_tile_handlers(h);
    for (auto& [handler, handling] : h) handling.follows = following_of(handler);
    return h;
  }();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace ptx
