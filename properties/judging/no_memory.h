// Launches on a device that has little memory left, or none. On other machines than the PTX machine
// all is right.
#pragma once

#include "oracle/trial.h"

namespace assay {

// For a variant that allocates memory for a case: where its first allocation fails, or a later one,
// the launch returns an error or leaves a right C, and so does the one after it, for which there is
// memory again. `right` where nothing is allocated.
Verdict judge_without_memory(const Entry&, const Case&, const Resources&);

// The same of the first launch of a process that allocates more than once, where all of its
// allocations fail but one: what is kept for good is allocated there, in pieces.
Verdict judge_first_launch(const Entry&, const Case&, const Resources&);

// For a variant that calls cudaMemGetInfo: where that reports little or no free memory, the launch
// returns an error or leaves a right C.
Verdict judge_told_of_little_memory(const Entry&, const Case&, const Resources&);

}  // namespace assay
