// Launches on a device that has no memory left.
#pragma once

#include "oracle/trial.h"

namespace assay {

// For a variant that allocates memory for a case, on the PTX machine: where each allocation fails,
// the launch returns an error or leaves a right C, and so does the one after it, for which there is
// memory again. `right` where nothing is allocated.
Verdict judge_without_memory(const Entry&, const Case&, const Resources&);

}  // namespace assay
