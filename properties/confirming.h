// Confirms a failure in fresh processes: what a report shows must fail again when it is replayed. A
// case that fails only after others shows that something is kept between calls.
#pragma once

#include <functional>
#include <vector>

#include "properties/allowance.h"
#include "properties/claim_result.h"

namespace assay {

// The verdict on the last of some cases, judged one after the other in a fresh process. `right`
// where one before the last fails: then it takes fewer.
using JudgeAfresh = std::function<Verdict(const std::vector<Case>&, double watchdog_seconds)>;

// The same failure with the verdict that the shrunk case gets in a fresh process. If it passes
// there, the original one shrunk again in fresh processes; or, if that passes too, the shortest
// sequence of cases found whose last one fails. `judged_before` are the cases that the process of
// the original one had judged. Once what it may take is spent, which `JudgeAfresh` does, it keeps
// to what it has found.
Failure confirmed(const Failure&, const std::vector<Case>& judged_before, double watchdog_seconds,
                  const std::function<std::vector<Case>(const Case&)>& smaller_cases,
                  const JudgeAfresh&, const Allowance&);

}  // namespace assay
