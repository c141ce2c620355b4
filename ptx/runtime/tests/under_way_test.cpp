// Launches of several streams that are under way at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "ptx/machine/memory.h"
#include "ptx/reader/reader.h"
#include "ptx/runtime/launch/under_way.h"
#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
namespace rt = ptx::runtime;

// By the first thread of the only block. %rd1 is where the words of a launch begin that nobody else
// has, %rd2 where those of all launches do.
std::string kernel(const std::string& body) {
  std::string text =
      ".visible .const .align 4 .b8 factor[16];\n.visible .global .align 4 .f32 total;\n"
      ".visible .global .attribute(.managed) .align 4 .u32 shared_with_host = 3;\n";
  return text +
         ".visible .entry scale(.param .u64 own, .param .u64 all) {\n"
         ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
         "ld.param.u64 %rd1, [own]; ld.param.u64 %rd2, [all]; mov.u32 %r8, %tid.x;\n"
         "setp.ne.u32 %p8, %r8, 0; @%p8 bra $end;\n" +
         body + "\n$end: ret;\n}\n";
}
const std::string delay =
    "mov.u32 %r7, 0; $delay: add.u32 %r7, %r7, 1; setp.lt.u32 %p7, %r7, 3000; @%p7 bra $delay;";
// How many launches began, itself included, until it ended.
const std::string count_begun =
    "red.global.add.u32 [%rd2], 1; ld.relaxed.gpu.global.u32 %r1, [%rd2];" + delay +
    "ld.relaxed.gpu.global.u32 %r2, [%rd2]; sub.u32 %r2, %r2, %r1;"
    "add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;";

struct Asked {
  Order order = Order::shuffled;
  bool meet = true;
  bool in_one_stream = false, by_event = false, cooperative = false;
  int launches = 2;
  // How the host waits: at "stream", or by a "copy" of the second's words, in its stream or in the
  // "other"; else the observation ends.
  const char* ends = "";
};
struct Seen {
  std::vector<std::uint32_t> own;  // the first word of each launch
  std::string finding;
};

// Two launches that nothing orders, unless asked for.
Seen launch_two(const std::string& body, std::uint64_t seed, const Asked& asked = {}) {
  Library library({}, kernel(body));
  std::vector<std::uint32_t> words(64), copied(64);
  const auto at = [&](std::size_t n) { return reinterpret_cast<std::uint64_t>(&words[n]); };
  for (const std::size_t n : {0u, 16u, 32u})
    device_memory().lend(
        {.name = "words", .first = at(n), .row_bytes = 64, .pitch_bytes = 64, .written = true});
  Seen seen;
  Request request{.settings = {.order = asked.order, .seed = seed}, .meet = asked.meet};
  const Observation observed = observe(request, [&] {
    void *streams[2] = {}, *event = nullptr;
    for (void*& stream : streams) rt::create_stream(&stream, 1, 0);
    rt::create_event(&event, false);
    for (std::size_t i = 0; i < static_cast<std::size_t>(asked.launches); ++i) {
      std::uint64_t own = at(16 * (i % 2 + 1)), all = at(0);
      void* arguments[] = {&own, &all};
      void* const stream = streams[asked.in_one_stream ? 0 : i % 2];
      if (asked.by_event && i == 1) rt::wait_for_event(stream, event);
      rt::launch(&library.scale,
                 {.grid = {1}, .block = {32}, .stream = stream, .cooperative = asked.cooperative},
                 arguments);
      if (asked.by_event && i == 0) rt::record_event(event, stream);
    }
    if (std::string(asked.ends) == "stream")
      for (void* stream : streams) rt::wait_for_stream(stream);
    const bool in_other = std::string(asked.ends) == "other";
    if (in_other || std::string(asked.ends) == "copy")
      rt::copy({.to = copied.data(),
                .from = &words[32],
                .width = 64,
                .direction = rt::Direction::any,
                .stream = streams[in_other ? 0 : 1],
                .waits = true});
    seen.own = {words[16], words[32]};
    rt::destroy_event(event);
    for (void* stream : streams) rt::destroy_stream(stream);
  });
  if (std::string(asked.ends).empty()) seen.own = {words[16], words[32]};
  for (const std::size_t n : {0u, 16u, 32u}) device_memory().forget(at(n));
  if (observed.finding) seen.finding = observed.finding->text;
  rt::take_last_error();
  return seen;
}

// Of many seeds, how many launches had begun when the first one ended.
std::vector<std::uint32_t> begun(const Asked& asked) {
  std::vector<std::uint32_t> all;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Seen seen = launch_two(count_begun, seed, asked);
    EXPECT_THAT(seen.finding, IsEmpty());
    EXPECT_EQ(seen.own[1], 1u) << "nothing begins behind the second";
    all.push_back(seen.own[0]);
  }
  return all;
}

TEST(UnderWay, are_launches_that_nothing_orders) {
  for (const char* ends : {"", "stream", "copy"}) {
    const auto all = begun({.ends = ends});
    EXPECT_THAT(all, Contains(1u)) << ends;
    EXPECT_THAT(all, Contains(2u)) << ends;
  }
}

