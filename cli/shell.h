// Other programs that a command asks.
#pragma once

#include <string>
#include <vector>

namespace assay {

struct ProgramOutput {
  int code = 0;      // its exit code; 128 and more where a signal ended it
  std::string text;  // of its stdout, without the last line break; stderr is shared with it
};

ProgramOutput output_of(const std::vector<std::string>& words);

}  // namespace assay
