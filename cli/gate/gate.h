// `assay gate`: what it can be asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace assay {

struct GateRequest {
  std::vector<std::string> variants;   // empty means all that have a baseline
  std::string baselines;               // the folder
  std::optional<std::string> cell;     // only this one
  std::optional<std::string> explain;  // only this one, with all its numbers
  std::optional<std::string> against;  // a commit, instead of the stored baselines
  bool all = false;                    // time also what is proven unchanged
  std::uint64_t seed = 0;
  std::string json, markdown, junit;
  bool quiet = false;
  std::vector<std::string> arguments;
};

void add_flags(Flags&, GateRequest&);

}  // namespace assay
