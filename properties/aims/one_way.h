// Reports the comparisons in a variant's own source that were watched.
#pragma once

#include "properties/aims/exploration.h"
#include "properties/aims/knowledge.h"

namespace assay {

// Of C: some 300 MiB, and six times that to judge it.
inline constexpr std::int64_t most_judged_elements = (1 << 26) + (1 << 23);
// Of an aimed case, in nanoseconds of the CPU executor.
inline constexpr double most_judged_cost = 2e10;

// Counts those that decide a branch, and names those that always went the same way: also where the
// other way was found, but every case that takes it is too dear to judge.
void report_comparisons(const Knowledge&, Exploration&);

}  // namespace assay
