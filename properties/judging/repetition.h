// Whether a variant keeps something between calls that a later call wrongly uses.
#pragma once

#include "oracle/trial.h"

namespace assay {

// `right` if it gives the same bits twice: the second time at other addresses, with other
// neighbours in memory, and after a smaller problem, which comes after this one in turn. Before it,
// at its addresses, lie other numbers, or all but one or two the same, or a problem that differs in
// one size, distance or scalar; or its A lies where the C of a call before did. A tiny problem is
// launched up to 140,000 times by a variant whose variables change from launch to launch, and 5000
// times by one that keeps anything else. No variant takes more memory of the device at each of 40
// launches of the same problem in a row.
Verdict judge_twice(const Entry&, const Case&, const Resources&);

}  // namespace assay
