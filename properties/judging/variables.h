// The variables of a kernel library, which outlive a launch.
#pragma once

#include <cstdint>

namespace assay {

// A hash of all that live in the library which holds `code`: another one where something was kept.
std::uint64_t variables_beside(const void* code);

}  // namespace assay
