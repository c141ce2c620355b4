// How the bits of a result hang on those of the operands, for following bits that nobody wrote.
#pragma once

#include <cstdint>
#include <string>

namespace ptx {

enum class BitRule : std::uint8_t {
  whole,       // no bit is written unless all of the operands are
  by_place,    // each hangs on one bit at most of each operand
  sum,         // a + b
  difference,  // a - b
  upwards,     // each hangs on bits that lie no higher
  by_halves,   // each hangs on those of the same 16 bits
  order,       // whether a number is less than another one
  equality,
  likeness  // of the lanes' values: bit i of the result is about lane i
};

struct Following {
  BitRule rule = BitRule::whole;
  bool across = false;      // results hang on other lanes' operands, too
  std::uint8_t bits = 32;   // of the numbers that are added or compared
  bool is_signed = false;   // likewise
  std::uint8_t data = 255;  // operands: those behind them say which bits go where
};

// Of a handler, by its name.
Following following_of(const std::string& name);

}  // namespace ptx
