// Where in the source watched code stands: its comparisons, which of them decide a branch, and any
// one address.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace assay {

struct Place {
  std::string file;  // relative to the root of the sources, or absolute outside it
  int line = 0;
  bool decides_branch = false;  // else its outcome is a value, which others may test
  bool is_in_helper = false;    // such as min: what it decides is for the line that calls it to say
};

// Every comparison in the library that holds `code`, by the address that the watch has for it, and
// every call of `min`, `max` or `clamp`, by the address after it. One call of objdump; throws
// std::runtime_error with one sentence where that is missing, or where the library cannot be read.
std::map<const void*, Place> places_beside(const void* code);

// The place of the call that returns to `code`, without what it decides; nothing where it cannot be
// known. One call of objdump for each address.
std::optional<Place> place_before(const void* code);

// Whether a kernel's author wrote it: not the helpers of kernels/gemm.h, nor the executor's or the
// system's headers.
bool is_of_the_author(const Place&);

// The text of that line of a file, without the blanks around it; empty if it cannot be read.
std::string source_line(const Place&, int line);

}  // namespace assay
