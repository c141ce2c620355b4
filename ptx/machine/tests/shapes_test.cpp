// Accesses of whole warps at once, against the same accesses lane by lane.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "ptx/machine/memory.h"
#include "ptx/machine/shared_shadow.h"
#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using std::uint32_t;
using testing::HasSubstr;

constexpr int some_lanes[] = {0, 1, 15, 16, 30, 31};

// What a kernel says and leaves behind, once with shapes and once without any, which is the same.
std::string both_ways(const std::string& body, unsigned threads, const Settings& settings) {
  WrittenKernel kernel(body);
  const auto fill = [&] {
    for (uint32_t i = 0; i < kernel.words.size(); ++i) kernel.words[i] = i * 0x9e3779b1u;
  };
  fill();
  const std::string text = text_of(kernel.run(threads, settings));
  const std::vector<uint32_t> left = kernel.words;
  fill();
  kernel.memory().contents().shapes.most = 0;
  EXPECT_EQ(text, text_of(kernel.run(threads, settings))) << body;
  EXPECT_EQ(left, kernel.words) << body;
  return text;
}
std::string thread(int n) { return fmt::format("thread ({},0,0)", n); }

// Thread t's own word of `tile`, in %r4, and of `words`, in %rd2.
constexpr const char* own_words =
    "shl.b32 %r2, %t, 2; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2;\n"
    "mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %out, %rd1;\n";

TEST(Shapes, show_a_race_at_any_lane) {
  for (const int lane : some_lanes) {
    const std::string body = fmt::format(R"({}
st.shared.u32 [%r4], %t; bar.sync 0;
setp.ge.u32 %p1, %t, 32; @%p1 bra $other;
ld.shared.u32 %r1, [%r4]; bra $end;
$other: setp.eq.u32 %p2, %t, 40; @%p2 st.shared.u32 [%r3+{}], %t;
$end:)",
                                         own_words, lane * 4);
    const std::string wrote = both_ways(body, 64, {.order = Order::reverse});
    EXPECT_THAT(wrote, HasSubstr(thread(40) + " of block (0,0,0) writes word " +
                                 std::to_string(lane) + " of tile"));
    EXPECT_THAT(wrote, HasSubstr("which " + thread(lane) + " of block (0,0,0) read"));
    EXPECT_THAT(wrote, HasSubstr("line 22"));
    EXPECT_THAT(wrote, HasSubstr("line 23"));
    const std::string read = both_ways(body, 64, {.order = Order::forward});
    EXPECT_THAT(read, HasSubstr(thread(lane) + " of block (0,0,0) reads word"));
    EXPECT_THAT(read, HasSubstr("which " + thread(40) + " of block (0,0,0) wrote"));
    for (const Settings& settings : all_orders())
      EXPECT_THAT(both_ways(body, 64, settings), HasSubstr("data race"));
  }
}

TEST(Shapes, show_a_race_in_global_memory_at_any_lane) {
  for (const int lane : some_lanes) {
    const std::string body = fmt::format(R"({}
setp.ge.u32 %p1, %t, 32; @%p1 bra $other;
st.global.u32 [%rd2], %t; bra $end;
$other: setp.eq.u32 %p2, %t, 40; @%p2 ld.global.u32 %r1, [%out+{}];
$end:)",
                                         own_words, lane * 4);
    EXPECT_THAT(both_ways(body, 64, {}), HasSubstr(thread(lane) + " of block (0,0,0)"));
    for (const Settings& settings : all_orders())
      EXPECT_THAT(both_ways(body, 64, settings), HasSubstr("data race"));
  }
}

TEST(Shapes, show_an_access_outside_at_any_lane) {
  for (const int lane : some_lanes) {
    const int beyond = 4096 - lane * 4;
    for (const char* access : {"ld.global.u32 %r1, [%rd2+{}];", "st.global.u32 [%rd2+{}], %t;",
                               "ld.shared.u32 %r1, [%r4+{}];", "st.shared.u32 [%r4+{}], %t;"}) {
      const std::string body = own_words + fmt::format(fmt::runtime(access), beyond);
      EXPECT_THAT(both_ways(body, 32, {}), HasSubstr("bad address: " + thread(lane))) << access;
    }
    const std::string before = own_words + fmt::format("ld.global.u32 %r1, [%rd2+{}];", -4 - lane);
    EXPECT_THAT(both_ways(before, 32, {}), HasSubstr("bad address: " + thread(0)));
  }
}

