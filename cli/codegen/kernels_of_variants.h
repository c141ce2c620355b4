// The kernels of a variant: those that it launches when it runs on the PTX machine.
#pragma once

#include <string>
#include <vector>

#include "cli/kernel_files.h"
#include "regress/code/compiled_kernel.h"

namespace assay {

// `words` are files and names. Returns the names, each that no kernel has replaced by the kernels
// of the variant that has it, in one of the files or in the ladder; one that no variant has is
// left.
std::vector<std::string> names_of_kernels(const std::vector<std::string>& words,
                                          const std::vector<CompiledKernel>&, const KernelFiles&);

}  // namespace assay
