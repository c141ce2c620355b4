// Launches that are under way at the same time, on streams that nothing orders.
#pragma once

#include "oracle/trial.h"

namespace assay {

// Judges two launches on two streams. Where a variant keeps something between calls, and a CPU runs
// it, the second one is then repeated so often that memory used in turns comes round.
Verdict judge_two_streams(const Entry&, const Case&, const Resources&);

}  // namespace assay
