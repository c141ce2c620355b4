// malloc and free in kernels: what they give, and what is seen of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx/machine/memory.h"
#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Thread 0 allocates 64 bytes, and all use them behind a barrier: each writes its number to its
// word and reads it again, and thread 0 frees them.
std::string heap(const std::string& barrier_before_use, const std::string& barrier_before_free,
                 const std::string& behind = "") {
  const auto call_free =
      std::string("{ .param .b64 param0; st.param.b64 [param0], %rd3; call.uni free, (param0); }");
  return "setp.ne.u32 %p1, %t, 0; mov.u32 %r9, tile; @%p1 bra $given;"
         "{ .param .b64 param0; .param .b64 retval0; st.param.b64 [param0], 64; call.uni "
         "(retval0), malloc, (param0);"
         "ld.param.b64 %rd2, [retval0]; } st.shared.u64 [%r9], %rd2; $given: " +
         barrier_before_use +
         "ld.shared.u64 %rd3, [%r9]; mul.wide.u32 %rd4, %t, 4; add.s64 %rd5, %rd3, %rd4;"
         "st.u32 [%rd5], %t; ld.u32 %r1, [%rd5];" +
         store_r1 + barrier_before_free + "@%p1 bra $done;" + call_free + behind + "$done:";
}
const char* const of_heap =
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n";

TEST(Heap, gives_memory_until_it_is_freed) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(heap("bar.sync 0;", "bar.sync 0;"), of_heap);
    EXPECT_EQ(text_of(kernel.run(16, settings)), "");
    EXPECT_EQ(kernel.words[15], 15u);
    EXPECT_EQ(kernel.memory().bytes_of_heap(), 0u);
  }
}

TEST(Heap, is_watched_as_all_memory_is) {
  const auto found = [](const std::string& body, unsigned threads = 16) {
    return text_of(WrittenKernel(body, of_heap).run(threads));
  };
  const std::string sync = "bar.sync 0;";
  EXPECT_THAT(found(heap(sync, "")), AllOf(StartsWith("data race"), HasSubstr("frees")));
  EXPECT_THAT(found(heap(sync, sync), 17),
              HasSubstr("0 bytes past the end of memory of 64 bytes of the kernels' heap"));
  EXPECT_THAT(found(heap(sync, sync, "st.u32 [%rd5], 1;")),
              HasSubstr("in memory of 64 bytes of the kernels' heap, which has been freed"));
  EXPECT_THAT(found(heap(sync, sync,
                         "{ .param .b64 param0; st.param.b64 [param0], %rd3;"
                         "call.uni free, (param0); }")),
              HasSubstr("frees memory that is free already"));
  EXPECT_THAT(found("{ .param .b64 param0; st.param.b64 [param0], %out;"
                    "call.uni free, (param0); }"),
              HasSubstr("frees what malloc of a kernel did not give"));
  const std::string reads_unset =
      "add.s64 %rd6, %rd3, 60; ld.u32 %r2, [%rd6];"
      "setp.eq.u32 %p2, %r2, 1; @%p2 trap;";
  EXPECT_THAT(found(heap(sync, reads_unset + sync), 2),
              StartsWith("use of an uninitialised value"));
}

TEST(Heap, gives_none_where_it_is_used_up) {
  const auto first_word = [](Memory& memory, WrittenKernel& kernel) {
    memory.set_heap(200);
    EXPECT_EQ(text_of(kernel.run(2)), "");
    return kernel.words[0];
  };
  const std::string two =
      "{ .param .b64 param0; .param .b64 retval0; st.param.b64 [param0], 100;"
      "call.uni (retval0), malloc, (param0); ld.param.b64 %rd2, [retval0]; }"
      "setp.ne.u64 %p1, %rd2, 0; vote.sync.ballot.b32 %r1, %p1, 3;" +
      std::string(store_r1);
  WrittenKernel kernel(two, of_heap);
  EXPECT_EQ(first_word(kernel.memory(), kernel), 1u) << "one of the two lanes gets some";
  EXPECT_GT(kernel.memory().bytes_of_heap(), 100u) << "it stays from launch to launch";
  EXPECT_EQ(first_word(kernel.memory(), kernel), 0u);
  kernel.memory().release_heap();
  EXPECT_EQ(first_word(kernel.memory(), kernel), 1u);
}

