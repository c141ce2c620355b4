// What is unlike the case in one of its operands: a kernel that keeps something of an earlier call
// may not notice.
#pragma once

#include "oracle/case.h"
#include "oracle/operands.h"

namespace assay {

enum class Altered {
  nothing,
  element_of_a,  // anywhere, is another number
  element_of_b,
  row_of_a,  // two elements of one are swapped
  column_of_a,
  row_of_b,
  column_of_b,
  rows_of_a,  // two of them are swapped
  columns_of_a,
  rows_of_b,
  columns_of_b,
  far_rows_of_a,  // two of them are swapped, a power of 2 apart, as far as there are any
  far_columns_of_a,
  far_rows_of_b,
  far_columns_of_b,
  transposed_a,  // where it is square
  transposed_b,
};

// Anywhere, or in the middle: whoever looks at beginnings and ends does not see it. The places
// follow from the seed.
void alter(Operands&, Altered, const Case&);

}  // namespace assay
