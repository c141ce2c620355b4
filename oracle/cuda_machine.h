// The machine of the backend `cuda`: one GPU, with memory that faults on both sides of every
// operand.
#pragma once

#include <memory>

#include "oracle/machine.h"

namespace assay {

// Throws Unavailable where there is no GPU.
std::unique_ptr<Machine> make_cuda_machine();

// Why this computer has no GPU that can be used; empty if it has one. Starts nothing on it.
std::string why_no_gpu();

}  // namespace assay
