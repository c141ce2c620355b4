// Every remainder behind a size that the kernel compares with: shares that are rounded up may leave
// the last one nothing, or less than that, for one of them alone.
#pragma once

#include <vector>

#include "properties/generators.h"

namespace assay {

// Of k, for the claim that takes every size: tiny problems, as far as they cost little.
std::vector<Case> remainders_behind_thresholds(const Claim&, const Entry&, const Hints&);

}  // namespace assay
