// Text that is safe to print, whoever wrote it.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// What a kernel throws or a damaged file holds can neither break a line nor send commands to a
// terminal: control characters, and bytes that are not UTF-8, become visible as \x1b.
std::string printable(std::string_view text);

}  // namespace assay
