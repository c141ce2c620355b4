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

// Takes one log-ratio for each process. There are two states where two neighbouring ratios are more
// than 0.5 % apart, and more than twice as far as the ratios on either side of that gap spread.
// Fewer than eight processes have none.
std::optional<TwoStates> two_states(std::vector<double> log_ratios);

}  // namespace assay
