// Variants that the tests of this room plant: host functions with a known behaviour. Those that
// worker processes must find are registered, under names that begin with `planted_`.
#pragma once

#include <string_view>
#include <vector>

#include "properties/claims.h"

namespace assay_test {

using Launch = cudaError_t (*)(const assay::Gemm&, cudaStream_t);

// What a right variant does.
cudaError_t multiply(const assay::Gemm&, cudaStream_t);

// The same, but wrong in the last element of row 0 if n > 7 and k is no multiple of 16.
cudaError_t multiply_wrongly(const assay::Gemm&, cudaStream_t);

assay::Entry host_entry(Launch, const assay::Needs& = {}, const assay::Tile& = {});

// A claim that answers as `judge` does, whatever the variant.
assay::Claim claim_that(assay::Verdict (*judge)(const assay::Entry&, const assay::Case&, int));

// What is registered and can run here, without what was planted.
std::vector<assay::Entry> ladder();

// Why `entry` refuses the case as it would lie in memory; empty if it accepts it.
std::string refusal_of(const assay::Entry& entry, const assay::Case&);

}  // namespace assay_test
