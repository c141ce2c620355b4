#include <cstddef>

#include "ptx/machine/access.h"

namespace ptx {

void note_own(Warp& w, const Access& a, std::size_t first, std::uint32_t& unwritten) {
  for (int at = 0; at < a.bytes; at += 4) {
    std::uint8_t& written = w.block->local_is_written[(first + static_cast<std::size_t>(at)) / 4];
    if (written == 0 && (a.reads_too || !a.writes)) {
      unwritten |= 1u << at / 4;
      w.last_unwritten = {.op = static_cast<std::uint32_t>(a.op - w.code), .in_own_array = true};
    }
    if (a.writes) written = 1;
  }
}

void unwrite_own(Warp& w, int lane, std::uint64_t address, int bytes) {
  Block& block = *w.block;
  const std::size_t first =
      block.place_in_local(static_cast<std::size_t>(w.index * warp_size + lane), address);
  for (std::size_t at = first; at < first + static_cast<std::size_t>(bytes); at += 4)
    if (at < block.local.size()) block.local_is_written[at / 4] = 0;
}

}  // namespace ptx
