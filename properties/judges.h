// How claims judge a case: by one trial, or by comparing several.
#pragma once

#include <functional>
#include <vector>

#include "oracle/trial.h"
#include "oracle/watched/look.h"

namespace assay {

std::function<Verdict(const Entry&, const Case&, const Resources&)> by_trial(const Plan&);

// A judge that goes on, where another finds nothing wrong, to look at every access of the watched
// build (oracle/watched/look.h): on the CPU executor, where there is one.
std::function<Verdict(const Entry&, const Case&, const Resources&)> with_a_look(
    Forbidden, std::function<Verdict(const Entry&, const Case&, const Resources&)>);

struct Run {
  const char* name;  // "with threads in ascending order"
  Entry entry;
  Case c;
  Plan plan = {};
};

// What it means that two runs differ.
struct Difference {
  Fault fault;
  const char* words;
};

// `right` if all runs of the same case leave the same bits in C, any NaN being as good as another.
// Results that are wrong but the same are for other claims to find; a run that does not come to its
// end is the verdict. Where two runs differ, each is repeated: if one then differs from itself,
// something is kept between launches.
Verdict compare_runs(const std::vector<Run>&, const Difference&, const Resources&);

// `right` if every run is, whatever the bits of the others. Where some runs are right and one is
// wrong, repeated and wrong again, that they differ is what is wrong.
Verdict judge_runs(const std::vector<Run>&, const Difference&, const Resources&);

// The first, or the second of a variant whose bits may differ.
Verdict compare_or_judge(const std::vector<Run>&, const Difference&, const Resources&);

}  // namespace assay
