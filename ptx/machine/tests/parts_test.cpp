// Threads that share a word: each has some of its bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Thread t writes t to the t-th 16 bits of shared or global memory.
const std::string to_shared =
    "mov.u32 %r9, tile; mul.lo.u32 %r2, %t, 2; add.s32 %r3, %r9, %r2; st.shared.u16 [%r3], %t;";
const std::string to_global =
    "mul.wide.u32 %rd1, %t, 2; add.s64 %rd2, %out, %rd1; st.global.u16 [%rd2], %t;";

std::string first_of(const std::string& body, unsigned threads = 64) {
  std::string first;
  for (const Settings& settings : all_orders()) {
    const std::string text = text_of(WrittenKernel(body).run(threads, settings));
    if (first.empty()) first = text;
    EXPECT_EQ(text.empty(), first.empty()) << "in some order only: " << text;
  }
  return first;
}

TEST(Parts, of_a_word_are_written_by_two_threads) {
  EXPECT_EQ(first_of(to_shared), "");
  EXPECT_EQ(first_of(to_global), "");
  EXPECT_EQ(first_of("add.s64 %rd2, %out, 1; st.global.u8 [%rd2], 1; bar.sync 0;" + to_global, 1),
            "");
}

TEST(Parts, are_changed_by_those_who_wrote_them) {
  EXPECT_EQ(first_of(to_shared + "ld.shared.u16 %r4, [%r3]; st.shared.u16 [%r3], %r4;"), "");
  EXPECT_EQ(first_of(to_global + "ld.global.u16 %r4, [%rd2]; st.global.u16 [%rd2], %r4;"), "");
}

TEST(Parts, that_two_threads_write_are_a_race) {
  EXPECT_THAT(first_of(to_shared + "st.shared.u16 [tile+2], 1;"), StartsWith("data race"));
  EXPECT_THAT(first_of(to_global + "st.global.u16 [%out+2], 1;"), StartsWith("data race"));
}

TEST(Parts, make_a_word_for_those_who_wait) {
  const std::string word =
      "mul.lo.u32 %r4, %t, 4; add.s32 %r5, %r9, %r4; setp.lt.u32 %p1, %t, 32;"
      "@%p1 ld.shared.u32 %r1, [%r5]; @!%p1 mov.u32 %r1, 0;";
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(to_shared + "bar.sync 0;" + word + store_r1);
    ASSERT_EQ(text_of(kernel.run(64, settings)), "");
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(kernel.words[t], (2 * t + 1) << 16 | 2 * t);
  }
  EXPECT_THAT(first_of(to_shared + word + store_r1), StartsWith("data race"));
  EXPECT_THAT(first_of(to_shared + "bar.sync 0;" + word + "st.shared.u16 [%r3], 1;"),
              StartsWith("data race"))
      << "the next slice, written too early";
  EXPECT_EQ(first_of(to_shared + "bar.sync 0;" + word + "bar.sync 0; st.shared.u16 [%r3], 1;"), "");
}

TEST(Parts, that_nobody_wrote_are_known) {
  const std::string half =
      "mov.u32 %r9, tile; st.shared.u16 [%r9], 7; bar.sync 0; ld.shared.u16 %r1, [%r9+2];";
  EXPECT_THAT(text_of(WrittenKernel(half + store_r1).run(1)), HasSubstr("that nobody wrote"));
  EXPECT_EQ(text_of(WrittenKernel(half + "ld.shared.u16 %r1, [%r9];" + store_r1).run(1)), "");
}

}  // namespace
}  // namespace ptx::tests
