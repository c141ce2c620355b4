// `assay codegen`: what it can be asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace assay {

struct CodegenRequest {
  std::vector<std::string> kernels;    // by name, or by the stem of their file; empty means all
  std::vector<std::string> in;         // files; empty means this program
  std::optional<std::string> compare;  // a folder of baselines, with which the code is compared
  std::string commit;                  // compares only with what was accepted at this one
  std::string json;
  std::vector<std::string> arguments;
};

void add_flags(Flags&, CodegenRequest&);

}  // namespace assay
