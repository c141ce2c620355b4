// Problems that the PTX machine is too slow for as a whole: some blocks of their grid are run, and
// what these leave in C is judged. That says nothing about blocks that have to do with each other.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "properties/claims.h"
#include "properties/generators.h"

namespace assay {

// By one trial: of the whole, or of a part where that is all that there is time for. Nothing is
// judged where a part says nothing, unless the case was given by somebody, who then waits.
std::function<Verdict(const Entry&, const Case&, const Resources&)> by_whole_or_part(const Plan&);

// As large as people bring them: so many products, or elements of C, that their number leaves 32
// bits, and beyond all sizes at once that the variant was seen to know of.
std::vector<Case> cases_in_parts(const Claim&, const Entry&, std::uint64_t seed, const Hints&);

}  // namespace assay
