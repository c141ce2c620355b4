// Parts of C that some blocks of a grid have written, each with what it is the product of.
#pragma once

#include <vector>

#include "oracle/operands.h"

namespace assay {

struct Part {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
};

// All elements that are not what they were before: one part for equal columns of consecutive rows.
std::vector<Part> changed_parts(const Image& before, const Image& after);

// The problem whose C is that part, packed.
Case case_of(const Case&, const Part&);
Image image_of(const Image&, const Part&);
Operands operands_of(const Operands&, const Part&);

}  // namespace assay
