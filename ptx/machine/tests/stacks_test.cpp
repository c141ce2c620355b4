// The stack of a thread: how much of it functions that call themselves take, and alloca.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string call(const char* function, const char* n) {
  return fmt::format("{{ .param .b32 in; st.param.b32 [in], {}; call.uni {}, (in); }}", n,
                     function);
}
// It calls `next`, unless n is 0, and has 128 bytes for each call.
std::string down(const char* name, const char* next) {
  return fmt::format(R"(
.func {0}(.param .b32 n) {{ .reg .b32 %r<2>; .reg .pred %p<2>; .local .b8 kept[128];
ld.param.u32 %r1, [n]; st.local.u32 [kept], %r1; setp.eq.u32 %p1, %r1, 0; @%p1 ret;
sub.u32 %r1, %r1, 1; {1} ret; }})",
                     name, call(next, "%r1"));
}
std::string found(const std::string& body, const std::string& functions,
                  std::uint64_t stack = 1024) {
  WrittenKernel kernel(body, functions);
  kernel.stack_of_thread = stack;
  return text_of(kernel.run(1));
}
testing::Matcher<std::string> has(int bytes, int of) {
  return AllOf(StartsWith("bad address: thread (0,0,0)"),
               HasSubstr(fmt::format("has {} bytes or more of arrays on its stack", bytes)),
               HasSubstr(fmt::format("a stack has {} bytes", of)),
               HasSubstr("cudaDeviceSetLimit(cudaLimitStackSize"));
}

TEST(Stack, has_room_for_some_calls_of_a_function_by_itself) {
  const std::string itself = down("down", "down");
  EXPECT_EQ(found(call("down", "7"), itself), "");
  EXPECT_THAT(found(call("down", "8"), itself), has(1152, 1024));
  EXPECT_EQ(found(call("down", "8"), itself, 1152), "");
  EXPECT_EQ(found(call("down", "7") + call("down", "7"), itself), "") << "one after the other";
  EXPECT_THAT(found(".local .b8 own[256]; st.local.u32 [own], 1;" + call("down", "6"), itself),
              has(1152, 1024))
      << "with what the kernel has";
}

TEST(Stack, has_room_for_some_calls_round_about) {
  const std::string both =
      ".func down(.param .b32 n);" + down("there", "down") + down("down", "there");
  EXPECT_EQ(found(call("there", "7"), both), "");
  EXPECT_THAT(found(call("there", "8"), both), has(1152, 1024));
}

// ptxas says how much that is, and a launch sees to it.
TEST(Stack, is_as_large_as_all_functions_need_that_do_not_call_themselves) {
  const std::string other = R"(
.func other(.param .b32 n) { .reg .b32 %r<2>; .local .b8 kept[4000];
ld.param.u32 %r1, [n]; st.local.u32 [kept+3996], %r1; ret; })";
  EXPECT_EQ(found(call("other", "7"), other), "");
  EXPECT_EQ(found(call("other", "7") + call("down", "7"), other + down("down", "down")), "");
  EXPECT_EQ(found(".local .b8 own[4000]; st.local.u32 [own], 1;" + call("down", "7"),
                  down("down", "down")),
            "");
}

TEST(Stack, has_room_for_some_of_alloca) {
  const auto take = [](int bytes) {
    return fmt::format("mov.u64 %rd1, {}; alloca.u64 %rd2, %rd1, 8;", bytes);
  };
  EXPECT_EQ(found(take(512) + take(512), ""), "");
  EXPECT_THAT(found(take(512) + take(520), ""), has(1032, 1024));
  EXPECT_EQ(found(take(512) + take(520), "", 1032), "");
  EXPECT_THAT(found(take(512) + call("down", "4"), down("down", "down")), has(1152, 1024));
  EXPECT_THAT(found(take(5000), ""), has(5000, 1024)) << "whatever the machine has";
}

}  // namespace
}  // namespace ptx::tests
