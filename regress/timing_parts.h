// What bench, gate and accept share.
#pragma once

#include <map>
#include <string>

#include "regress/store/baseline.h"
#include "regress/timing.h"

namespace assay {

// How far a kernel that is never edited may be off before nothing beside it is believed.
inline constexpr double canaries_apart = 0.03;

// Why a process as a whole may not be used; empty if it may. `known` are the canaries at
// acceptance, or none.
std::string why_unusable(const ProcessTiming&, const std::map<std::string, double>& known);

// How much longer operands must take to reach than those in the L2 cache, to count as cold. On an
// H200 it was 2.1 times or more.
inline constexpr double least_coldness = 1.3;

// With `anchor_is_baseline` the baseline's ratio is the anchor's too. Operands that were not shown
// to be cold are a fault, unless they may be warm.
Replicate replicate_of(const CellTiming&, bool anchor_is_baseline, bool may_be_warm = false);

// The geometric mean over processes of the ratio whose logarithms are `logs`, and its 95 %
// interval; of a single process the ratio alone, as if it were certain. Of none there is no ratio.
Ratio ratio_of(const std::vector<double>& logs);

// What was accepted for a cell; null where nothing was.
const CellRecord* record_of(const std::map<std::string, VariantBaseline>&, const CellJob&);

// More launches in one sample would not fit the queue of a stream that is held.
inline constexpr int most_launches = 400;
// How many launches of so long make a sample.
int launches_for(double launch_us);

double tflops(const std::string& problem, double time_us);

}  // namespace assay
