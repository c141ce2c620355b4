// In which order the blocks of a grid are started, and which of them.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/machine/machine.h"

namespace ptx {

class GridOrder {
 public:
  // Only `most_blocks` of the settings where some may be left out: the first, the last, those that
  // have the number of the last but for what a narrow counter drops, and others.
  GridOrder(const Launch&, const Settings&);
  std::uint64_t count() const { return chosen_.empty() ? grid_ : chosen_.size(); }
  // Whether some were left out, and all of these may follow those that were chosen: then they do.
  bool go_on();
  // The block to start next, when `started` blocks have been started.
  std::uint64_t number(std::uint64_t started) const;

 private:
  void leave_out(std::uint64_t most, std::uint64_t threads_of_a_block);

  std::uint64_t grid_, seed_;
  Order order_;
  std::uint64_t step_ = 0;             // shuffled, they are dealt like every n-th card
  std::vector<std::uint64_t> chosen_;  // if not all are started
};

}  // namespace ptx
