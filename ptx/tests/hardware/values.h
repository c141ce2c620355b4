// Operands of instructions, drawn so that what is special comes up: NaN of all kinds, infinities,
// denormals, ties, results beside the least and the largest number, integers at their bounds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ptx::hardware {

inline constexpr std::size_t most_operands = 4;

// Of each operand `count` values, one behind the other; they follow from the seed alone.
// A value lies in the low bits of its word.
std::vector<std::uint64_t> draw_operands(const std::string& kinds, std::uint64_t seed,
                                         std::size_t count);

int bits_of_kind(char kind);
bool is_real_kind(char kind);
// Whether a value, or one half of a pair, is a NaN.
bool is_nan(char kind, std::uint64_t bits);
// How many numbers of that kind lie between two, and one more; of pairs the greater distance. 0 if
// one is a NaN, or if these are no real numbers.
std::uint64_t distance(char kind, std::uint64_t a, std::uint64_t b);

}  // namespace ptx::hardware
