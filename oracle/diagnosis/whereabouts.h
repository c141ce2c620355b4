// Where an address that faulted lies, seen from the operands.
#pragma once

#include <array>
#include <cstddef>

#include "oracle/diagnosis/diagnosis.h"

namespace assay {

// An operand or the workspace in memory; around it lies `fence` bytes that fault.
struct Placed {
  const std::byte* first = nullptr;  // element (0, 0)
  std::int64_t rows = 0, columns = 0, ld = 0;
  bool unreadable = false;  // all of it faults, and `forbidden` bytes from there
};
struct Fences {
  std::ptrdiff_t fence, forbidden;
};

// Such as "the 1st float past the last element of A". Finds an index overflow or a bad address.
Diagnosis whereabouts(const void* address, const ByOperand<Placed>&, const Fences&);

}  // namespace assay
