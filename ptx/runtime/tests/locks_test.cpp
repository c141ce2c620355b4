// Two launches under way that take turns by a lock, and those that only seem to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace rt = ptx::runtime;

constexpr const char* take =
    "$take: atom.global.cas.b32 %r1, [%rd1], 0, 1;"
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra $take;";
constexpr const char* give_back = "atom.global.exch.b32 %r1, [%rd1], 0;";
constexpr const char* fence = "fence.acq_rel.gpu;";
constexpr const char* use =
    "ld.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1;"
    "st.global.u32 [%rd1+4], %r2;";

// What is found where two streams each run a kernel of two blocks, whose first threads do this.
// %rd1 is the address of the lock, and what it guards lies behind it.
std::string found(const std::string& body, int launches = 2, const std::string& others = "") {
  std::string text =
      ".visible .const .align 4 .b8 factor[16];\n"
      ".visible .global .align 4 .f32 total;\n"
      ".visible .global .attribute(.managed) .align 4 .u32 shared_with_host = 3;\n";
  for (const auto& [name, does] : {std::pair<std::string, std::string>{"scale", body},
                                   std::pair<std::string, std::string>{"bounded", others}})
    text += ".visible .entry " + name +
            "(.param .u64 to) {\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
            "ld.param.u64 %rd1, [to]; mov.u32 %r8, %tid.x;\n" +
            does + "\nret;\n}\n";
  Library library({}, text);
  const Observation seen = observe({}, [&] {
    void *one = nullptr, *other = nullptr, *memory = nullptr;
    rt::create_stream(&one, 1, 0), rt::create_stream(&other, 1, 0);
    rt::allocate(&memory, 256, rt::Use::device);
    rt::set_memory(memory, 256, 0, 256, 1, one);
    rt::wait_for_stream(one);
    void* arguments[] = {&memory};
    for (int i = 0; i < launches; ++i) {
      const rt::Configuration asked = {
          .grid = {2}, .block = {32}, .stream = i % 2 == 0 ? one : other};
      rt::launch(&library.scale, asked, arguments);
      if (!others.empty()) rt::launch(&library.bounded, asked, arguments);
    }
    rt::synchronize();
    rt::release(memory, rt::Use::device);
    rt::destroy_stream(one), rt::destroy_stream(other);
  });
  rt::take_last_error();
  return seen.finding ? seen.finding->text : "";
}
// By the first thread of a block.
std::string by_one(const std::string& body) {
  return "setp.ne.u32 %p2, %r8, 0; @%p2 bra $x;" + body + "$x:";
}

const std::string right = std::string(take) + fence + use + fence + give_back;

TEST(Locks, order_the_blocks_of_two_launches) {
  EXPECT_THAT(found(by_one(right)), IsEmpty());
  EXPECT_THAT(found(by_one(right), 6), IsEmpty());
}

TEST(Locks, order_nothing_without_fences) {
  const std::string late = std::string(take) + use + fence + give_back;
  EXPECT_THAT(found(by_one(late)), HasSubstr("of memory"));
  const std::string early = std::string(take) + fence + use + give_back;
  EXPECT_THAT(found(by_one(early)), HasSubstr("of memory"));
  const std::string of_block = std::string(take) + fence + use + "fence.acq_rel.cta;" + give_back;
  EXPECT_THAT(found(by_one(of_block)), HasSubstr("of memory"));
}

TEST(Locks, order_no_more_than_what_they_guard) {
  EXPECT_THAT(found(by_one(right + "ld.global.u32 %r2, [%rd1+8]; st.global.u32 [%rd1+8], %r2;")),
              HasSubstr("of memory"));
  EXPECT_THAT(found(by_one("st.global.u32 [%rd1+8], 1;" + right)), HasSubstr("of memory"));
}

TEST(Locks, are_freed_by_releasing_stores_and_not_by_usual_ones) {
  const std::string guarded = std::string(take) + fence + use;
  EXPECT_THAT(found(by_one(guarded + "st.release.gpu.global.u32 [%rd1], 0;")), IsEmpty());
  EXPECT_THAT(found(by_one(guarded + fence + "st.global.u32 [%rd1], 0;")), HasSubstr("of memory"));
}

TEST(Locks, order_what_other_threads_do_between_barriers) {
  const std::string by_all = "setp.ne.u32 %p2, %r8, 0; @%p2 bra $x;" + std::string(take) + fence +
                             "$x: bar.sync 0; setp.ne.u32 %p3, %r8, 7; @%p3 bra $y;" + use +
                             "$y: bar.sync 0; @%p2 bra $z;" + fence + give_back + "$z:";
  EXPECT_THAT(found(by_all), IsEmpty());
}

TEST(Locks, count_though_other_kernels_ran_in_between) {
  EXPECT_THAT(found(by_one(right), 4, "add.u32 %r1, %r8, 1;"), IsEmpty());
}

TEST(Counters, order_no_two_launches) {
  const std::string drawn =
      "atom.global.add.u32 %r1, [%rd1], 1; mov.u32 %r2, %r1;" + std::string(fence);
  EXPECT_THAT(found(by_one(drawn)), HasSubstr("of memory")) << "numbers for both";
  EXPECT_THAT(found(by_one(std::string(use) + fence + "red.global.add.u32 [%rd1], 1;")),
              HasSubstr("of memory"));
}

}  // namespace
}  // namespace ptx::tests
