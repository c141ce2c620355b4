// What a bulk copy to global memory adds to what is there, as cp.reduce.async.bulk does: Op::mode,
// from bit 2 on. Without, it overwrites that.
#pragma once

#include <cstdint>

namespace ptx {

enum class Adds : std::uint8_t {
  nothing,
  floats,
  doubles,
  words,
  pairs_of_words,
  elements  // of a tensor, whose map tells their type
};

}  // namespace ptx
