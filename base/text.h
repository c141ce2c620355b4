// Words, lists of words and dates, as messages and records need them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// "a, b, c"
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

// "1st", "2nd", "13th"
std::string ordinal(std::int64_t number);

// The date in UTC: "2026-11-21"
std::string today();

}  // namespace assay