// Each block of one thread has 64 bytes, for as long as it runs, and stores 1 if it got them.
// `before`: what it does before that.
int blocks_that_get_some(std::size_t bytes_of_heap, std::uint64_t fit, const Settings& settings,
                         std::string* text, const std::string& before = "") {
  WrittenKernel kernel(
      "mov.u32 %t, %ctaid.x;" + before +
          "{ .param .b64 param0; .param .b64 retval0; st.param.b64 [param0], 64; call.uni "
          "(retval0), malloc, (param0); ld.param.b64 %rd2, [retval0]; }"
          "setp.ne.u64 %p1, %rd2, 0; selp.u32 %r1, 1, 0, %p1;" +
          store_r1 +
          "{ .param .b64 param1; st.param.b64 [param1], %rd2; call.uni free, (param1); }",
      of_heap);
  kernel.memory().set_heap(bytes_of_heap);
  kernel.fit_on_device = fit;
  const Outcome outcome = kernel.run(1, settings, 30);
  EXPECT_EQ(text_of(outcome), "");
  EXPECT_EQ(kernel.memory().bytes_of_heap(), 0u);
  *text = outcome.heap_used_up;
  return static_cast<int>(std::count(kernel.words.begin(), kernel.words.end(), 1u));
}

TEST(Heap, gives_none_where_blocks_that_may_run_at_a_time_use_it_up) {
  const std::size_t piece = 64 + 16;
  std::string text;
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(blocks_that_get_some(10 * piece, 10, settings, &text), 30);
    EXPECT_EQ(text, "");
    EXPECT_LT(blocks_that_get_some(10 * piece, 11, settings, &text), 30);
    EXPECT_THAT(text, AllOf(StartsWith("malloc gave nothing to thread"),
                            HasSubstr("the kernels' heap has 800 bytes, and 11 blocks that may")));
    EXPECT_EQ(blocks_that_get_some(29 * piece, 1000, settings, &text), 29);
    EXPECT_EQ(blocks_that_get_some(30 * piece, 1000, settings, &text), 30);
    // Who takes turns by an atomic operation need not have it at a time.
    EXPECT_EQ(blocks_that_get_some(10 * piece, 1000, settings, &text,
                                   "add.s64 %rd8, %out, 4000; atom.global.add.u32 %r9, [%rd8], 1;"),
              30);
  }
}

TEST(Heap, gets_back_what_a_launch_leaves_that_does_not_end) {
  WrittenKernel kernel(heap("bar.sync 0;", ""), of_heap);
  EXPECT_THAT(text_of(kernel.run(16)), StartsWith("data race"));
  EXPECT_EQ(kernel.memory().bytes_of_heap(), 0u);
}

// It is remembered, to be named, as long as that takes little.
TEST(Heap, may_be_used_a_thousand_times_in_a_launch) {
  WrittenKernel kernel(
      "mov.u32 %r2, 0; $again: { .param .b64 param0; .param .b64 retval0;"
      "st.param.b64 [param0], 5000; call.uni (retval0), malloc, (param0);"
      "ld.param.b64 %rd2, [retval0]; } { .param .b64 param1; st.param.b64 [param1], %rd2;"
      "call.uni free, (param1); } add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000;"
      "setp.eq.u64 %p2, %rd2, 0; @%p2 trap; @%p1 bra $again;",
      of_heap);
  EXPECT_EQ(text_of(kernel.run(4)), "");
  EXPECT_EQ(kernel.memory().bytes_of_heap(), 0u);
  EXPECT_LT(kernel.memory().contents().heap.freed.size(), 300u);
}

}  // namespace
}  // namespace ptx::tests
