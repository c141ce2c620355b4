// Shrinks cases: sizes towards small, scalars towards 1 and 0, gaps and offsets towards none, the
// fill towards simple ones.
#pragma once

#include <functional>
#include <vector>

#include "properties/allowance.h"
#include "properties/claim_result.h"

namespace assay {

// The next simpler cases, the boldest first.
std::vector<Case> smaller_cases(const Case&);

// Those among them, fitted to the variant, that the claim says something about.
std::vector<Case> smaller_cases(const Case&, const Claim&, const Entry&);

// Goes from a failing case to smaller ones as long as they end with the same status and show the
// same finding, and something is left of what it may take: `judge` spends it. Also ends after half
// a minute, which no failure should take.
Failure shrink(const Case&, const Verdict&, double watchdog_seconds,
               const std::function<std::vector<Case>(const Case&)>& smaller_cases,
               const std::function<Verdict(const Case&, double watchdog_seconds)>& judge,
               const Allowance&);

// Cases with a little more in them, the simplest first: other data, more elements, a longer k.
std::vector<Case> richer_cases(const Case&, const Claim&, const Entry&);

// The same failure with the first of some richer cases whose verdict names the fault, where that of
// the shrunk one does not.
Failure with_a_name(Failure, double watchdog_seconds, const std::vector<Case>& richer,
                    const std::function<Verdict(const Case&, double watchdog_seconds)>& judge);

}  // namespace assay
