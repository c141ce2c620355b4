// The exit status of `assay`. Scripts rely on it: a number never changes its meaning.
#pragma once

namespace assay {

enum class ExitCode : int {
  passed = 0,  // something was judged, and everything that was judged passed
  wrong = 1,   // a variant is wrong, or got worse
  bad_input = 2,
  undecided = 3,
  unfit_environment = 4,
  no_baseline = 5,
  nothing_judged = 77,  // CTest shows it as skipped
};

}  // namespace assay
