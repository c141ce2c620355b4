// The name that somebody probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// " (did you mean X?)" for the known name nearest to `unknown`, or nothing if none is near.
std::string suggestion(std::string_view unknown, const std::vector<std::string>& known);

}  // namespace assay
