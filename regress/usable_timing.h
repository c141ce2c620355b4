// Whether what a process measured may be used. Comparisons fail on NaN: what was not shown to be
// sound is not.
#pragma once

#include <map>
#include <string>

#include "regress/timing.h"

namespace assay {

// Throws UnfitEnvironment with the reason if the process says that it could not measure.
void require_fit(const ProcessTiming&);

// How far a kernel that is never edited may be off before nothing beside it is believed.
inline constexpr double canaries_apart = 0.03;

// Why a process as a whole may not be used; empty if it may. `known` are the canaries at
// acceptance, or none.
std::string why_unusable(const ProcessTiming&, const std::map<std::string, double>& known);

// Operands count as cold if they take this many times as long to reach as those in the L2 cache.
// On an H200 it was 2.1 times or more.
inline constexpr double least_coldness = 1.3;

// Reduces the rounds of one cell. Operands that were not shown to be cold are a fault, unless they
// may be warm. With `anchor_is_baseline` the baseline's ratio is the anchor's too.
Replicate replicate_of(const CellTiming&, bool anchor_is_baseline, bool may_be_warm = false);

}  // namespace assay
