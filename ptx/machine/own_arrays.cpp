#include <bit>
#include <cstddef>

#include "ptx/machine/access.h"
#include "ptx/machine/bits/kept.h"

namespace ptx {

void note_own(Warp& w, const Access& a, std::size_t first, std::uint32_t& unwritten) {
  const unsigned bytes = bytes_within_word(a);
  for (int at = 0; at < a.bytes; at += 4) {
    const std::size_t word = (first + static_cast<std::size_t>(at)) / 4;
    std::uint8_t& written = w.block->local_is_written[word];
    if ((bytes & ~unsigned{written}) != 0 && (a.reads_too || !a.writes)) {
      unwritten |= 1u << at / 4;
      note_unwritten_own(w, a, word, at / 4);
    }
    if (a.writes) written |= static_cast<std::uint8_t>(bytes);
  }
}

bool find_in_own(const Op* op, Warp& w, std::uint64_t bytes, bool is_generic, bool writes,
                 std::byte* (&found)[warp_size]) {
  Block& block = *w.block;
  if (block.local_bytes < bytes || bytes % 4 != 0) return false;
  std::uint64_t at[warp_size];
  addresses_of(op, w, at);
  std::size_t place[warp_size];
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::size_t own =
        static_cast<std::size_t>(w.index * warp_size + lane) * block.local_bytes;
    const std::uint64_t base = is_generic ? reinterpret_cast<std::uint64_t>(&block.local[own]) : 0;
    const std::uint64_t offset = at[lane] - base;
    const bool is_aligned = (at[lane] & (bytes - 1)) == 0;  // a power of two
    if (offset > block.local_bytes - bytes || !is_aligned) return false;
    place[lane] = own + offset;
    for (std::size_t word = place[lane] / 4; !writes && word < (place[lane] + bytes) / 4; ++word)
      if (block.local_is_written[word] != SharedShadow::whole) return false;
  }
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    found[lane] = &block.local[place[lane]];
    for (std::size_t word = place[lane] / 4; writes && word < (place[lane] + bytes) / 4; ++word)
      block.local_is_written[word] = SharedShadow::whole;
  }
  return true;
}

}  // namespace ptx
