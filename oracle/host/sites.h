// The lines of source that a finding of the PTX machine is about, with their text.
#pragma once

#include <string>
#include <vector>

#include "ptx/machine/machine.h"

namespace assay {

// A line for each place and for each line that it was inlined at, such as
// "wrote  kernels/tiled.cu:32: b_tile[y][x] = ...". Without the text where the file cannot be read.
std::string text_of(const std::vector<ptx::Site>&);

// The path of a file of source: from the root of ours on, if it lies there.
std::string shown_path(const std::string& file);

}  // namespace assay
