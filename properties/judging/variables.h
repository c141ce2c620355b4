// What outlives a launch: the variables of a kernel library, and memory of the device.
#pragma once

#include <cstdint>

#include "kernels/registry.h"
#include "oracle/plan.h"

namespace assay {

// A hash of all that live in the library which holds `code`: another one where something was kept.
std::uint64_t variables_beside(const void* code);

// A hash of all that launches of a variant may leave behind in this process.
std::uint64_t hash_of_kept(const Entry&, const Resources&);

// Whether something is kept since this was first asked about the variant in this process.
bool keeps_something(const Entry&, const Resources&);

}  // namespace assay
