// Kernels of clusters of two blocks, as a test has them.
#pragma once

#include <string>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {

inline const std::string meet = "barrier.cluster.arrive; barrier.cluster.wait;";

// In a cluster, %r30 is the rank of the block, %r31 that of the other one, %r32 the address of the
// thread's word of the tile, and %r33 the same in the other block; %rd33 is that as a generic
// address.
inline const std::string in_pairs = R"(
mov.u32 %r30, %cluster_ctarank; xor.b32 %r31, %r30, 1;
shl.b32 %r32, %t, 2; mov.u32 %r34, tile; add.s32 %r32, %r34, %r32;
mapa.shared::cluster.u32 %r33, %r32, %r31;
cvt.u64.u32 %rd30, %r32; cvta.shared.u64 %rd31, %rd30; mapa.u64 %rd33, %rd31, %r31;
)";
// The thread leaves %r1 in its word of the block's.
inline const std::string store_of_block = R"(
mov.u32 %r90, %ctaid.x; mov.u32 %r91, %ntid.x; mad.lo.s32 %r92, %r90, %r91, %t;
mul.wide.u32 %rd90, %r92, 4; add.s64 %rd91, %out, %rd90; st.global.u32 [%rd91], %r1;
)";

// What is found in such a kernel; "" if nothing is and `wanted(word)` is what words hold then.
template <class Wanted>
std::string found_in_pairs(const std::string& body, const Settings& settings, const Wanted& wanted,
                           unsigned threads = 64, unsigned blocks = 4) {
  WrittenKernel kernel(in_pairs + body);
  kernel.cluster = {2};
  const Outcome outcome = kernel.run(threads, settings, blocks);
  if (outcome.finding) return text_of(outcome);
  for (unsigned n = 0; n < threads * blocks; ++n)
    if (kernel.words[n] != wanted(n))
      return fmt::format("word {} is {}, not {}", n, kernel.words[n], wanted(n));
  return "";
}
inline std::string found_in_pairs(const std::string& body, const Settings& settings = {},
                                  unsigned threads = 64) {
  WrittenKernel kernel(in_pairs + body);
  kernel.cluster = {2};
  return text_of(kernel.run(threads, settings, 4));
}

}  // namespace ptx::tests
