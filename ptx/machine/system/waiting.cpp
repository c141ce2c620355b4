// Threads that wait by asking again and again: others go on in between.
#include <algorithm>

#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"

namespace ptx {
namespace {

using std::uint64_t;

constexpr int most_asked = 1024;
constexpr uint64_t tick = 1000;

// Stands behind what a thread may wait with: a volatile load, an atomic operation. mode: its
// weight. Of accesses that are neither volatile nor atomic, those that count on lanes in step are
// races: it is only here that lanes which fall behind show it.
const Op* ask(const Op* op, Warp& w) {
  w.asked += op->mode;
  if (w.asked < most_asked) {
    leave_some_behind(w, op + 1, 4);
    return op + 1;
  }
  w.asked = 0;
  return step_back(w, op + 1, true);
}
const Op* sleep(const Op* op, Warp& w) { return step_back(w, op + 1, true); }
const Op* wait_for_grids(const Op* op, Warp& w) {
  auto& waits = w.block->waits_for_grids;
  const auto is_own = [&](uint32_t s) { return stamp::warp(s) == static_cast<uint32_t>(w.index); };
  if (std::none_of(waits.begin(), waits.end(), is_own))
    waits.push_back(stamp::make(w.block->shadow.now(), static_cast<uint32_t>(w.index * warp_size)));
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
