// A trial: one case run by one variant on one backend. It ends in a verdict, whatever the kernel
// does.
#pragma once

#include <vector>

#include "kernels/registry.h"
#include "oracle/plan.h"
#include "oracle/verdict.h"

namespace assay {

// The elements of C after a launch, packed. Only a launch that ran to its end has any.
using Output = std::vector<float>;

// Throws BadInput for a case that this computer has no memory for.
void require_memory_for(const Case&);

// Refuses, or launches and judges. The memory contract is part of every verdict: A, B, guards and
// gaps are unchanged, and after a refusal C is too. Throws BadInput for a case that this computer
// has no memory for.
Verdict run_trial(const Entry&, const Case&, const Plan& = {}, const Resources& = {},
                  Output* = nullptr);

// Launches, on a machine without a GPU, and runs nothing, so that the largest problems cost
// nothing: right if hardware would take each launch. The operands are memory that nobody may touch.
Verdict run_dry_trial(const Entry&, const Case&, const Resources& = {});

// A trial of a C with more elements than 32 bits can number, on a GPU, which also judges it: no
// element of C comes to the host. Takes beta = 0 and packed C. Returns `refused`, with the memory
// that the case needs, where the GPU has less.
Verdict run_large_trial(const Entry&, const Case&, const Resources&);

}  // namespace assay
