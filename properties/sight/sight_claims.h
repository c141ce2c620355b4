// The claims about what the PTX machine sees of every access, and which claim names what it finds.
// claims() lists them.
#pragma once

#include <vector>

#include "properties/claims.h"

namespace assay {

std::vector<Claim> sight_claims();

// The claim that names what a machine found in a trial of an entry, whichever claim the trial was
// for; null where no claim names it better than another.
const Claim* claim_that_names(const Entry&, const Verdict&);

}  // namespace assay
