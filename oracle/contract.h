// The memory contract: a launch changes the elements of C and nothing else.
#pragma once

#include <string>

#include "oracle/finding.h"
#include "oracle/operands.h"

namespace assay {

struct Breach {
  Finding finding;
  std::string words;  // where it wrote; empty if the contract was kept
};

// How a launch broke the contract between `before` and `after`.
Breach contract_breach(const Operands& before, const Operands& after);

bool same_bits(const Image&, const Image&);

}  // namespace assay
