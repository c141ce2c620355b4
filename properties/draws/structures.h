// Cases with structured data, one structure after the other: drawn at random, one that a kernel
// takes for granted may come too seldom, or at sizes that hide it.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/claims.h"
#include "properties/draws/cost.h"

namespace assay {

// Every structure of fill=patterned, in A alone, in B alone, or along k, a few times each, at sizes
// where it ends before the matrix does: as often as the number of drawn cases allows, beside which
// they cost little. Others for each variant and seed; none for a claim that is not about data,
// or where the PTX machine judges the variant as well.
// Those with zeros also come with some long lines, where that takes little; and runs of special
// values with some tiles.
std::vector<Case> structured_cases(const Claim&, const Entry&, int cases, std::uint64_t seed,
                                   const Effort& = {});

}  // namespace assay