TEST(Shapes, keep_a_row_and_its_neighbour_apart) {
  // Rows of 40 words, 48 apart.
  for (const int lane : some_lanes) {
    for (const bool at_once : {true, false}) {
      WrittenKernel kernel(
          fmt::format("{} ld.global.u32 %r1, [%rd2+{}];", own_words, (40 - lane) * 4));
      if (!at_once) kernel.memory().contents().shapes.most = 0;
      kernel.rows = {4, 160, 192};
      const std::string text = text_of(kernel.run(32));
      EXPECT_THAT(text, HasSubstr(thread(lane) + " of block (0,0,0) reads 4 bytes"));
      EXPECT_THAT(text, HasSubstr("0 bytes past the end of row 0"));
    }
  }
}

TEST(Shapes, show_a_word_that_nobody_wrote_at_any_lane) {
  for (const int lane : some_lanes) {
    const std::string body = fmt::format(
        "{} setp.ne.u32 %p1, %t, {}; @%p1 st.shared.u32 [%r4], %t; bar.sync 0;\n"
        "ld.shared.u32 %r1, [%r4]; st.global.u32 [%rd2], %r1;",
        own_words, lane);
    for (const Settings& settings : all_orders())
      EXPECT_THAT(
          both_ways(body, 32, settings),
          HasSubstr(thread(lane) + " of block (0,0,0) leaves in memory a value that nobody"));
  }
}

TEST(Shapes, show_a_copy_in_flight_at_any_lane) {
  for (const int lane : some_lanes) {
    const std::string body = fmt::format(R"({}
setp.ne.u32 %p1, %t, {}; @%p1 st.shared.u32 [%r4], %t;
@!%p1 cp.async.ca.shared.global [%r4], [%rd2], 4; cp.async.commit_group; bar.sync 0; bar.sync 0;
ld.shared.u32 %r1, [%r4];)",
                                         own_words, lane);
    for (const Settings& settings : all_orders()) {
      const std::string text = both_ways(body, 32, settings);
      EXPECT_THAT(text, HasSubstr("data race: " + thread(lane) + " of block (0,0,0) reads word"));
      EXPECT_THAT(text, HasSubstr("a wait for the copy is missing"));
    }
  }
}

TEST(Traces, of_earlier_launches_say_nothing) {
  // Block b writes word (b + words[100]) % 3: each time another.
  WrittenKernel kernel(R"(
ld.global.u32 %r1, [%out+400]; mov.u32 %r2, %ctaid.x; add.s32 %r2, %r2, %r1; rem.u32 %r2, %r2, 3;
mul.wide.u32 %rd1, %r2, 4; add.s64 %rd1, %rd1, %out; st.global.u32 [%rd1], %r2;
setp.eq.u32 %p1, %r1, 9; @%p1 st.global.u32 [%out], %r2;)");
  for (std::uint32_t launch = 0; launch < 6; ++launch) {
    kernel.words[100] = launch;
    EXPECT_EQ(text_of(kernel.run(1, {}, 3)), "") << launch;
  }
  kernel.words[100] = 9;
  EXPECT_THAT(text_of(kernel.run(1, {}, 3)), HasSubstr("data race"));
}

TEST(Shapes, show_where_lanes_meet_in_a_word) {
  for (const char* access : {"st.shared.u32 [%r3], %t;", "st.global.u32 [%out], %t;"})
    EXPECT_THAT(both_ways(own_words + std::string(access), 32, {}),
                HasSubstr("data race: " + thread(1)));
}

