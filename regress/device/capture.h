// Learns what a variant's launch enqueues by capturing it twice, on different operands: whatever
// differs between the two must be an address inside an operand or the workspace.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "regress/code/compiled_kernel.h"
#include "regress/store/recipe.h"

namespace assay {

struct Captured {
  Recipe recipe;
  std::string cubin;             // SHA-256 of the machine code that all its kernels are in
  std::string why_not;           // why there is no recipe; then the rest is empty
  std::string changed_variable;  // that the launches, or their kernels, have set; empty if none
  double first_us = 0;  // of the launch before, which the clock may not have been ready for
};

// `one` and `other` are one problem on different operands, which nobody else uses meanwhile.
Captured capture(const Variant&, const Gemm& one, const Gemm& other, const ProgramCode&,
                 cudaStream_t);

}  // namespace assay
