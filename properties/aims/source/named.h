// Numbers and sizes that the text of a source names, whether a comparison shows them or not.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "oracle/case.h"

namespace assay {

// The whole numbers from 33 to 2^24 in a text of C++, outside comments and strings, each once:
// `509`, `0x1fd`, `1 << 18`; 2^20 for `item >> 20`, and what a `short` cannot hold.
std::vector<std::int64_t> numbers_in(std::string_view source);

// Sides that tiles may have, of 16, 32 and 64, where they stand in a source.
std::vector<int> sides_in(std::string_view source);

// The sizes in texts of a source that hold three numbers, as the keys of a table of plans may:
// "1000x24x72"; and those that stand beside each other in braces or parentheses: {1000, 24, 72, 6}.
// None of which all are less than a least number.
std::vector<Case> cases_in_texts(std::string_view source);
std::vector<Case> cases_in_tables(std::string_view source, std::int64_t least);

// Whether eight numbers or more stand in one pair of braces, in whatever rows: what the sizes of a
// problem may look up.
bool has_table(std::string_view source);

}  // namespace assay
