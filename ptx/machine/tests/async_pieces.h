// Pieces of kernels that copy asynchronously: where threads find their words, and a barrier.
#pragma once

#include <string>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {

// %r9 is the tile, %r3 the thread's own word there and %r4 its mirror image's in the warp; %rd2 is
// its word in memory.
inline const std::string places = R"(
mov.u32 %r9, tile; shl.b32 %r2, %t, 2; add.s32 %r3, %r9, %r2; sub.u32 %r4, 31, %t; shl.b32 %r4, %r4, 2;
add.s32 %r4, %r9, %r4; cvt.u64.u32 %rd1, %r2; add.s64 %rd2, %out, %rd1;
)";

// Thread 0 makes a barrier at 4000 of the tile for `count` arrivals.
inline std::string make(int count) {
  return fmt::format(
      "mov.u32 %r20, tile; add.s32 %r20, %r20, 4000; setp.ne.u32 %p9, %t, 0; @%p9 bra $made;"
      "mbarrier.init.shared.b64 [%r20], {}; fence.mbarrier_init.release.cluster; $made: bar.sync "
      "0;",
      count);
}
inline std::string wait_for(int parity) {
  return fmt::format(
      "$wait{0}: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], {0}; @!%p2 bra "
      "$wait{0};",
      parity);
}

}  // namespace ptx::tests
