// The circumstances in which a GPU launches a variant: one function for each Setting.
#pragma once

#include "oracle/cuda/cuda_machine.h"

namespace assay {

// The operands are placed; on success C holds the result of the launch that counts.
LaunchFailure launch_in(Setting, CudaMachine&, const Variant&, const Given&);

// Launches, and puts back what was in C. A kernel file that is compiled by itself has a CUDA
// runtime of its own. That keeps the error of a call that failed until it is asked, which the next
// launch may do: here, where it does not count.
LaunchFailure launch_once_more(CudaMachine&, const Variant&, const Given&);

}  // namespace assay
