// The machine of the backend `cuda`: one GPU, with memory that faults on both sides of every
// operand.
#pragma once

#include <memory>

#include "oracle/machine.h"

namespace assay {

// Throws Unavailable where there is no GPU.
std::unique_ptr<Machine> make_cuda_machine();
}  // namespace assay
