// What warps ask for by setmaxnreg, and what their block has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;

// Of 16 warps four give up registers, down to 40, and the others take `more`, where the machine
// code has `each` for a thread.
std::string found(const char* more, int each) {
  Module module = read(std::string(R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry kernel() {
.reg .pred %p1; .reg .b32 %t;
mov.u32 %t, %tid.x; setp.ge.u32 %p1, %t, 128; @%p1 bra $other;
setmaxnreg.dec.sync.aligned.u32 40; bra.uni $done;
$other: setmaxnreg.inc.sync.aligned.u32 )") +
                       more + "; $done: bar.sync 0; ret; }");
  for (Function& function : module.functions) function.registers_of_thread = each;
  Memory memory;
  const Program program(std::move(module), memory);
  return text_of(
      run({.kernel = program.kernel("kernel"), .grid = {2}, .block = {512}}, memory, {}));
}

TEST(Registers, are_no_more_than_the_block_began_with) {
  EXPECT_EQ(found("152", 128), "");
  EXPECT_THAT(found("160", 128),
              HasSubstr("want 66560 registers by setmaxnreg, and the block began "
                        "with 65536: some wait for ever"));
  for (const int each : {0, 40, 120}) EXPECT_EQ(found("160", each), "") << "ptxas drops it";
}

}  // namespace
}  // namespace ptx::tests
