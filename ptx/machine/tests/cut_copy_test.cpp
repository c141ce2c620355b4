// A copy of fewer bytes than it writes, as a kernel makes it at the end of a row.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Thread 0 copies 12 of 16 bytes, or that many, from the byte of this number on; four threads show
// them.
WrittenKernel copying_from(int byte, const char* bytes = "12") {
  return WrittenKernel(fmt::format(
      "mov.u32 %r3, tile; setp.ne.u32 %p1, %t, 0; @%p1 bra $copied; cp.async.cg.shared.global "
      "[%r3], [%out+{}], 16, {}; $copied: cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;"
      "shl.b32 %r2, %t, 2; add.s32 %r3, %r3, %r2; ld.shared.u32 %r1, [%r3]; cvt.u64.u32 %rd1, %r2; "
      "add.s64 %rd2, %out, %rd1; st.global.u32 [%rd2+2048], %r1;",
      byte, bytes));
}

TEST(CutCopy, fills_up_with_zeros) {
  WrittenKernel kernel = copying_from(16);
  for (unsigned n = 0; n < kernel.words.size(); ++n) kernel.words[n] = n;
  EXPECT_EQ(text_of(kernel.run(4)), "");
  for (unsigned t = 0; t < 4; ++t) EXPECT_EQ(kernel.words[512 + t], t < 3 ? 4 + t : 0);
}

TEST(CutCopy, is_aligned_as_a_whole_one) {
  EXPECT_THAT(text_of(copying_from(24).run(4)),
              AllOf(HasSubstr("reads 12 bytes"), HasSubstr("8 bytes past a multiple of 16")));
}

TEST(CutCopy, cannot_read_more_than_it_writes) {
  EXPECT_EQ(text_of(copying_from(16, "%t").run(4)), "") << "none";
  for (const char* const bytes : {"17", "-4"})
    EXPECT_THAT(text_of(copying_from(16, bytes).run(4)),
                HasSubstr("the size of the source is negative, or too large"));
}

}  // namespace
}  // namespace ptx::tests
