// Moves a case to the nearest one that a variant accepts and a claim says something about.
#pragma once

#include "properties/claims.h"

namespace assay {

// The nearest case whose sizes, gaps, offsets and scalars meet the needs of a variant.
Case fitted(Case, const Needs&);

// The nearest case that the claim says something about; a claim about cases that a variant accepts
// gets one that it accepts.
Case nearest_case(const Case&, const Claim&, const Entry&);

// The next multiple of `to`.
std::int64_t round_up(std::int64_t value, int to);

}  // namespace assay
