// Drives a comparison the other way where no one input alone does: several conditions that must
// hold at once, or a sum of them.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/aims/knowledge.h"

namespace assay {

// Values that the variant compares with, and so may wait for.
struct Constants {
  std::vector<std::int64_t> whole;
  std::vector<float> floats;
};

// Starts from the case that reached the comparison first, changes one thing after the other, and
// keeps what brings its values closer together. The cases in which it went the other way: the one
// that was found, and others that hold what it takes; none if it gave up.
std::vector<Case> climb(Knowledge&, const void* where, const Constants&);

}  // namespace assay
