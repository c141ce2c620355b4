// Learns what a variant's launch enqueues by capturing it, twice on different operands: whatever
// differs must be an address inside an operand.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "regress/code/program_code.h"
#include "regress/store/recipe.h"

namespace assay {

struct Captured {
  Recipe recipe;
  std::string cubin;    // SHA-256 of the machine code that all its kernels are in
  std::string why_not;  // it cannot be told as a recipe; then the rest is empty
};

// `one` and `other` are the same problem on different operands, which nobody else may use.
Captured capture(const Variant&, const Gemm& one, const Gemm& other, const ProgramCode&,
                 cudaStream_t);

}  // namespace assay
