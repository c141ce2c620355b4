// Numbers and lists as pages show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

std::string grouped(std::int64_t count);                         // 412,039
std::string counted(std::int64_t count, std::string_view noun);  // 1 case, 412,039 cases
std::string verb(std::int64_t count);                            // is, are
std::string magnitude(std::int64_t count);                       // 9999, 31.2 k, 4.56 M
std::string digits(double value);                                // three that mean something; "-"
std::string change_of(double ratio);                             // +1.23 %
std::string some_of(const std::vector<std::string>&, std::size_t most = 6);  // "a, b and 7 more"

// The number after "m=" in a case's text; 0 without one.
std::int64_t size_in(const std::string& text_of_case, const std::string& name);

// Cut to this number of lines and bytes, with a note on how much is left out.
std::string shortened(std::string_view text, std::size_t lines = 40, std::size_t bytes = 4000);

}  // namespace assay::report
