// Finds the branch behind which the fault of a failure lies, from how the cases beside it end.
#pragma once

#include <functional>
#include <optional>

#include "properties/aims/branch.h"
#include "properties/claim_result.h"

namespace assay {

// The shrunk case of a failure and its neighbours, each simpler in some way or larger, by how
// `judge` ends. Of those that show other faults it says nothing. Takes about a second at most.
Verdicts verdicts_beside(const ClaimResult& failed,
                         const std::function<Verdict(const Case&, double watchdog_seconds)>& judge);

}  // namespace assay
