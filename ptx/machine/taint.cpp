#include "ptx/machine/taint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "ptx/machine/access.h"
#include "ptx/machine/bits/kept.h"
#include "ptx/machine/bits/results.h"
#include "ptx/machine/handlers.h"

namespace ptx {
namespace {

using std::uint32_t;

// What it takes to follow an operation, and what more where some of its operands are unwritten, in
// the time of a usual one.
constexpr std::uint64_t time_to_follow = 1, time_of_tainted = 20;

// What an operation goes by: of the lanes of `tainted`, where their values come from.
struct Blame {
  uint32_t tainted = 0;
  std::vector<Origin> from;  // of each lane; empty if none was read

  void add(uint32_t lanes, const std::vector<Origin>& origins, int n) {
    const uint32_t more = lanes & ~tainted;
    tainted |= more;
    if (more == 0 || origins.empty()) return;
    from.resize(warp_size);
    const Origin* const origin = &origins[static_cast<std::size_t>(n) * warp_size];
    for (int lane = 0; lane < warp_size; ++lane)
      if ((more >> lane & 1) != 0) from[static_cast<std::size_t>(lane)] = origin[lane];
  }
  void add_slot(const Warp& w, int slot, uint32_t among) {
    add(w.taint[static_cast<std::size_t>(slot)] & among, w.origins, slot);
  }
  void add_predicate(const Warp& w, int p, uint32_t among) {
    add(w.predicate_taint[static_cast<std::size_t>(p)] & among, w.predicate_origins, p);
  }
  // Of a lane that goes by what another one holds: some lane's.
  Origin of(int lane) const {
    if (from.empty()) return {};
    const bool is_own = (tainted >> lane & 1) != 0;
    return from[static_cast<std::size_t>(is_own ? lane : std::countr_zero(tainted))];
  }
};

// From where it was used back to where nobody wrote it: through shared memory, more than one place.
std::vector<Origin> way_of(const Warp& w, Origin from) {
  constexpr std::size_t longest = 4;
  std::vector<Origin> way = {from};
  while (way.back().in_shared && way.size() < longest) {
    const auto before = w.block->unwritten_from.find(way.back().address / 4);
    if (before == w.block->unwritten_from.end()) break;
    way.push_back(before->second.from);
  }
  return way;
}

std::string text_of(const Warp& w, const std::vector<Origin>& way) {
  std::string text;
  for (const Origin& from : way) {
    if (!text.empty()) text += ", which holds ";
    if (from.op == Origin::nowhere) return text + "a variable of its own, which was never set";
    text += fmt::format("{}, read at {}",
                        from.in_own_array ? "an element of an array of its own"
                        : from.in_shared  ? place_in_shared_memory(w, from.address)
                                          : place_of_address(w, from.address),
                        place_of(w.block->run->kernel, w.code[from.op]));
  }
  return text;
}

// Whether the launch goes on.
bool accuse(Warp& w, const Op* op, const Blame& blame, const char* does, bool leaves = false) {
  if (w.block->run->unset) return true;
  const int lane = std::countr_zero(blame.tainted);
  const std::vector<Origin> way = way_of(w, blame.of(lane));
  std::string to;
  if (leaves) {
    std::uint64_t at[warp_size];
    addresses_of(op, w, at);
    to = ", to " + place_of_address(w, at[lane]);
  }
  Details details{.sites = {site(w, "uses", op)}};
  for (const Origin& from : way) {
    if (from.op == Origin::nowhere) break;
    details.address = from.in_shared || from.in_own_array ? 0 : from.address;
    details.sites.push_back(site(w, "read", w.code + from.op));
  }
  report(w, op, Fault::uninitialised,
         fmt::format("{} {} a value that nobody wrote: {}{} ({})", thread_text(w, lane), does,
                     text_of(w, way), to, place_of(w.block->run->kernel, *op)),
         std::move(details));
  return !w.block->run->failed();
}

Blame blame_of_operands(const Op* op, Warp& w, const Uses& uses, uint32_t among) {
  Blame blame;
  for (const int s : uses.reads) blame.add_slot(w, s, among);
  for (const int p : uses.predicates_read) blame.add_predicate(w, p, among);
  const bool is_shuffle = uses.follows.across && uses.reads.size() == 2;
  if (!is_shuffle || blame.from.empty()) return blame;
  int from[warp_size];
  lanes_shuffled_from(op, w, from);
  const Blame before = blame;
  for (int lane = 0; lane < warp_size; ++lane) {
    blame.from[static_cast<std::size_t>(lane)] = before.of(from[lane]);
    blame.tainted |= (before.tainted >> from[lane] & 1) << lane;
  }
  return blame;
}

// Of values that are stored, the lanes of which any bit that is stored is unwritten.
Blame blame_of_stored(const Op* op, const Warp& w, const Uses& uses, uint32_t active) {
  const int unused = 64 - 8 * std::min<int>(op->part_bytes, 8);
  Blame blame;
  for (const int s : uses.reads) {
    uint32_t lanes = 0;
    for (uint32_t left = w.taint[static_cast<std::size_t>(s)] & active; left != 0;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      lanes |= uint32_t{unwritten_of(w, s, lane) << unused != 0} << lane;
    }
    blame.add_slot(w, s, lanes);
  }
  return blame;
}

// Of those lanes the ones whose store reaches memory that others see.
uint32_t that_leave_the_block(Warp& w, const Op* op, uint32_t lanes) {
  std::uint64_t at[warp_size];
  addresses_of(op, w, at);
  for (uint32_t left = lanes; left != 0; left &= left - 1)
    if (const int lane = std::countr_zero(left); is_in_block(w, lane, at[lane]))
      lanes &= ~(1u << lane);
  return lanes;
}

// Atomic operations leave written values, and what they find was looked at.
bool follow_store(const Op* op, Warp& w, const Uses& uses, uint32_t active) {
  for (const int s : uses.writes) w.taint[static_cast<std::size_t>(s)] &= ~active;
  const bool is_wide = (op->flags & address_is_wide) != 0;
  const bool to_global = is_wide || w.block->run->met(op).region != nullptr;
  Blame blame = blame_of_stored(op, w, uses, active);
  if (blame.tainted == 0 || !to_global || w.block->run->settings.follows_part) return true;
  blame.tainted = that_leave_the_block(w, op, blame.tainted);
  return blame.tainted == 0 || accuse(w, op, blame, "leaves in memory", true);
}

// Of what lanes do together. What has letters for its operands names no partners: all are.
bool are_all_here(const Op* op, const Warp& w, const Uses& uses) {
  const uint32_t needed = uses.operands[0] != 0 ? all_lanes : partners(op, w);
  return (needed & w.alive & ~w.mask) == 0;
}

void remember(std::vector<Origin>& origins, int n, uint32_t lanes, const Blame& blame) {
  if (origins.empty()) return;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    origins[static_cast<std::size_t>(n * warp_size + lane)] = blame.of(lane);
  }
}

void follow_results(const Op* op, Warp& w, const Uses& uses, uint32_t active) {
  if (uses.follows.across && !are_all_here(op, w, uses)) return;  // it runs once they are
  const Blame blame = blame_of_operands(op, w, uses, uses.follows.across ? w.mask : active);
  if (blame.tainted == 0) {
    for (const int s : uses.writes) w.taint[static_cast<std::size_t>(s)] &= ~active;
    for (const int p : uses.predicates_written)
      w.predicate_taint[static_cast<std::size_t>(p)] &= ~active;
    return;
  }
  w.block->run->extra_time += time_of_tainted;
  const ResultBits results = results_of(op, w, uses, active, blame.tainted);
  uint32_t lanes = 0;
  for (int lane = 0; lane < warp_size; ++lane) lanes |= uint32_t{results.of[lane] != 0} << lane;
  for (const int s : uses.writes) {
    for (uint32_t left = active; left != 0; left &= left - 1)
      set_unwritten(w, s, std::countr_zero(left), results.of[std::countr_zero(left)]);
    remember(w.origins, s, lanes & active, blame);
  }
  const uint32_t decided = uses.writes.empty() ? lanes : results.whole;
  for (const int p : uses.predicates_written) {
    uint32_t& taint = w.predicate_taint[static_cast<std::size_t>(p)];
    taint = (taint & ~active) | (decided & active);
    remember(w.predicate_origins, p, decided & active, blame);
  }
}

void make_room_for_origins(Warp& w) {
  if (!w.origins.empty()) return;
  w.origins.resize(w.taint.size() * warp_size);
  w.predicate_origins.resize(w.predicate_taint.size() * warp_size);
}

}  // namespace

