// Problems that the PTX machine or the CPU executor is too slow for as a whole: some blocks of
// their grid are run, and what these leave in C is judged. That says nothing about blocks that have
// to do with each other.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "properties/claims.h"
#include "properties/generators.h"

namespace assay {

// How many blocks of a large case one trial has time for, if each of them computes one tile.
std::uint64_t blocks_of_large(const Case&, const Variant&);

// Judges a case by one trial, and a large case by a part of its grid. Where a part says nothing,
// fewer blocks are tried if that took long, and the whole is run if that does not take long or if a
// person asked for the case; else nothing is judged.
std::function<Verdict(const Entry&, const Case&, const Resources&)> by_whole_or_part(const Plan&);

// Problems of the size that people bring: more than 2^31 products, and all three sizes beyond the
// largest one that the variant compares with. The claim `huge_sizes` takes those of a larger C.
std::vector<Case> cases_in_parts(const Claim&, const Entry&, std::uint64_t seed, const Hints&);

}  // namespace assay
