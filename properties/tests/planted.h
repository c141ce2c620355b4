// Host functions with a known behaviour, as variants for the tests of this room. Those that worker
// processes must find are registered, under names that begin with `planted_`.
#pragma once

#include <string_view>
#include <vector>

#include "properties/claims.h"

namespace assay_test {

using assay::Launch;

// Multiplies as a right variant does.
cudaError_t multiply(const assay::Gemm&, cudaStream_t);

// The same, but the last element of row 0 is wrong if n > 7 and k is no multiple of 16.
cudaError_t multiply_wrongly(const assay::Gemm&, cudaStream_t);

assay::Entry host_entry(Launch, const assay::Needs& = {}, const assay::Tile& = {});

// A claim about every variant, which `judge` decides.
assay::Claim claim_that(
    std::function<assay::Verdict(const assay::Entry&, const assay::Case&, const assay::Resources&)>
        judge);

// The claims that a worker of these tests finds: also `planted_resources`, which is right if the
// trial has 7 seconds of watchdog and GPU 5, in a worker.
const assay::Claim& planted_or_claim_named(std::string_view name);

// The registered variants that can run here, without the planted ones.
std::vector<assay::Entry> ladder();

// Why `entry` refuses the case, placed in memory as a trial would; empty if it accepts it.
std::string refusal_of(const assay::Entry& entry, const assay::Case&);

}  // namespace assay_test
