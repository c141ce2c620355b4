// Counts the instructions of machine code by kind.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace assay {

// The kinds that a reader looks for, memory accesses by width: LDS, LDS.64, LDS.128. Empty for an
// architecture whose encoding is not known here. Throws BadInput for a piece of an instruction.
std::map<std::string, int> count_instructions(std::string_view code, int architecture);

}  // namespace assay
