// How a command ends: its exit code, and the last lines that it prints.
#pragma once

#include <string>

#include "cli/exit_codes.h"
#include "cli/out/table.h"

namespace assay {

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
