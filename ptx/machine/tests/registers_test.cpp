// What warps ask for by setmaxnreg, and what their block has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;

// What the runs in all orders find, where the machine code gives each thread `each` registers.
std::string found(const std::string& body, unsigned threads, int each) {
  Module module = read(R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry kernel() {
.reg .pred %p1; .reg .b32 %t;
mov.u32 %t, %tid.x; )" +
                       body + " }");
  for (Function& function : module.functions) function.registers_of_thread = each;
  Memory memory;
  const Program program(std::move(module), memory);
  std::string all;
  for (const Settings& settings : all_orders())
    all += text_of(run({.kernel = program.kernel("kernel"), .grid = {2}, .block = {threads}},
                       memory, settings));
  return all;
}

// Of 16 warps four give up registers, down to 40, and the others take `more`.
TEST(Registers, are_no_more_than_the_block_began_with) {
  const auto with = [](const std::string& more, int each) {
    return found(
        "setp.ge.u32 %p1, %t, 128; @%p1 bra $other; setmaxnreg.dec.sync.aligned.u32 40;"
        "bra.uni $done; $other: setmaxnreg.inc.sync.aligned.u32 " +
            more + "; $done: bar.sync 0; ret;",
        512, each);
  };
  EXPECT_EQ(with("152", 128), "");
  EXPECT_THAT(with("160", 128), HasSubstr("want 66560 registers by setmaxnreg, and the block began "
                                          "with 65536: some wait for ever"));
  for (const int each : {0, 40, 120}) EXPECT_EQ(with("160", each), "") << "ptxas drops it";
}

// Of four warps of a group one gives some up, and the others return.
TEST(Registers, are_given_up_by_all_warps_of_a_group) {
  const auto with = [](const std::string& by_others, int each) {
    return found(
        "setp.ge.u32 %p1, %t, 32; @%p1 bra $other; setmaxnreg.dec.sync.aligned.u32 40;"
        "bra.uni $done; $other: " +
            by_others + " $done: ret;",
        256, each);
  };
  const auto missing = HasSubstr(
      "warp 0 executes setmaxnreg, and warp 1 of the same warpgroup "
      "returns without: all four have to");
  EXPECT_THAT(with("", 255), missing);
  EXPECT_EQ(with("", 128), "") << "ptxas drops it";
  EXPECT_EQ(
      with("setp.ge.u32 %p1, %t, 128; @%p1 bra $done; setmaxnreg.dec.sync.aligned.u32 40;", 255),
      "")
      << "another group need not";
}

}  // namespace
}  // namespace ptx::tests
