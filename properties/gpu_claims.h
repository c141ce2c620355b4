// The claims about launches, some of which take a GPU. claims() lists them after its own.
#pragma once

#include <vector>

#include "properties/claims.h"

namespace assay {

std::vector<Claim> gpu_claims();

}  // namespace assay
