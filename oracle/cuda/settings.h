// The circumstances in which a GPU launches a variant: one function for each Setting.
#pragma once

#include "oracle/cuda/cuda_machine.h"

namespace assay {

// The operands are placed; on success C holds the result of the launch that counts.
LaunchFailure launch_in(Setting, CudaMachine&, const Variant&, const Given&);

}  // namespace assay
