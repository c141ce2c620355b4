// What loads and stores of whole warps share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ptx/machine/access.h"

namespace ptx {

using Reach = std::byte* (*)(Warp&, const Access&, std::uint32_t&);

inline int slot_of_part(const Op* op, const Warp& w, int part) {
  return op->parts == 1 ? op->d : w.lists[op->d + part];
}
// Where all lanes of a warp go: to one place, to one after the other, or anywhere.
enum class Pattern { one_place, row, any };
inline Pattern pattern_of(const std::uint64_t (&at)[warp_size], std::uint64_t bytes) {
  std::uint64_t same = 0, row = 0;
  for (std::uint64_t i = 0; i < warp_size; ++i) {
    same |= at[i] ^ at[0];
    row |= at[i] ^ (at[0] + i * bytes);
  }
  return same == 0 ? Pattern::one_place : row == 0 ? Pattern::row : Pattern::any;
}

// What the active lanes of a warp span.
struct Span {
  std::uint64_t first = ~std::uint64_t{0}, last = 0, all_bits = 0;
};
inline Span span_of(const Warp& w, const std::uint64_t (&at)[warp_size]) {
  Span span;
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const std::uint64_t address = at[std::countr_zero(left)];
    span.first = std::min(span.first, address);
    span.last = std::max(span.last, address);
    span.all_bits |= address;
  }
  return span;
}

}  // namespace ptx
