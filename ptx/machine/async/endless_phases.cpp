// Waits for phases of mbarriers that do not end.
#include <fmt/format.h>

#include <bit>

#include "ptx/machine/block.h"

namespace ptx {

bool give_up_waits(Block& block) {
  constexpr int most_rounds = 64;
  if (++block.asynchronous.rounds_without_end > most_rounds) return false;
  bool any = false;
  for (Warp& w : block.warps)
    for (Group& g : w.others)
      if (g.state == Group::State::at_mbarrier) {
        g.state = Group::State::ready;
        w.gives_up = any = true;
      }
  return any;
}

bool report_endless_phase(Block& block) {
  for (Warp& w : block.warps)
    for (const Group& g : w.others) {
      if (g.state != Group::State::at_mbarrier) continue;
      const Mbarrier& barrier = block.asynchronous.barriers[static_cast<std::uint32_t>(g.barrier)];
      report(w, g.at, Fault::barrier_not_reached,
             fmt::format("{} waits at an mbarrier at {} of shared memory for a phase that never "
                         "ends: {} of {} arrivals and {} bytes are missing",
                         thread_text(w, std::countr_zero(g.mask)), g.barrier, barrier.pending,
                         barrier.expected, barrier.bytes));
      return true;
    }
  return false;
}

}  // namespace ptx
