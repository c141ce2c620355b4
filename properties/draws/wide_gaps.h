// Operands that spread over 2^31 bytes and more: only their rows are mapped, and the gaps fault
// when touched.
#pragma once

#include <string>

#include "properties/claims.h"

namespace assay {

// Why no operand of a case is wide, or a variant takes none that is; empty otherwise.
std::string why_not_wide(const Case&);
std::string why_packed(const Entry&);

// Widens A, B or C, or all of them, by the seed.
Case with_wide_gaps(Case, const Entry&);

}  // namespace assay
