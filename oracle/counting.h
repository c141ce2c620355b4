// What a variant asks of the hardware for a case, counted on the PTX machine in the place of a GPU.
#pragma once

#include <string>
#include <vector>

#include "kernels/registry.h"
#include "oracle/case.h"
#include "oracle/machine.h"
#include "ptx/counts/counts.h"

namespace assay {

struct Counting {
  std::string refusal;    // why the variant refuses the case; nothing was launched then
  LaunchFailure failure;  // what went wrong; counts would mean nothing
  std::vector<ptx::LaunchCounts> launches;  // in their order
};

// Of an entry for the backend `ptx`. The operands lie as on a GPU: each begins at a multiple of 256
// bytes, plus the offset of the case. Throws BadInput for a case that this computer has no memory
// for.
Counting count(const Entry&, const Case&);

}  // namespace assay
