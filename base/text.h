// Words, lists of words and dates, as messages and records need them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// "a, b, c"
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

// "1st", "2nd", "13th"
std::string ordinal(std::int64_t number);

// Adds what is not there yet.
template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

// The date in UTC: "2026-11-21"
std::string today();

}  // namespace assay
