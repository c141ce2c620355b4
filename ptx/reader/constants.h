// Numbers of PTX, and expressions of numbers alone.
#pragma once

#include <cstdint>

#include "ptx/reader/lexer.h"

namespace ptx {

struct Constant {
  std::uint64_t bits = 0;
  int width = 0;  // of a real, 4 or 8; 0: an integer
};

// A number that stands by itself, without a sign.
Constant value_of(const Token& number);

// 12, -3, (1 << 4) + 2, 0f3F800000, 1.5
Constant read_constant(Lexer&);
std::uint64_t read_integer(Lexer&);

// As read_integer, and at most `most`: "line 3: .maxntid takes numbers up to 65536, got ..."
std::uint64_t read_count(Lexer&, std::string_view whose, std::uint64_t most);

// One after the other, as + and - stand before them: "+8", "+-8", "-8". Nothing there is 0.
std::int64_t read_offset(Lexer&);

}  // namespace ptx
