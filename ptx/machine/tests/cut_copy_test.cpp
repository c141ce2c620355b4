// A copy of fewer bytes than it writes, as a kernel makes it at the end of a row.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

// As cooperative groups copy what is no multiple of their size: the last element several times.
TEST(Copy, that_several_lanes_make_alike_is_one) {
  const auto found = [](const std::string& from) {
    WrittenKernel kernel(
        "mov.u32 %r3, tile; min.u32 %r2, %t, 2; shl.b32 %r2, %r2, 2; add.u32 %r4, %r3, %r2;"
        "cvt.u64.u32 %rd1, %r2; add.s64 %rd2, %out, %rd1;" +
        from +
        "cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.wait_all; bar.sync 0;"
        "ld.shared.u32 %r1, [%r4];" +
        store_r1);
    for (unsigned n = 0; n < kernel.words.size(); ++n) kernel.words[n] = n + 7;
    std::string text = text_of(kernel.run(32));
    for (unsigned t = 0; t < 32 && text.empty(); ++t)
      EXPECT_EQ(kernel.words[t], std::min(t, 2u) + 7) << t;
    return text;
  };
  EXPECT_EQ(found(""), "");
  EXPECT_THAT(found("mul.wide.u32 %rd2, %t, 4; add.s64 %rd2, %out, %rd2;"),
              testing::StartsWith("data race"))
      << "they copy different words to one place";
}

}  // namespace
}  // namespace ptx::tests
