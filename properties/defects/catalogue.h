// The defect catalogue: which faults are planted in this program, and which claim each must break.
#pragma once

#include <span>

#include "kernels/registry.h"

namespace assay {

struct Defect {
  const char* name;  // of the variant that has it
  const char* claim;
  Backend backend;
  const char* says = "";  // occurs in the verdict
  bool is_large = false;         // shows in cases alone that cost too much to be shrunk
  bool loses_context = false;
  const char* not_planted = "";  // why it could not be
};

// Each defect on each of its backends. Empty in a program that has none.
std::span<const Defect> catalogue();

}  // namespace assay
