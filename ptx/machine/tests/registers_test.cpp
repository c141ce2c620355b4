// What warps ask for by setmaxnreg, and what their block has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;

// Of two warps the first gives up registers, down to 24, and the other one takes `more`, where the
// machine code has `each` for a thread.
std::string found(const char* more, int each) {
  Module module = read(std::string(R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry kernel() {
.reg .pred %p1; .reg .b32 %t;
mov.u32 %t, %tid.x; setp.ge.u32 %p1, %t, 32; @%p1 bra $other;
setmaxnreg.dec.sync.aligned.u32 24; bra.uni $done;
$other: setmaxnreg.inc.sync.aligned.u32 )") +
                       more + "; $done: bar.sync 0; ret; }");
  for (Function& function : module.functions) function.registers_of_thread = each;
  Memory memory;
  const Program program(std::move(module), memory);
  return text_of(run({.kernel = program.kernel("kernel"), .grid = {2}, .block = {64}}, memory, {}));
}

TEST(Registers, are_no_more_than_the_block_began_with) {
  EXPECT_EQ(found("56", 40), "");
  EXPECT_THAT(found("64", 40), HasSubstr("want 2816 registers by setmaxnreg, and the block began "
                                         "with 2560: some wait for ever"));
  EXPECT_EQ(found("64", 0), "") << "nobody knows";
}

}  // namespace
}  // namespace ptx::tests
