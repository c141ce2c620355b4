// A cell: one variant on one problem, the smallest thing that is timed, gated and accepted. What is
// timed is its kernels, or what a call of `launch` takes on the host.
//
// Its text form is "VARIANT CASE", such as "naive m=1024 n=1024 k=1024", or of the host's time
// "VARIANT host CASE". It is printed, parsed and given to `assay gate time --cell`.
#pragma once

#include <string>
#include <string_view>

#include "oracle/case.h"

namespace assay {

struct Cell {
  std::string variant;
  Case problem;
  bool host = false;  // what a call of `launch` takes there, of any length on the GPU

  bool operator==(const Cell&) const = default;
};

// By the text of the problem, then by variant; the host's time comes last.
bool operator<(const Cell&, const Cell&);

std::string to_string(const Cell&);

// Throws BadInput for text that is not a variant and a case. Does not ask whether there is such a
// variant.
Cell parse_cell(std::string_view text);

}  // namespace assay
