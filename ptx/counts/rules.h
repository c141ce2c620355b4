// By which rules one access of a warp costs what it does. With these, counts were those of a
// profiler on an H200; see docs/measured.md. `at` has the addresses of all lanes, `lanes` says
// which of them take part, and each accesses `bytes` bytes.
#pragma once

#include <cstdint>

#include "ptx/machine/warp.h"

namespace ptx {

struct WarpAccess {
  const std::uint64_t (&at)[warp_size];
  std::uint32_t lanes = 0;
  int bytes = 4;
};

// Distinct pieces of 32 bytes that the lanes touch.
int sectors_of(const WarpAccess&);

// What a copy to shared memory loads. Those of 16 bytes a lane load a piece once for each line of
// 128 bytes in shared memory that it goes to.
int copied_sectors_of(const WarpAccess& from, const WarpAccess& to);

// Turns of the shared memory. Accesses of up to 32 bits go as one, those of 64 bits by halves and
// those of 128 by quarters of the warp. Two neighbouring parts go together if in the whole warp
// each lane has the address of its partner by xor 1, or in the whole warp that of its partner by
// xor 2, where the partner takes part. A part takes as many turns as the fullest of 32 banks holds
// distinct words.
int wavefronts_of(const WarpAccess&);

// Lanes that change the same word take their turns too. (Not measured on hardware.)
int atomic_wavefronts_of(const WarpAccess&);

}  // namespace ptx
