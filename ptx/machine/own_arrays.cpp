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

}  // namespace ptx
