// Kernels that apply an instruction to operands, one for each thread.
#pragma once

#include <string>

#include "ptx/tests/hardware/instructions.h"

namespace ptx::hardware {

inline constexpr unsigned threads_per_block = 32;

// A kernel takes the address of `most_operands` times `count` words, that of `count` results, and
// `count`. Where an instruction has two results, the second is in the upper half of the word.
std::string module_of(const std::vector<Instruction>&);
std::string kernel_name(std::size_t index);

}  // namespace ptx::hardware
