// What it takes to judge a case, in nanoseconds of an ordinary core. It is a model, not a
// measurement: it follows from the case and from counts, so that the same cases are drawn on every
// machine.
#pragma once

#include "properties/claims.h"

namespace assay {

// What a tile of a variant's takes on the CPU executor, as a few small launches showed. Of one that
// is not known, a thread for each element is supposed, and two barriers for each slice.
struct Effort {
  bool is_known = false;
  double threads = 0;
  double stops = 0, stops_per_k = 0;  // of all threads, at barriers and warp operations
  bool operator==(const Effort&) const = default;
};

// Counted in the watched build, not timed; not known where there is none.
Effort effort_of(const Entry&);

double cost_of(const Case&, const Claim&, const Entry&, const Effort& = {});

// What a drawn case may cost on average. A GPU is given ten times as many.
double cost_per_case(Backend);

}  // namespace assay