// Lanes of all kinds of places: `pick` gives the word of each in %r5.
TEST(Shapes, move_what_lane_by_lane_moves) {
  const std::string picks[] = {
      "mov.u32 %r5, %t;",
      "mov.u32 %r5, 4;",
      "shr.u32 %r5, %t, 2; shl.b32 %r5, %r5, 2;",
      "shl.b32 %r5, %t, 2;",
      "and.b32 %r5, %t, 7; shl.b32 %r5, %r5, 2;",
      "mul.lo.s32 %r5, %t, 20; rem.u32 %r5, %r5, 60; shl.b32 %r5, %r5, 2;",
      "sub.s32 %r5, 124, %t; and.b32 %r5, %r5, -4;",
      "ld.global.u32 %r5, [%rd2]; shr.u32 %r5, %r5, 26; shl.b32 %r5, %r5, 2;"};
  const std::string moves[] = {
      "ld.{0}.u32 %r6, [{1}]; mov.u32 %r7, %r6;", "ld.{0}.v2.u32 {{%r6, %r7}}, [{1}];",
      "ld.{0}.v4.u32 {{%r6, %r8, %r9, %r7}}, [{1}]; xor.b32 %r7, %r7, %r8; add.s32 %r7, %r7, %r9;",
      "ld.{0}.u64 %rd9, [{1}]; mov.b64 {{%r6, %r7}}, %rd9;",
      "ld.{0}.u8 %r6, [{1}+1]; ld.{0}.s16 %r7, [{1}+2];"};
  const std::string guards[] = {"", "setp.ne.u32 %p5, %t, 31;", "setp.gt.u32 %p5, %t, 9;",
                                "and.b32 %r10, %t, 5; setp.eq.u32 %p5, %r10, 1;"};
  for (const std::string& pick : picks)
    for (const std::string& move : moves)
      for (const std::string& guard : guards)
        for (const bool shared : {true, false}) {
          const std::string unaligned =
              pick.find("mov.u32 %r5, %t") == 0 ? "shl.b32 %r5, %r5, 2;" : "";
          const std::string body = fmt::format(
              R"({}
shl.b32 %r11, %t, 5; add.s32 %r11, %r11, %r3; mul.wide.u32 %rd8, %t, 32; add.s64 %rd8, %rd8, %out;
ld.global.v4.u32 {{%r12, %r13, %r14, %r15}}, [%rd8]; st.shared.v4.u32 [%r11], {{%r12, %r13, %r14, %r15}};
ld.global.v2.u64 {{%rd5, %rd6}}, [%rd8+16]; st.shared.v2.u64 [%r11+16], {{%rd5, %rd6}}; bar.sync 0;
{} {} shl.b32 %r5, %r5, 2; add.s32 %r16, %r3, %r5; cvt.u64.u32 %rd7, %r5; add.s64 %rd7, %rd7, %out;
mov.u32 %r6, 1; mov.u32 %r7, 2; {} {} bra $skip;
{}
$skip: bar.sync 0; st.global.v2.u32 [%rd8], {{%r6, %r7}};)",
              own_words, pick, unaligned, guard,
              guard.empty() ? "setp.ne.u32 %p5, %t, %t; @%p5" : "@%p5",
              fmt::format(fmt::runtime(move), shared ? "shared" : "global",
                          shared ? "%r16" : "%rd7"));
          EXPECT_EQ(both_ways(body, 32, {}), "") << body;
        }
}

// Copies of all sizes, of whole and of cut sources, that all lanes wait for, or some, or none.
TEST(Shapes, copy_what_lane_by_lane_copies) {
  const std::string sizes[] = {"{0}", "{0}, %r6", "{0}, %p1"};
  const std::string lengths[] = {"mov.u32 %r6, 0;", "and.b32 %r6, %t, 16;", "and.b32 %r6, %t, 7;"};
  const std::string waits[] = {"cp.async.wait_all;",
                               "setp.ne.u32 %p5, %t, 9; @%p5 cp.async.wait_all;",
                               "cp.async.commit_group; cp.async.wait_group 0;",
                               "cp.async.commit_group; cp.async.wait_group 1;"};
  int races = 0;
  for (const int bytes : {4, 8, 16})
    for (const std::string& size : sizes)
      for (const std::string& length : lengths)
        for (const std::string& wait : waits)
          for (const int from : {0, 2048, 2048 + 4}) {
            const std::string body = fmt::format(
                R"({0}
shl.b32 %r8, %t, 4; add.s32 %r9, %r3, %r8; mul.wide.u32 %rd1, %r8, 1; add.s64 %rd2, %out, %rd1;
{1} setp.lt.u32 %p1, %t, 5; setp.eq.u32 %p2, %t, 3; @%p2 bra $wait;
cp.async.c{2}.shared.global [%r9], [%rd2+{3}], {4};
$wait: {5} bar.sync 0; xor.b32 %r8, %r8, 64; add.s32 %r9, %r3, %r8;
@%p2 ld.shared.u32 %r10, [%r9]; st.global.u32 [%rd2], %r10;)",
                own_words, length, bytes == 16 ? "g" : "a", from,
                fmt::format(fmt::runtime(size), bytes), wait);
            races += both_ways(body, 32, {}).find("data race") != std::string::npos ? 1 : 0;
          }
  EXPECT_GT(races, 0);
}

