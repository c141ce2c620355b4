// How claims judge a case: by one trial, or by comparing several.
#pragma once

#include <functional>
#include <vector>

#include "oracle/trial.h"

namespace assay {

std::function<Verdict(const Entry&, const Case&, const Resources&)> by_trial(const Plan&);

struct Run {
  const char* name;  // "with threads in ascending order"
  Entry entry;
  Plan plan = {};
};

// `right` if all runs leave the same bits in C, any NaN being as good as another. Results that are
// wrong but the same are for other claims to find; a run that does not come to its end is the
// verdict.
Verdict compare_runs(const Case&, const std::vector<Run>&, Fault if_they_differ, const Resources&);

// `right` if every run is, whatever the bits of the others.
Verdict judge_runs(const Case&, const std::vector<Run>&, const Resources&);

}  // namespace assay
