// A kernel may settle in one of two states for as long as a process lives, as where its code or its
// operands lie decides. A mean says little of such a cell.
#pragma once

#include <optional>
#include <vector>

namespace assay {

struct TwoStates {
  int slow = 0, fast = 0;                 // how many processes were in each
  double slow_ratio = 1, fast_ratio = 1;  // head over baseline, the median of each
};

// Of one log-ratio for each process. Two states are told where the gap between two neighbours is
// more than 0.5 %, and more than twice as wide as either side of it; never of fewer than eight
// processes.
std::optional<TwoStates> two_states(std::vector<double> log_ratios);

}  // namespace assay
