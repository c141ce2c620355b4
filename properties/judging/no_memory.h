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

// For a problem so large that it may have a path of its own, of which some blocks are run: where
// the device has no memory for one of its first allocations, it returns an error, or leaves what is
// right. Such a problem is judged by this alone.
bool is_large_without_memory(const Entry&, const Case&);
Case large_without_memory(std::uint64_t seed);
Verdict judge_large_without_memory(const Entry&, const Case&, const Resources&);

// For a variant that calls cudaMemGetInfo: where that reports little or no free memory, the launch
// returns an error or leaves a right C.
Verdict judge_told_of_little_memory(const Entry&, const Case&, const Resources&);

}  // namespace assay
