// What it takes to judge a case, in nanoseconds of an ordinary core. It is a model, not a
// measurement: it follows from the case alone, so that the same cases are drawn on every machine.
#pragma once

#include "properties/claims.h"

namespace assay {

double cost_of(const Case&, const Claim&, const Entry&);

// What a drawn case may cost on average. A GPU is given ten times as many.
double cost_per_case(Backend);

}  // namespace assay
