// How a command ends: its exit code, and the last lines that it prints.
#pragma once

#include <string>

#include "cli/out/table.h"

namespace assay {

// The exit status of `assay`. Scripts rely on it: a number never changes its meaning.
enum class ExitCode : int {
  passed = 0,  // something was judged, and everything that was judged passed
  wrong = 1,   // a variant is wrong, or got worse
  bad_input = 2,
  undecided = 3,
  unfit_environment = 4,
  no_baseline = 5,
  nothing_judged = 77,  // CTest shows it as skipped
};

struct Conclusion {
  ExitCode code;
  std::string word;      // PASS, FAIL, UNFIT, NOTHING JUDGED, ...
  std::string sentence;  // why
  std::string next;      // the command to run next, if any

  std::string text() const { return word + ": " + sentence; }
};

// "PASS: ...", and below it "next: ..." if there is a next command.
std::string conclusion_text(const Conclusion&, const Screen&);

}  // namespace assay
