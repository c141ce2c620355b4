// In which order the blocks of a grid are started, and which of them. Those of a cluster go
// together: what is counted here are clusters, of one block each where a launch has none.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/machine/machine.h"

namespace ptx {

// Whether the grid is a multiple of its clusters.
bool has_whole_clusters(const Launch&);
// Where in the grid a block of a cluster is.
Dim place_in_grid(const Launch&, std::uint64_t cluster, std::uint64_t rank);

class GridOrder {
 public:
  // Only `most_blocks` of the settings where some may be left out: the first, the last, those that
  // have the number of the last but for what a narrow counter drops, and others.
  GridOrder(const Launch&, const Settings&);
  std::uint64_t count() const { return chosen_.empty() ? grid_ : chosen_.size(); }
  // Whether some were left out, and all of these may follow those that were chosen: then they do.
  bool go_on();
  // The one to start next, when `started` have been started.
  std::uint64_t number(std::uint64_t started) const;

 private:
  void leave_out(std::uint64_t most, const Launch&);

  std::uint64_t grid_, seed_;
  Order order_;
  std::vector<std::uint64_t> chosen_;  // if not all are started
};

}  // namespace ptx
