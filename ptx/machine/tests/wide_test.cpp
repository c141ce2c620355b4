// Registers of 128 bits: moves, loads and stores, and atomic operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string registers =
    ".reg .b128 %w<4>; cvt.u64.u32 %rd1, %t; add.u64 %rd2, %rd1, 100; shl.b64 %rd3, %rd1, 4;"
    "add.u64 %rd3, %rd3, %out;";

TEST(Wide, registers_are_packed_moved_and_unpacked) {
  WrittenKernel kernel(registers +
                       "mov.b128 %w0, {%rd1, %rd2}; mov.b128 %w1, %w0; mov.b128 {%rd4, %rd5}, %w1;"
                       "mov.b128 {_, %rd6}, %w0; sub.u64 %rd6, %rd6, %rd5;"
                       "st.global.v2.u64 [%rd3], {%rd5, %rd4}; st.global.u32 [%rd3+12], %rd6;");
  EXPECT_EQ(text_of(kernel.run(32)), "");
  EXPECT_THAT(std::vector(kernel.words.begin() + 12, kernel.words.begin() + 20),
              ElementsAre(103, 0, 3, 0, 104, 0, 4, 0));
}

TEST(Wide, registers_are_loaded_and_stored) {
  for (const std::string& space : {std::string("global"), std::string("shared")}) {
    const std::string at = space == "global" ? "[%rd3]" : "[%r2]";
    WrittenKernel kernel(registers +
                         ".reg .b128 %v; mov.u32 %r1, tile; shl.b32 %r2, %t, 4;"
                         "add.u32 %r2, %r2, %r1; mov.b128 %w0, {%rd1, %rd2}; st." +
                         space + ".b128 " + at + ", %w0; ld." + space + ".b128 %v, " + at +
                         "; mov.b128 {%rd4, %rd5}, %v;"
                         "add.u64 %rd4, %rd4, %rd5; st.global.u64 [%rd3], %rd4;");
    EXPECT_EQ(text_of(kernel.run(32)), "") << space;
    EXPECT_EQ(kernel.words[4 * 7], 114u) << space;
  }
}

// All threads add (1, 2) to one pair.
const std::string add_by_cas =
    ".reg .b128 %old, %new, %got; ld.relaxed.gpu.global.b128 %got, [%out];"
    "$again: mov.b128 %old, %got; mov.b128 {%rd1, %rd2}, %old; add.u64 %rd3, %rd1, 1;"
    "add.u64 %rd4, %rd2, 2; mov.b128 %new, {%rd3, %rd4};"
    "atom.relaxed.gpu.global.cas.b128 %got, [%out], %old, %new; mov.b128 {%rd5, %rd6}, %got;"
    "setp.ne.u64 %p1, %rd5, %rd1; @%p1 bra $again; setp.ne.u64 %p1, %rd6, %rd2; @%p1 bra $again;";

TEST(Wide, words_are_compared_and_exchanged_as_one) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(add_by_cas);
    EXPECT_EQ(text_of(kernel.run(40, settings, 3)), "");
    EXPECT_THAT(std::vector(kernel.words.begin(), kernel.words.begin() + 4),
                ElementsAre(120, 0, 240, 0));
  }
}

TEST(Wide, words_are_exchanged) {
  WrittenKernel kernel(registers +
                       "mov.b128 %w0, {%rd1, %rd2}; atom.global.exch.b128 %w1, [%out], %w0;"
                       "mov.b128 {%rd4, %rd5}, %w1; st.global.u64 [%rd3+16], %rd4;");
  EXPECT_EQ(text_of(kernel.run(32)), "");
  EXPECT_THAT(std::vector(kernel.words.begin(), kernel.words.begin() + 4),
              ElementsAre(31, 0, 131, 0));
  EXPECT_EQ(kernel.words[4 * 9], 7u) << "what the lane before gave";
}

TEST(Wide, words_that_nobody_orders_are_a_race) {
  WrittenKernel kernel(registers + "mov.b128 %w0, {%rd1, %rd2}; st.global.b128 [%out], %w0;");
  EXPECT_THAT(text_of(kernel.run(32)), HasSubstr("data race"));
}

TEST(Wide, words_lie_at_a_multiple_of_16) {
  for (const char* does :
       {"st.global.b128 [%out+8], %w0;", "atom.global.exch.b128 %w1, [%out+8], %w0;"}) {
    WrittenKernel kernel(registers + "mov.b128 %w0, {%rd1, %rd2};" + does);
    EXPECT_THAT(text_of(kernel.run(1)), HasSubstr("16 bytes")) << does;
  }
}

TEST(Wide, words_are_unset_by_halves) {
  const std::string half =
      ".reg .b64 %unset; mov.b128 %w0, {%unset, %rd1};"
      "mov.b128 {%rd4, %rd5}, %w0; st.global.u64 [%rd3], ";
  EXPECT_EQ(text_of(WrittenKernel(registers + half + "%rd5;").run(1)), "");
  EXPECT_THAT(text_of(WrittenKernel(registers + half + "%rd4;").run(1)), HasSubstr("nobody"));
}

TEST(Wide, words_are_neither_added_nor_counted) {
  WrittenKernel kernel(registers +
                       "mov.b128 %w0, {%rd1, %rd2}; atom.global.add.b128 %w1, [%out], %w0;");
  EXPECT_THAT(text_of(kernel.run(1)), HasSubstr("atom.global.add.b128 is not supported"));
}

}  // namespace
}  // namespace ptx::tests
