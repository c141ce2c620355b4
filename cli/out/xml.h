// Text as XML takes it.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Text for an attribute or between tags. What XML cannot hold, even escaped, becomes \x1b.
std::string escaped(std::string_view text);

// Text that keeps its lines as they are.
std::string escaped_lines(const std::string& text);

}  // namespace assay
