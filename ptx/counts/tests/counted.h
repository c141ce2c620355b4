// Runs kernels written in PTX, and gives what was counted.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {

// The body as WrittenKernel takes it, but %out is a multiple of 128, 900 words may be used, and %a
// is %out + 4 * %t.
inline LaunchCounts counted(const std::string& body, unsigned threads = 32, Settings settings = {},
                            unsigned blocks = 1) {
  settings.counts = true;
  WrittenKernel kernel(
      ".reg .b64 %a; add.s64 %out, %out, 127; and.b64 %out, %out, -128;"
      "mul.wide.u32 %a, %t, 4; add.s64 %a, %a, %out;\n" +
      body);
  const Outcome outcome = kernel.run(threads, settings, blocks);
  EXPECT_FALSE(outcome.finding) << text_of(outcome);
  EXPECT_TRUE(outcome.counts || outcome.finding);
  return outcome.counts.value_or(LaunchCounts{});
}

}  // namespace ptx::tests

namespace ptx {
inline void PrintTo(const GlobalTraffic& t, std::ostream* out) {
  *out << t.requests << " requests, " << t.sectors << " sectors, " << t.accesses << " accesses, "
       << t.bytes_asked << " bytes";
}
inline void PrintTo(const SharedTraffic& t, std::ostream* out) {
  *out << t.instructions << " instructions, " << t.wavefronts << " wavefronts, " << t.accesses
       << " accesses, " << t.bytes_asked << " bytes";
}
}  // namespace ptx
