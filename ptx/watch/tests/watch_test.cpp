// What is seen of comparisons.
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

Watched watched(const std::string& body, unsigned threads, std::uint64_t most = 1 << 20) {
  WrittenKernel kernel(body);
  const Outcome outcome = kernel.run(threads, {.most_watched = most});
  EXPECT_TRUE(outcome.watched);
  return outcome.watched.value_or(Watched{});
}

TEST(Watch, sees_values_and_both_ways) {
  const Watched seen = watched("setp.lt.u32 %p1, %t, 5; @%p1 st.global.u32 [%out], %t;", 8);
  ASSERT_EQ(seen.comparisons.size(), 1u);
  const Comparison& c = seen.comparisons[0];
  EXPECT_TRUE(c.was_true && c.was_false);
  EXPECT_TRUE(c.with_constant);
  EXPECT_EQ(c.constant, 5);
  EXPECT_EQ(c.least, 0);
  EXPECT_EQ(c.greatest, 7);
  EXPECT_EQ(c.below, -1);
  EXPECT_EQ(c.above, 1);
  EXPECT_TRUE(c.equal);
  EXPECT_EQ(seen.calls, 8u);
  EXPECT_EQ(seen.threads, 8u);
}

TEST(Watch, counts_only_lanes_that_come_by) {
  const Watched seen = watched(
      "setp.ge.s32 %p1, %t, 4; @%p1 bra $done; mov.s32 %r1, -3; setp.eq.s32 %p2, %r1, %t;"
      "@%p2 trap; $done:",
      8);
  ASSERT_EQ(seen.comparisons.size(), 2u);
  const Comparison& c = seen.comparisons[1];
  EXPECT_FALSE(c.with_constant);
  EXPECT_EQ(c.least, -3);
  EXPECT_EQ(c.greatest_other, 3) << "lanes 4 to 7 went another way";
  EXPECT_TRUE(c.was_false && !c.was_true);
  EXPECT_EQ(c.first_call, 9u);
}

TEST(Watch, sees_floats_also_behind_guards_and_joined_with_others) {
  const Watched seen = watched(
      "mov.f32 %f1, 0f40200000; setp.lt.u32 %p1, %t, 2; setp.gt.and.f32 %p2, %f1, 0f40000000, %p1;"
      "@%p1 setp.eq.f32 %p3, %f1, 0f40200000;",
      4);
  ASSERT_EQ(seen.comparisons.size(), 3u);
  EXPECT_TRUE(seen.comparisons[1].is_of_floats);
  EXPECT_EQ(seen.comparisons[1].least, 2.5);
  EXPECT_EQ(seen.comparisons[1].above, 0.5);
  EXPECT_TRUE(seen.comparisons[1].was_true && !seen.comparisons[1].was_false)
      << "the comparison, not what it is joined with";
  EXPECT_TRUE(seen.comparisons[2].equal);
}

TEST(Watch, is_the_same_comparison_in_every_launch_and_wherever_the_text_is_read) {
  const std::string text = "setp.lt.u32 %p1, %t, 5; @%p1 st.global.u32 [%out], %t;";
  WrittenKernel kernel(text), again(text);
  const auto where = [](WrittenKernel& any) {
    return any.run(8, {.most_watched = 100}).watched->comparisons.at(0).where;
  };
  EXPECT_EQ(where(kernel), where(kernel));
  EXPECT_EQ(where(kernel), where(again));
}

TEST(Watch, ends_a_kernel_after_so_many) {
  WrittenKernel kernel("$again: setp.lt.u32 %p1, %t, 5; @%p1 bra $again;");
  const Outcome outcome = kernel.run(4, {.most_watched = 1000});
  ASSERT_TRUE(outcome.finding);
  EXPECT_EQ(outcome.finding->fault, Fault::never_ends);
  EXPECT_EQ(outcome.watched->calls, 1000u);
}

TEST(Watch, leaves_nothing_in_the_blocks_of_a_kernel_that_it_ended) {
  WrittenKernel kernel(
      "mov.u32 %r2, tile; ld.global.u32 %r3, [%out+4000]; setp.ne.u32 %p1, %r3, 0; @%p1 bra $next;"
      "st.shared.u32 [%r2], %t; bar.sync 0;"
      "$again: setp.lt.u32 %p2, %r3, 5; @%p2 bra $again;"
      "$next: ld.shared.u32 %r1, [%r2];" +
      std::string(store_r1));
  const Outcome ended = kernel.run(64, {.most_watched = 1000}, 3);
  ASSERT_TRUE(ended.finding);
  EXPECT_EQ(ended.finding->fault, Fault::never_ends);
  kernel.words[1000] = 1;
  const Outcome next = kernel.run(64);
  ASSERT_TRUE(next.finding);
  EXPECT_EQ(next.finding->fault, Fault::uninitialised) << next.finding->text;
}

TEST(Watch, names_no_line_for_what_the_compiler_compares_on_its_own_account) {
  WrittenKernel kernel("\n.loc 1 7 3\nsetp.lt.u32 %p1, %t, 5;\n.loc 1 0 3\nsetp.lt.u32 %p2, %t, 6;",
                       ".file 1 \"written.cu\"");
  const Watched seen = kernel.run(8, {.most_watched = 100}).watched.value();
  ASSERT_EQ(seen.comparisons.size(), 2u);
  ASSERT_EQ(seen.comparisons[0].lines.size(), 1u);
  EXPECT_EQ(seen.comparisons[0].lines[0].line, 7);
  EXPECT_TRUE(seen.comparisons[1].lines.empty());
}

TEST(Watch, sees_one_comparison_where_several_calls_share_it) {
  WrittenKernel kernel(
      "{ .param .b32 n; st.param.b32 [n], 3; call.uni down, (n); } "
      "{ .param .b32 n; st.param.b32 [n], 7; call.uni down, (n); }",
      ".func down(.param .b32 n);\n"
      ".func down(.param .b32 n) { .reg .b32 %r<2>; .reg .pred %p<2>;\n"
      "ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 ret; sub.u32 %r1, %r1, 1;\n"
      "{ .param .b32 in; st.param.b32 [in], %r1; call.uni down, (in); } ret; }");
  const Outcome outcome = kernel.run(1, {.most_watched = 1 << 20});
  ASSERT_TRUE(outcome.watched);
  ASSERT_EQ(outcome.watched->comparisons.size(), 1u);
  EXPECT_EQ(outcome.watched->comparisons[0].least, 0);
  EXPECT_EQ(outcome.watched->comparisons[0].greatest, 7);
  EXPECT_EQ(outcome.watched->calls, 12u);
}

TEST(Watch, is_asked_for) { EXPECT_FALSE(WrittenKernel("ret;").run(4).watched); }

}  // namespace
}  // namespace ptx::tests
