// Which bits of an operation's results nobody wrote.
#pragma once

#include <bit>
#include <cstdint>

#include "ptx/machine/block.h"

namespace ptx {

// Of a lane's value in a slot, the bits that nobody wrote: of a value of 32 bits or less, those
// above mean nothing.
inline std::uint64_t unwritten_of(const Warp& w, int slot, int lane) {
  const auto n = static_cast<std::size_t>(slot);
  if ((w.taint[n] >> lane & 1) == 0) return 0;
  return w.unwritten[n * warp_size + static_cast<std::size_t>(lane)];
}
inline Origin origin_of(const Warp& w, int slot, int lane) {
  const std::size_t n = static_cast<std::size_t>(slot) * warp_size + static_cast<std::size_t>(lane);
  return w.origins.empty() ? Origin{} : w.origins[n];
}
// Sets them. Where there are some, room has to be made before.
void set_unwritten(Warp&, int slot, int lane, std::uint64_t bits);
void make_room_for_unwritten(Warp&);

struct ResultBits {
  std::uint64_t of[warp_size] = {};  // of each lane, if the result is a number; else not 0 or 0
  std::uint32_t whole = 0;           // lanes no bit of whose results is written
};
// Before it runs, and once all lanes are there that it needs. `active`: the lanes that run it;
// `tainted`: those with operands of which somebody did not write all.
ResultBits results_of(const Op*, Warp&, const Uses&, std::uint32_t active, std::uint32_t tainted);

// Whose value each lane is going to get by a shuffle.
void lanes_shuffled_from(const Op*, Warp&, int (&from)[warp_size]);

}  // namespace ptx
