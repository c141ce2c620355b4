// The cases that a claim about a variant is judged on: drawn ones, each kind of which shows other
// mistakes, and the large shapes that people use.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "properties/draws/cost.h"

namespace assay {

// What is known of a variant: values to draw beside the usual ones, such as the constants that it
// compares with, and what its launches take.
struct Hints {
  std::vector<std::int64_t> sizes;      // of m, n or k: drawn with their neighbours
  std::vector<std::int64_t> distances;  // of lda, ldb or ldc: drawn with multiples and neighbours
  std::vector<float> scalars;           // of alpha or beta
  Effort effort;
};

// Draws cases that the claim says something about, the same ones for the same seed: mostly small
// ones beside tile edges; some with one long dimension, up to a million; some of many tiles. What
// they cost together follows from how many are drawn, so the longest are rare where they cost most.
// For a claim about data: small ones, with every kind of data in turn.
std::function<Case()> case_generator(const Claim&, const Entry&, std::uint64_t seed,
                                     const Hints& = {});

// What the first call of a process decides for those that follow, it mostly decides by a problem as
// people bring it: long rows, many rows, a cube or long sums, packed and aligned. Claims about a
// variant begin with one of these, or with none, in turn.
std::optional<Case> opening_case(const Claim&, const Entry&, const Hints& = {});

// The shapes that people use, in all roles of m, n and k.
std::vector<Case> curated_shapes();

// Sizes beyond 65535 in each dimension, where what counts in 16 bits gives out, and a C of more
// than 2^24 elements, where floats do: in every seed, as far as the time for `cases` cases allows.
// It does not allow the last where threads meet at barriers.
std::vector<Case> extreme_cases(const Claim&, const Entry&, int cases, std::uint64_t seed,
                                const Hints& = {});

// As many of them as the time for `cases` cases allows; others for each variant and seed.
std::vector<Case> large_cases(const Claim&, const Entry&, int cases, std::uint64_t seed,
                              const Hints& = {});

}  // namespace assay
