// Words and lists of words, as messages need them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// "a, b, c"
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

}  // namespace assay
