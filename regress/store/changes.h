// What one state of a GPU's baselines accepts beyond another: what a reviewer has to agree with.
#pragma once

#include <string>
#include <vector>

#include "regress/store/baseline.h"

namespace assay {

// A line for each cell that was accepted, with its ratios and the reason; for each anchor that
// moved; and for each variant or cell that is no longer watched. Empty where nothing changed.
std::vector<std::string> changes(const Baseline& before, const Baseline& after);

// "1.0312 (1.0300 to 1.0320)", or "none".
std::string to_text(const Ratio&);

}  // namespace assay