void mark_unwritten(Warp& w, int slot, int lane, std::uint64_t bits) {
  if (bits != 0) {
    make_room_for_unwritten(w);
    make_room_for_origins(w);
    w.has_taint = true;
    w.origins[static_cast<std::size_t>(slot * warp_size + lane)] = w.last_unwritten;
  }
  set_unwritten(w, slot, lane, bits);
}

bool changes_unwritten(const Op* op, Warp& w, int lane) {
  Blame blame{.tainted = 1u << lane, .from = std::vector<Origin>(warp_size)};
  blame.from[static_cast<std::size_t>(lane)] = w.last_unwritten;
  return accuse(w, op, blame, "changes in place");
}

bool leaves_what_was_written(const Op* op, Warp& w, int lane, int slot) {
  if (!w.has_taint || w.block->run->settings.follows_part) return true;
  const Blame blame = blame_of_stored(op, w, {.reads = {slot}}, 1u << lane);
  return blame.tainted == 0 || accuse(w, op, blame, "leaves in memory");
}

bool follow_taint(const Op* op, Warp& w) {
  Run& run = *w.block->run;
  run.extra_time += time_to_follow;
  const Uses& uses = run.kernel.uses[static_cast<std::size_t>(op - w.code)];
  uint32_t active = w.mask;
  if (op->guard >= 0) {
    const uint32_t guard = w.predicates[op->guard];
    Blame blame;
    blame.add_predicate(w, op->guard, active);
    const bool counts = blame.tainted != 0 && (op->flags & (decides | stores)) != 0;
    const char* const does =
        (op->flags & decides) != 0 ? "decides where to go on by" : "decides whether to write by";
    if (counts && !accuse(w, op, blame, does)) return false;
    active &= op->guard_negated ? ~guard : guard;
  }
  if (uses.address >= 0) {
    Blame blame;
    blame.add_slot(w, uses.address, active);
    for (const int s : uses.places) blame.add_slot(w, s, active);
    if (blame.tainted != 0 && !accuse(w, op, blame, "takes an address from")) return false;
  }
  if ((op->flags & decides) != 0) {
    Blame blame;
    for (const int s : uses.reads) blame.add_slot(w, s, active);
    return blame.tainted == 0 || accuse(w, op, blame, "decides where to go on by");
  }
  if ((op->flags & (loads | tells_taint)) != 0) return true;  // it says what its results are
  if ((op->flags & stores) != 0) return follow_store(op, w, uses, active);
  follow_results(op, w, uses, active);
  return true;
}

}  // namespace ptx
