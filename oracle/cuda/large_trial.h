// A trial whose C has more elements than 32 bits can number. Nothing of C ever comes to the host:
// it is judged on the GPU. The memory contract is part of the verdict, as in every trial.
#pragma once

#include "oracle/trial.h"

namespace assay {

// `refused`, with the memory that it takes, where the GPU has less. Needs beta = 0, packed C and
// the backend cuda.
Verdict run_large_trial(const Entry&, const Case&);

}  // namespace assay
