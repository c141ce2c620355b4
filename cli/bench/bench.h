// `assay bench`: what it can be asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace assay {

struct BenchRequest {
  std::vector<std::string> variants;  // empty means all that run on a GPU
  std::vector<std::string> problems;  // empty means the usual ones
  int processes = 3;
  std::uint64_t seed = 0;
  bool warm = false;
  std::string json;
  bool quiet = false;
  std::vector<std::string> arguments;
};

void add_flags(Flags&, BenchRequest&);

}  // namespace assay
