// Threads that wait by asking again and again: others go on in between.
#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"

namespace ptx {
namespace {

using std::uint64_t;

constexpr int most_asked = 1024;
constexpr uint64_t tick = 1000;

// In shuffled order, now and then, some lanes fall behind the others, until these wait for them. It
// is only here that it shows: of accesses that are neither volatile nor atomic, those that count on
// lanes in step are races.
const Op* drift(Warp& w, const Op* next) {
  Run& run = *w.block->run;
  if (run.settings.order != Order::shuffled || (w.mask & (w.mask - 1)) == 0) return next;
  const uint64_t drawn = run.draw();
  const auto behind = w.mask & static_cast<std::uint32_t>(drawn >> 32);
  if (drawn % 4 != 0 || behind == 0 || behind == w.mask) return next;
  w.others.push_back({.at = next, .mask = behind, .stepped_back = true});
  w.set_mask(w.mask & ~behind);
  return next;
}

// Stands behind what a thread may wait with: a volatile load, an atomic operation. mode: its
// weight.
const Op* ask(const Op* op, Warp& w) {
  w.asked += op->mode;
  if (w.asked < most_asked) return drift(w, op + 1);
  w.asked = 0;
  return step_back(w, op + 1, true);
}
const Op* sleep(const Op* op, Warp& w) { return step_back(w, op + 1, true); }
const Op* wait_for_grids(const Op* op, Warp& w) {
  w.block->has_waited_for_grids = true;
  return op + 1;
}

// There is no time here, but each look at a clock shows a later one.
template <class T>
const Op* look_at_clock(const Op* op, Warp& w) {
  const uint64_t now = w.block->run->clock += tick;
  return for_each_lane<T>(op, w, [=](int) { return static_cast<T>(now); });
}

}  // namespace

void add_waiting_handlers(Handlers& to) {
  to["ask"] = {ask, ""};
  to["sleep"] = {sleep, ""};
  to["griddepcontrol.wait"] = {wait_for_grids, ""};
  to["clock.b32"] = {look_at_clock<std::uint32_t>, "w"};
  to["clock.b64"] = {look_at_clock<uint64_t>, "x"};
}

}  // namespace ptx
