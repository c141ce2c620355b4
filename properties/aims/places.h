// Where in the source watched code stands: its comparisons, which of them decide a branch, and any
// one address.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct Place {
  std::string file;  // relative to the root of the sources, or absolute outside it
  int line = 0;
  bool decides_branch = false;  // else its outcome is a value, which others may test
  bool is_in_helper = false;    // such as min: what it decides is for the line that calls it to say
  bool is_given = false;        // it stands beside the file that `assay check` was given
};

// What the library that holds some code shows of it.
struct Code {
  // Every comparison, by the address that the watch has for it, and every call of `min`, `max` or
  // `clamp`, by the address after it.
  std::map<const void*, Place> places;
  std::vector<std::int64_t> variables;  // that outlive a launch: how many bytes each has
  bool makes_floats = false;            // of whole numbers, in lines of the author
};

// One call of objdump; throws std::runtime_error with one sentence where that is missing, or where
// the library cannot be read.
Code code_beside(const void* code);

// The place of the call that returns to `code`, without what it decides; nothing where it cannot be
// known. One call of objdump for each address.
std::optional<Place> place_before(const void* code);

// Whether a kernel's author wrote it: not the helpers of kernels/gemm.h, nor the executor's or the
// system's headers.
bool is_of_the_author(const Place&);

// The text of that line of a file, without the blanks around it; empty if it cannot be read.
std::string source_line(const Place&, int line);

// All of a file; empty where it is not there.
std::string source_of(const std::string& file);

}  // namespace assay
