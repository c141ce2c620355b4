#include "ptx/machine/taint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "ptx/machine/access.h"

namespace ptx {
namespace {

using std::uint32_t;

// Slots and predicates alike.
struct Values {
  std::vector<uint32_t>& taint;
  std::vector<Origin>& origins;

  uint32_t lanes(int n) const { return taint[static_cast<std::size_t>(n)]; }
  Origin* origin(int n) const {
    return origins.empty() ? nullptr : &origins[static_cast<std::size_t>(n) * warp_size];
  }
};
Values slots_of(Warp& w) { return {w.taint, w.origins}; }
Values predicates_of(Warp& w) { return {w.predicate_taint, w.predicate_origins}; }

void make_room(Warp& w) {
  if (!w.origins.empty()) return;
  w.origins.resize(w.taint.size() * warp_size);
  w.predicate_origins.resize(w.predicate_taint.size() * warp_size);
}

// What an operation goes by: of the lanes of `tainted`, where their values come from.
struct Blame {
  uint32_t tainted = 0;
  std::vector<Origin> from;  // of each lane; empty if none was read

  void add(const Values& values, int n, uint32_t among) {
    const uint32_t more = values.lanes(n) & among & ~tainted;
    tainted |= more;
    const Origin* const origin = values.origin(n);
    if (more == 0 || origin == nullptr) return;
    from.resize(warp_size);
    for (int lane = 0; lane < warp_size; ++lane)
      if ((more >> lane & 1) != 0) from[static_cast<std::size_t>(lane)] = origin[lane];
  }
  Origin of(int lane) const {
    return from.empty() ? Origin{} : from[static_cast<std::size_t>(lane)];
  }
};

void set(const Values& values, int n, uint32_t active, const Blame& blame) {
  uint32_t& taint = values.taint[static_cast<std::size_t>(n)];
  taint = (taint & ~active) | blame.tainted;
  Origin* const origin = values.origin(n);
  if (blame.tainted == 0 || origin == nullptr) return;
  for (int lane = 0; lane < warp_size; ++lane)
    if ((blame.tainted >> lane & 1) != 0) origin[lane] = blame.of(lane);
}

// From where it was used back to where nobody wrote it: through shared memory, more than one place.
std::vector<Origin> way_of(const Warp& w, Origin from) {
  constexpr std::size_t longest = 4;
  std::vector<Origin> way = {from};
  while (way.back().in_shared && way.size() < longest) {
    const auto before = w.block->unwritten_from.find(way.back().address / 4);
    if (before == w.block->unwritten_from.end()) break;
    way.push_back(before->second);
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

// Those that hold a zero that somebody wrote.
uint32_t lanes_of_zero(const Warp& w, int slot) {
  const uint32_t* const words = w.slot<uint32_t>(slot);
  uint32_t lanes = 0;
  for (int lane = 0; lane < warp_size; ++lane) lanes |= uint32_t{words[lane] == 0} << lane;
  return lanes & ~w.taint[static_cast<std::size_t>(slot)];
}

// Of the two values, only the chosen one counts; and of a conjunction that is false without it,
// none.
Blame blame_of_result(const Op* op, Warp& w, const Uses& uses, uint32_t active) {
  Blame blame;
  if ((op->flags & selects) != 0) {
    const uint32_t chosen = w.predicates[op->c] ^ ((op->flags & 1 << 14) != 0 ? all_lanes : 0);
    blame.add(slots_of(w), op->a, chosen & active);
    blame.add(slots_of(w), op->b, ~chosen & active);
    blame.add(predicates_of(w), op->c, active);
    return blame;
  }
  if ((op->flags & masks) != 0) active &= ~(lanes_of_zero(w, op->a) | lanes_of_zero(w, op->b));
  for (const int s : uses.reads) blame.add(slots_of(w), s, active);
  for (const int p : uses.predicates_read) blame.add(predicates_of(w), p, active);
  return blame;
}

bool goes_to_own_array(Warp& w, const Op* op, uint32_t lanes) {
  const int lane = std::countr_zero(lanes);
  std::uint64_t at[warp_size];
  addresses_of(op, w, at);
  const auto thread = static_cast<std::size_t>(w.index * warp_size + lane);
  return w.block->place_in_local(thread, at[lane]) < w.block->local.size();
}

}  // namespace

void remember_origin(Warp& w, int slot, uint32_t lanes) {
  if (lanes == 0) return;
  make_room(w);
  Origin* const origin = slots_of(w).origin(slot);
  for (uint32_t left = lanes; left != 0; left &= left - 1)
    origin[std::countr_zero(left)] = w.last_unwritten;
}

void remember_where_it_went(Warp& w, int slot, int lane, std::uint64_t address) {
  if (const Origin* const origin = slots_of(w).origin(slot); origin != nullptr)
    w.block->unwritten_from[address / 4] = origin[lane];
}

bool changes_unwritten(const Op* op, Warp& w, int lane) {
  Blame blame{.tainted = 1u << lane, .from = std::vector<Origin>(warp_size)};
  blame.from[static_cast<std::size_t>(lane)] = w.last_unwritten;
  return accuse(w, op, blame, "changes in place");
}

bool follow_taint(const Op* op, Warp& w) {
  constexpr uint64_t time_to_follow = 30;  // in that of a usual operation
  Run& run = *w.block->run;
  run.extra_time += time_to_follow;
  const Uses& uses = run.kernel.uses[static_cast<std::size_t>(op - w.code)];
  uint32_t active = w.mask;
  if (op->guard >= 0) {
    const uint32_t guard = w.predicates[op->guard];
    Blame blame;
    blame.add(predicates_of(w), op->guard, active);
    const bool counts = blame.tainted != 0 && (op->flags & (decides | stores)) != 0;
    const char* const does =
        (op->flags & decides) != 0 ? "decides where to go on by" : "decides whether to write by";
    if (counts && !accuse(w, op, blame, does)) return false;
    active &= op->guard_negated ? ~guard : guard;
  }
  if (uses.address >= 0) {
    Blame blame;
    blame.add(slots_of(w), uses.address, active);
    if (blame.tainted != 0 && !accuse(w, op, blame, "takes an address from")) return false;
  }
  if ((op->flags & (loads | tells_taint)) != 0) return true;  // it says what its results are
  const Blame blame = blame_of_result(op, w, uses, active);
  if ((op->flags & stores) != 0) {
    const bool to_global = run.region_of[static_cast<std::size_t>(op - w.code)] != nullptr ||
                           (op->flags & address_is_wide) != 0;
    return blame.tainted == 0 || !to_global || goes_to_own_array(w, op, blame.tainted) ||
           accuse(w, op, blame, "leaves in memory", true);
  }
  for (const int s : uses.writes) set(slots_of(w), s, active, blame);
  for (const int p : uses.predicates_written) set(predicates_of(w), p, active, blame);
  return true;
}

}  // namespace ptx
