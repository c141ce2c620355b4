// The random numbers behind an element: a function of (seed, operand, place) alone.
#pragma once

#include <cstdint>

#include "base/scramble.h"
#include "oracle/operands.h"

namespace assay {

// The key of row i of a matrix. An element adds its column, and so is a well-mixed function of all.
inline std::uint64_t mix(std::uint64_t seed, Operand o, std::int64_t i) {
  return scramble(scramble(seed * 4 + static_cast<std::uint64_t>(o)) ^
                  static_cast<std::uint64_t>(i));
}
inline std::uint64_t mix(std::uint64_t seed, Operand o, std::int64_t i, std::int64_t j) {
  return scramble(mix(seed, o, i) + static_cast<std::uint64_t>(j));
}

inline float uniform(std::uint64_t random) {  // in [-1, 1], never 0
  return (static_cast<float>(static_cast<std::int32_t>(random >> 41)) + 0.5f) /
             static_cast<float>(1 << 22) -
         1.0f;
}
inline float sign(std::uint64_t random) { return (random >> 63) != 0 ? -1.0f : 1.0f; }

// Numbers that follow from a seed, one after the other: for what a fill chooses once.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(scramble(seed)) {}
  int below(int count) {
    state_ = scramble(state_);
    return static_cast<int>(state_ % static_cast<std::uint64_t>(count));
  }
  std::int64_t from(std::int64_t least, std::int64_t most) {
    state_ = scramble(state_);
    if (most < least) return least;
    return least + static_cast<std::int64_t>(state_ % static_cast<std::uint64_t>(most - least + 1));
  }
  template <class T, std::size_t n>
  T of(const T (&values)[n]) {
    return values[below(static_cast<int>(n))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace assay
