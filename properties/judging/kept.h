// What a variant keeps between launches may run out, grow without end, or be believed too long.
#pragma once

#include "kernels/registry.h"
#include "oracle/plan.h"
#include "oracle/verdict.h"

namespace assay {

struct Kept {
  bool anything = false;  // variables or memory of the device were written
  bool grew = false;      // it took memory of the device that it did not give back
};

// A failure, or that nothing of the kind was seen. Most of it is asked once in a process.
Verdict judge_what_is_kept(const Entry&, const Case&, const Kept&, const Resources&);

// Whether launches that fail, by this plan, keep what they take.
Verdict judge_what_failures_keep(const Entry&, const Case&, const Plan&, const Resources&);

}  // namespace assay