TEST(UnderWay, is_one_launch_where_something_orders_them_or_nobody_asks) {
  EXPECT_THAT(begun({.meet = false}), Each(1u));
  EXPECT_THAT(begun({.order = Order::forward}), Each(1u));
  EXPECT_THAT(begun({.in_one_stream = true}), Each(1u));
  EXPECT_THAT(begun({.by_event = true}), Each(1u));
}

TEST(UnderWay, are_the_same_ones_for_the_same_seed) { EXPECT_EQ(begun({}), begun({})); }

TEST(UnderWay, find_what_they_do_to_the_same_memory_whoever_was_first) {
  const std::string early = "st.global.u32 [%rd2+8], 1;" + delay;
  const std::string late = delay + "st.global.u32 [%rd2+8], 1;";
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const std::string& body : {early, late, early + "ld.global.u32 %r1, [%rd2+8];"})
      EXPECT_THAT(launch_two(body, seed).finding, HasSubstr("nothing orders the two")) << seed;
}

TEST(UnderWay, are_told_apart_by_bytes_of_words_too) {
  const std::string body = "mov.u32 %r1, 1; st.global.u8 [%rd1+4], %r1;" + delay +
                           "ld.global.u8 %r2, [%rd1+4]; st.global.u8 [%rd2+9], %r2;";
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_THAT(launch_two(body, seed).finding, HasSubstr("nothing orders the two")) << seed;
  const std::string copied = delay + "mov.u32 %r1, 1; st.global.u8 [%rd1+5], %r1;";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(launch_two(copied, seed, {.ends = "other"}).finding, HasSubstr("cudaMemcpy reads"));
    EXPECT_THAT(launch_two(copied, seed, {.ends = "copy"}).finding, IsEmpty());
  }
  const std::string alone = "mov.u32 %r1, 1; st.global.u8 [%rd1+4], %r1;" + delay +
                            "ld.global.u8 %r2, [%rd1+4]; st.global.u8 [%rd1+5], %r2;";
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_THAT(launch_two(alone, seed).finding, IsEmpty()) << seed;
}

TEST(UnderWay, wait_for_each_other_at_locks) {
  const std::string body =
      "$take: atom.global.cas.b32 %r1, [%rd2], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $take;"
      "fence.acq_rel.gpu;" +
      delay +
      "ld.global.u32 %r2, [%rd2+4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd2+4], %r2;"
      "fence.acq_rel.gpu; atom.global.exch.b32 %r1, [%rd2], 0;";
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_THAT(launch_two(body, seed).finding, IsEmpty()) << seed;
}

// Its memory is given back while others run.
TEST(UnderWay, have_a_barrier_of_the_grid_each) {
  const std::string meet =
      "mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd3, {%r2, %r1};"
      "st.global.u32 [%rd3+4], 1; st.global.u32 [%rd1], 1;" +
      delay + "st.global.u32 [%rd3+4], 2;";
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    EXPECT_THAT(launch_two(meet, seed, {.cooperative = true, .launches = 6}).finding, IsEmpty())
        << seed;
}

TEST(UnderWay, end_with_the_first_finding) {
  const std::string body = delay + "mov.u64 %rd3, 64; st.global.u32 [%rd3], 1;";
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const char* ends : {"", "stream", "copy"})
      EXPECT_THAT(launch_two(body, seed, {.ends = ends}).finding, HasSubstr("writes 4 bytes"));
}

// Launches that only take their time.
struct Idle {
  Memory memory;
  const Program program{read(".version 9.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry idle() { .reg .pred %p<9>; .reg .b32 %r<9>;\n" +
                             delay + "ret; }\n"),
                        memory};
  LaunchUnderWay launch() {
    return LaunchUnderWay({.kernel = program.kernel("idle"), .block = {32}}, memory,
                          {.order = Order::shuffled});
  }
};

// What the first one knows of its accesses it goes by until its end.
TEST(UnderWay, keep_their_shapes) {
  Idle idle;
  Shapes& shapes = idle.memory.contents().shapes;
  shapes.most = 1;
  const std::uint64_t one[warp_size] = {0, 4}, other[warp_size] = {0, 8};
  const auto is_room_for_another = [&] { return shapes.find(other, 3, 4) != nullptr; };
  {
    LaunchUnderWay first = idle.launch();
    ASSERT_NE(shapes.find(one, 3, 4), nullptr);
    LaunchUnderWay second = idle.launch();
    EXPECT_FALSE(is_room_for_another());
    for (LaunchUnderWay* launch : {&first, &second}) {
      while (!launch->is_over()) launch->go_on(1000);
      launch->end();
    }
  }
  LaunchUnderWay third = idle.launch();
  EXPECT_TRUE(is_room_for_another());
}

// Whatever one of them throws, such as that memory has run out.
TEST(UnderWay, are_none_after_an_error) {
  Idle idle;
  const auto fail = [](const Outcome&) { throw std::bad_alloc(); };
  runtime::UnderWay under_way;
  for (std::uint64_t pause = 0; pause < 20; ++pause) {
    try {
      under_way.begin({idle.launch(), {{3, 1}}, [](const Outcome&) {}}, {}, pause);
      under_way.begin({idle.launch(), {{4, 1}}, fail}, {}, std::nullopt);
      ADD_FAILURE() << "it was to throw";
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(under_way.empty()) << pause;
    }
    under_way.forget();
  }
}

}  // namespace
}  // namespace ptx::tests
