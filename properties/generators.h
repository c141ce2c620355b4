// The cases that a claim about a variant is judged on: drawn ones, aimed at the edges of the
// variant's tiles, and the large shapes that people use.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "properties/claims.h"

namespace assay {

// Draws cases of moderate size that the claim says something about, the same ones for the same
// seed: sizes beside tile edges, primes, 1 and 0; m, n and k mostly different; alpha and beta among
// 0, 1, -1, 0.5, 3 and random numbers.
std::function<Case()> case_generator(const Claim&, const Entry&, std::uint64_t seed);

// The shapes that people use, in all roles of m, n and k.
std::vector<Case> curated_shapes();

// As many of them as the time for `cases` cases allows; others for each variant and seed.
std::vector<Case> large_cases(const Claim&, const Entry&, int cases, std::uint64_t seed);

}  // namespace assay
