// What the text of a CUDA file says of its kernels, as far as that can be read without compiling.
#pragma once

#include <string>

namespace assay {

// The lines that make a variant of each function in a file that launches kernels, or else of each
// kernel: what somebody adds who has none.
std::string lines_to_add(const std::string& file, const std::string& text);

}  // namespace assay
