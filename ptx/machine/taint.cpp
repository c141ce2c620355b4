#include "ptx/machine/taint.h"

#include <fmt/format.h>

#include <bit>

namespace ptx {
namespace {

using std::uint32_t;

bool accuse(Warp& w, const Op* op, uint32_t lanes, const char* what) {
  report(w, op, Fault::uninitialised,
         fmt::format("{} {} a value that nobody wrote", thread_text(w, std::countr_zero(lanes)),
                     what));
  return false;
}

// Of the two values, only the chosen one counts; and of a conjunction that is false without it,
// none.
uint32_t tainted_result(const Op* op, Warp& w, const Uses& uses) {
  const auto slot = [&](int n) { return w.taint[static_cast<std::size_t>(n)]; };
  if ((op->flags & selects) != 0) {
    const uint32_t chosen = w.predicates[op->c] ^ ((op->flags & 1 << 14) != 0 ? all_lanes : 0);
    return (slot(op->a) & chosen) | (slot(op->b) & ~chosen) |
           w.predicate_taint[static_cast<std::size_t>(op->c)];
  }
  uint32_t tainted = 0;
  for (const int s : uses.reads) tainted |= slot(s);
  for (const int p : uses.predicates_read)
    tainted |= w.predicate_taint[static_cast<std::size_t>(p)];
  return tainted;
}

}  // namespace

bool follow_taint(const Op* op, Warp& w) {
  const Run& run = *w.block->run;
  const Uses& uses = run.kernel.uses[static_cast<std::size_t>(op - w.code)];
  uint32_t active = w.mask;
  if (op->guard >= 0) {
    const uint32_t guard = w.predicates[op->guard];
    const uint32_t tainted = w.predicate_taint[static_cast<std::size_t>(op->guard)] & active;
    if (tainted != 0 && ((op->flags & (decides | stores)) != 0))
      return accuse(
          w, op, tainted,
          (op->flags & decides) != 0 ? "decides where to go on by" : "decides whether to write by");
    active &= op->guard_negated ? ~guard : guard;
  }
  if (uses.address >= 0) {
    const uint32_t tainted = w.taint[static_cast<std::size_t>(uses.address)] & active;
    if (tainted != 0) return accuse(w, op, tainted, "takes an address from");
  }
  if ((op->flags & (loads | tells_taint)) != 0) return true;  // it says what its results are
  const uint32_t tainted = tainted_result(op, w, uses) & active;
  if ((op->flags & stores) != 0) {
    const bool to_global =
        w.block->run->region_of[static_cast<std::size_t>(op - w.code)] != nullptr ||
        (op->flags & address_is_wide) != 0;
    return tainted == 0 || !to_global || accuse(w, op, tainted, "leaves in memory");
  }
  const auto set = [&](uint32_t& taint) { taint = (taint & ~active) | tainted; };
  for (const int s : uses.writes) set(w.taint[static_cast<std::size_t>(s)]);
  for (const int p : uses.predicates_written) set(w.predicate_taint[static_cast<std::size_t>(p)]);
  return true;
}

}  // namespace ptx
