// The claim that counts and indices beyond 32 bits are right, judged on some blocks of each grid.
#pragma once

#include "properties/claims.h"

namespace assay {

Claim claim_about_huge_sizes();

// Why the claims about what the PTX machine alone sees say nothing about an entry.
std::string why_not_seen(const Entry&);

}  // namespace assay
