// `assay accept`: what it can be asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace assay {

struct AcceptRequest {
  std::vector<std::string> variants;  // empty means all that run on a GPU
  std::string baselines;              // the folder
  std::string reason;
  bool move_anchor = false;
  bool dirty = false;  // accept sources that differ from their commit
  int processes = 12;
  std::uint64_t seed = 0;
  std::optional<std::string> unmeasured;  // recipes and machine code only, as those of this commit
  std::string json;
  std::vector<std::string> arguments;
};

void add_flags(Flags&, AcceptRequest&);

}  // namespace assay
