// What several claims say nothing about: why they exclude a case or a variant (empty if they do
// not), and how a case moves inside.
#pragma once

#include <string>

#include "kernels/registry.h"
#include "oracle/case.h"

namespace assay {

// The error bound is for zero-mean data, and for scalars that let no right sum overflow.
std::string why_no_bound(const Case&);

// The nearest alpha that a fill allows, so that a right kernel may apply it wherever it likes: any,
// but for scaled and patterned data 0 or a power of 2 from 1 (1/2) on, which multiplies every
// factor exactly, and for the largest floats 0 or 1 of either sign, which leaves them what they
// are.
float scalar_for(Fill, float alpha);

// Comparing bits takes results without NaN.
std::string why_not_finite(const Case&);
Case without_special(Case, const Entry&);
// The same; and in some cases A has rows of zeros, which alpha below 0 makes -0.
Case with_zeros_of_both_signs(Case, const Entry&);

// Predicting bits takes a variant that declares its order of summation.
std::string why_no_fma_chain(const Entry&);

}  // namespace assay
