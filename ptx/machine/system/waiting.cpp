// Threads that wait: by asking again and again, where others go on in between, and for registers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

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

// Of each thread. Where ptxas does not know how many those are, it drops setmaxnreg, and this is 0;
// else it takes as many as there are for one block.
int registers_at_first(const Block& block) {
  constexpr int of_multiprocessor = 65536, most_of_thread = 255, unit = 8;
  const int threads = static_cast<int>(block.warps.size()) * warp_size;
  const int each = of_multiprocessor / threads / unit * unit;
  return block.run->kernel.facts.registers == std::min(each, most_of_thread) ? each : 0;
}

// e: registers of each thread, from now on. Who wants more waits until others have given some up:
// once all warps have said how many they want, that has to be no more than the block began with.
const Op* set_registers(const Op* op, Warp& w) {
  Block& block = *w.block;
  w.registers = op->e, w.registers_at = op;
  if (!have_asked_alike(w)) return nullptr;
  int all = 0;
  for (const Warp& one : block.warps) {
    if (one.registers == 0) return op + 1;
    all += one.registers * warp_size;
  }
  const int had = registers_at_first(block) * static_cast<int>(block.warps.size()) * warp_size;
  if (had == 0 || all <= had) return op + 1;
  report(w, op, Fault::never_ends,
         fmt::format("{} and the other warps of its block want {} registers by setmaxnreg, and the "
                     "block began with {}: some wait for ever",
                     thread_text(w, std::countr_zero(w.mask)), all, had));
  return nullptr;
}

// There is no time here, but each look at a clock shows a later one.
template <class T>
const Op* look_at_clock(const Op* op, Warp& w) {
  const uint64_t now = w.block->run->clock += tick;
  return for_each_lane<T>(op, w, [=](int) { return static_cast<T>(now); });
}

}  // namespace

// Another warp of the four may have returned without, or this one does.
bool have_asked_alike(Warp& w) {
  constexpr int of_group = 4;
  const auto& warps = w.block->warps;
  const auto first = warps.begin() + w.index / of_group * of_group;
  const auto end = std::min(first + of_group, warps.end());
  const auto asked = std::find_if(first, end, [](const Warp& one) { return one.registers != 0; });
  const auto left = std::find_if(
      first, end, [](const Warp& one) { return one.registers == 0 && one.alive == 0; });
  if (asked == end || left == end || registers_at_first(*w.block) == 0) return true;
  report(w, asked->registers_at, Fault::never_ends,
         fmt::format("warp {} executes setmaxnreg, and warp {} of the same warpgroup returns "
                     "without: all four have to, or some wait for ever",
                     asked->index, left->index));
  return false;
}

void add_waiting_handlers(Handlers& to) {
  to["ask"] = {ask, ""};
  to["setmaxnreg"] = {set_registers, ""};
  to["sleep"] = {sleep, ""};
  to["griddepcontrol.wait"] = {wait_for_grids, ""};
  to["clock.b32"] = {look_at_clock<std::uint32_t>, "w"};
  to["clock.b64"] = {look_at_clock<uint64_t>, "x"};
}

}  // namespace ptx
