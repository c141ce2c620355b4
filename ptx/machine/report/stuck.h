// Blocks that do not come to their end: what they wait for, and where.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptx/machine/block.h"

namespace ptx {

// Whether some of its lanes can go on.
inline bool can_run(const Warp& w) {
  const auto is_ready = [](const Group& g) { return g.state == Group::State::ready; };
  return w.at != nullptr || std::any_of(w.others.begin(), w.others.end(), is_ready);
}

// A block still runs after `limit` seconds of CPU time.
void report_endless(const std::vector<std::unique_ptr<Block>>& in_flight, double limit);
// A block waits for others of its grid, of which no more fit on the device.
void report_no_room(Block&, std::size_t in_flight, std::uint64_t grid);
// No warp of a block can go on.
void report_stuck(Block&);

}  // namespace ptx
