// What a variable holds at first.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/reader/lexer.h"
#include "ptx/reader/module.h"

namespace ptx {

// Behind the "=" of a variable: {1, 2}, 0f3F800000, generic(table)+8, {0xFF(name), 0xFF00(name)}.
// An array whose first dimension is 0 gets as many elements as stand there.
void read_initial(Lexer&, Variable&, const std::vector<std::uint64_t>& dimensions);

}  // namespace ptx