TEST(Shapes, meet_in_the_shadow_what_single_lanes_meet) {
  std::mt19937 random(1);
  const auto draw = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  int runs_taken = 0;
  for (int round = 0; round < 300; ++round) {
    Shapes shapes;
    SharedShadow at_once, by_lane;
    at_once.start(256);
    by_lane.start(256);
    if (round % 2 == 0) {  // all words are written: what is usual then is not looked at
      at_once.land_run(0, 256);
      for (uint32_t word = 0; word < 256; ++word)
        by_lane.land(word, stamp::lanes_of + stamp::copies);
    }
    if (round % 4 >= 2) at_once.ignore_order(), by_lane.ignore_order();
    std::vector<Warp> warps(3);
    struct InFlight {
      const Shape* shape;
      uint32_t word;
      Warp* warp;
    };
    std::vector<InFlight> in_flight;
    for (int i = 0; i < 3; ++i) {
      warps[static_cast<std::size_t>(i)].index = i;
      warps[static_cast<std::size_t>(i)].since_barrier = 1;
      warps[static_cast<std::size_t>(i)].since_sync = 1;
    }
    for (int step = 0; step < 60; ++step) {
      if (draw(8) == 0) {
        at_once.tick(), by_lane.tick();
        at_once.forget_reads();
        for (Warp& w : warps) w.since_barrier = w.since_sync = by_lane.now();
        continue;
      }
      if (draw(8) == 0) {  // a copy is on its way to some words, or lands
        const uint32_t first = draw(200), how = draw(2);
        for (SharedShadow* shadow : {&at_once, &by_lane})
          for (uint32_t word = first; word < first + 3; ++word) {
            if (how == 0) shadow->take_off(word);
            if (how == 1) shadow->land(word, 3);
          }
      }
      if (!in_flight.empty() && draw(4) == 0) {
        const auto [shape, word, warp] = in_flight.back();
        in_flight.pop_back();
        const bool by_engine = draw(2) == 0;
        at_once.land_shape(*warp, *shape, word, by_engine);
        for (uint32_t lane = 0; lane < warp_size; ++lane)
          if ((shape->mask >> lane & 1) != 0)
            by_lane.land(word + shape->offset[lane] / 4,
                         by_engine ? stamp::lanes_of + stamp::copies
                                   : static_cast<uint32_t>(warp->index * warp_size) + lane);
      }
      Warp& w = warps[draw(3)];
      if (draw(8) == 0) {
        w.mask = random() | 1;
        at_once.fence_proxy(w), by_lane.fence_proxy(w);
      }
      if (draw(4) == 0) {  // a copy of many bytes
        const uint32_t first = draw(200), end = first + draw(40);
        const int lane = static_cast<int>(draw(warp_size));
        const auto take_off = [&](SharedShadow& shadow) {
          for (uint32_t word = first; word < end; ++word) {
            SharedShadow::Conflict c;
            if (shadow.unfenced_write(word)) return false;
            if (!shadow.write(w, lane, word, 7, c)) return false;
            shadow.take_off(word);
          }
          return true;
        };
        const bool is_usual = at_once.take_off_run(w, lane, first, end, 7);
        EXPECT_EQ(take_off(by_lane), is_usual);
        EXPECT_TRUE(is_usual || !take_off(at_once));
        runs_taken += is_usual && first != end;
        if (is_usual && draw(2) == 0) {
          at_once.land_run(first, end);
          for (uint32_t word = first; word < end; ++word)
            by_lane.land(word, stamp::lanes_of + stamp::copies);
        }
      }
      const uint32_t first = draw(128), stride = draw(4),
                     mask = draw(3) == 0 ? random() | 1 : all_lanes;
      const bool writes = draw(3) == 0;
      uint32_t at[warp_size];
      for (uint32_t i = 0; i < warp_size; ++i) at[i] = first * 4 + i * stride * 4;
      const Shape* s = shapes.find(at, mask, 4);
      ASSERT_NE(s, nullptr);
      const uint32_t word = (at[s->lead] + static_cast<uint32_t>(s->low)) / 4;
      const auto op = static_cast<uint32_t>(step);
      const bool usual =
          writes ? at_once.write_shape(w, *s, word, op) : at_once.read_shape(w, *s, word, op);
      for (int lane = 0; lane < warp_size; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        const auto one = [&](SharedShadow& shadow) {
          SharedShadow::Conflict c;
          const bool written = writes || shadow.is_written(at[lane] / 4);
          const bool fine = writes ? shadow.write(w, lane, at[lane] / 4, op, c)
                                   : shadow.read(w, lane, at[lane] / 4, op, c);
          return fmt::format("{} {} {} {} {}", written, fine, c.other, c.other_op, c.other_wrote);
        };
        const std::string said = one(by_lane);
        EXPECT_EQ(said, usual ? "true true 0 0 false" : one(at_once));
      }
      if (!writes || !usual || draw(2) != 0) continue;
      at_once.take_off_shape(*s, word);
      for (uint32_t lane = 0; lane < warp_size; ++lane)
        if ((mask >> lane & 1) != 0) by_lane.take_off(word + s->offset[lane] / 4);
      in_flight.push_back({s, word, &w});
    }
  }
  EXPECT_GT(runs_taken, 100);
}

}  // namespace
}  // namespace ptx::tests
