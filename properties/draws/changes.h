// Cases that differ in one respect from one that was judged before them, for what a variant keeps
// between calls.
#pragma once

#include <vector>

#include "properties/claims.h"

namespace assay {

// What is worked out once for a problem, a plan or a table, may be found again by less than it
// depends on. So here comes one problem again and again, and between any two of these calls another
// one, which has all that makes it but for one size, distance, address or scalar. All of these
// beside 100 drawn cases; none for a claim that does not take extreme sizes.
std::vector<Case> one_thing_changed(const Claim&, const Entry&, int drawn, std::uint64_t seed);

}  // namespace assay
