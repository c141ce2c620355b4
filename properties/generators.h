// Draws cases that a variant accepts, aimed at the edges of its tiles, and shrinks them.
#pragma once

#include <rapidcheck/Gen.h>

#include <vector>

#include "properties/claims.h"

namespace assay {

// Cases of moderate size for one claim about one variant: sizes one off its tile edges, primes, 1
// and 0; m, n and k mostly different; alpha and beta among 0, 1, -1, 0.5, 3 and random numbers.
// Values shrink by `smaller_cases`.
rc::Gen<Case> cases_for(const Claim&, const Entry&);

// `c`, which shrinks by `smaller_cases`, fitted to the variant, as far as the claim speaks of them.
rc::Shrinkable<Case> shrinkable_case(const Case& c, const Claim&, const Entry&);

// The next simpler cases, the boldest first: sizes towards small, scalars towards 1 and 0, gaps and
// offsets towards none, the fill towards simple ones.
std::vector<Case> smaller_cases(const Case&);

// The shapes that people use, in all roles of m, n and k.
std::vector<Case> curated_shapes();

// The nearest case that the claim speaks of, and that the variant accepts where the claim is about
// such cases.
Case aimed(const Case&, const Claim&, const Entry&);

// The nearest case whose sizes, gaps, offsets and scalars meet the needs of a variant.
Case fitted(Case, const Needs&);

}  // namespace assay
