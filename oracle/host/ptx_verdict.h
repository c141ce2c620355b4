// What a launch on the PTX machine came to.
#pragma once

#include "kernels/gemm.h"
#include "oracle/diagnosis/whereabouts.h"
#include "oracle/machine.h"
#include "ptx/machine/machine.h"

namespace assay {

// Of the launch function itself: what it threw, or the error that it returned.
LaunchFailure failure_of_launch(const Variant&, const Given&, cudaStream_t);

// In words that name the operand, where one is concerned. What still wrote C for the first time
// when its time was over is refused: it may be right.
Verdict verdict_on(const ptx::Finding&, const ByOperand<Placed>&, const Fences&);

}  // namespace assay
