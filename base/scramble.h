// Random numbers that are functions of a seed.
#pragma once

#include <cstdint>

namespace assay {

// splitmix64: every bit of the seed changes about half of the bits.
constexpr std::uint64_t scramble(std::uint64_t seed) {
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
  return seed ^ seed >> 31;
}

}  // namespace assay
