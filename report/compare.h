// What became different between two reports: what turned wrong or right, slower or faster, came
// closer to the bound, or is reached or judged no more. Times of two runs are compared only through
// what each run timed beside them: the anchor, or cuBLAS.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace assay::report {

enum class Change { worse, lost, better };  // lost: judged or reached before, and no longer
const char* to_string(Change);

struct Difference {
  Change change;
  std::string what;  // one line
};

struct Comparison {
  std::int64_t in_common = 0;  // claims, cells, times, counts and paths that both are about
  std::vector<Difference> differences;  // the worse ones first
};
Comparison compared(const Report& before, const Report& after);

}  // namespace assay::report
