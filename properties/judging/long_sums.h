// Sums that are too long for the claims about the order of threads.
#pragma once

#include "oracle/trial.h"

namespace assay {

// Judges a case by one trial. Where k is longer than those claims take, and a variant that gives
// the same bits every time has a workspace for it, in which its blocks may meet, the bits are also
// compared with those that another order of threads leaves.
Verdict judge_in_two_orders(const Entry&, const Case&, const Plan&, const Resources&);

}  // namespace assay
