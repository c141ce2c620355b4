// How threads go on, wait for each other, and end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Branch, lets_lanes_go_apart_and_meet_again) {
  // Thread t adds 1, 2, ... t, in a loop of its own length; odd ones then add 1000.
  const std::string body = R"(
mov.u32 %r1, 0; mov.u32 %r2, 0;
$again: setp.ge.u32 %p1, %r2, %t; @%p1 bra $after;
add.s32 %r2, %r2, 1; add.s32 %r1, %r1, %r2; bra $again;
$after: and.b32 %r3, %t, 1; setp.eq.u32 %p2, %r3, 1;
@%p2 add.s32 %r1, %r1, 1000;
)" + std::string(store_r1);
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(body);
    ASSERT_EQ(text_of(kernel.run(70, settings)), "");
    for (unsigned t = 0; t < 70; ++t)
      EXPECT_EQ(kernel.words[t], t * (t + 1) / 2 + t % 2 * 1000) << t;
  }
}

TEST(Mask, names_every_lane_that_takes_part) {
  const std::string shuffle = "shfl.sync.down.b32 %r1, %t, 8, 31, 0xffff;";
  EXPECT_THAT(text_of(WrittenKernel(shuffle + store_r1).run(32)),
              testing::HasSubstr("whose mask 0x0000ffff does not name it"));
  const std::string half = "setp.lt.u32 %p1, %t, 16;";
  EXPECT_EQ(text_of(WrittenKernel(half + "mov.u32 %r1, 0; @%p1 " + shuffle + store_r1).run(32)),
            "");
  const std::string by_halves =
      "selp.b32 %r3, 0xffff, 0xffff0000, %p1; shfl.sync.bfly.b32 %r1, %t, 8, 31, %r3;";
  EXPECT_EQ(text_of(WrittenKernel(half + by_halves + store_r1).run(32)), "");
}

TEST(Branch, goes_by_an_index) {
  WrittenKernel kernel(R"(
and.b32 %r2, %t, 3; mov.u32 %r1, 0;
$list: .branchtargets $a, $b, $c, $d;
brx.idx %r2, $list;
$a: add.s32 %r1, %r1, 1; bra $d;
$b: add.s32 %r1, %r1, 10;
$c: add.s32 %r1, %r1, 100;
$d:
)" + std::string(store_r1));
  ASSERT_EQ(text_of(kernel.run(64)), "");
  const unsigned wanted[] = {1, 110, 100, 0};
  for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(kernel.words[t], wanted[t % 4]);
}

TEST(Call, is_replaced_by_what_it_calls) {
  WrittenKernel kernel(R"(
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %t; call.uni (out), twice_or_nine, (in); ld.param.b32 %r1, [out]; }
)" + std::string(store_r1),
                       R"(
.func (.param .b32 result) twice_or_nine(.param .b32 value) { .reg .b32 %r<3>; .reg .pred %p<2>;
ld.param.b32 %r1, [value]; setp.gt.u32 %p1, %r1, 4; @%p1 bra $nine;
add.s32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret;
$nine: st.param.b32 [result], 9; ret; })");
  ASSERT_EQ(text_of(kernel.run(8)), "");
  for (unsigned t = 0; t < 8; ++t) EXPECT_EQ(kernel.words[t], t > 4 ? 9 : 2 * t);
}

// Fibonacci's numbers, where each level keeps n and an array of its own.
const char* const fibonacci = R"(
.func (.param .b32 result) fibonacci(.param .b32 n);
.func (.param .b32 result) fibonacci(.param .b32 n) { .reg .b32 %r<6>; .reg .pred %p<2>; .local .b32 kept;
ld.param.u32 %r1, [n]; setp.gt.u32 %p1, %r1, 1; @%p1 bra $more; st.param.b32 [result], %r1; ret;
$more: sub.u32 %r2, %r1, 1; st.local.u32 [kept], %r2;
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r2; call.uni (out), fibonacci, (in); ld.param.b32 %r3, [out]; }
ld.local.u32 %r4, [kept]; sub.u32 %r4, %r4, 1;
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r4; call.uni (out), fibonacci, (in); ld.param.b32 %r5, [out]; }
add.u32 %r5, %r5, %r3; st.param.b32 [result], %r5; ret; })";
std::string calls_fibonacci(const char* n) {
  return fmt::format(
      "{{ .param .b32 in; .param .b32 out; st.param.b32 [in], {}; "
      "call.uni (out), fibonacci, (in); ld.param.b32 %r1, [out]; }}{}",
      n, store_r1);
}

TEST(Call, of_itself_keeps_what_each_level_has) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(calls_fibonacci("%t"), fibonacci);
    ASSERT_EQ(text_of(kernel.run(14, settings)), "");
    unsigned before = 1, now = 0;
    for (unsigned t = 0; t < 14; ++t) {
      EXPECT_EQ(kernel.words[t], now) << t;
      now += std::exchange(before, now);
    }
  }
}

TEST(Call, of_two_functions_by_each_other_is_followed) {
  const char* const parity = R"(
.func (.param .b32 result) is_odd(.param .b32 n);
.func (.param .b32 result) is_even(.param .b32 n) { .reg .b32 %r<3>; .reg .pred %p<2>;
ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra $end; sub.u32 %r1, %r1, 1;
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), is_odd, (in); ld.param.b32 %r2, [out]; }
st.param.b32 [result], %r2; ret;
$end: st.param.b32 [result], 1; ret; }
.func (.param .b32 result) is_odd(.param .b32 n) { .reg .b32 %r<3>; .reg .pred %p<2>;
ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra $end; sub.u32 %r1, %r1, 1;
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), is_even, (in); ld.param.b32 %r2, [out]; }
st.param.b32 [result], %r2; ret;
$end: st.param.b32 [result], 0; ret; })";
  WrittenKernel kernel(
      "{ .param .b32 in; .param .b32 out; st.param.b32 [in], %t; call.uni (out), is_even, (in); "
      "ld.param.b32 %r1, [out]; }" +
          std::string(store_r1),
      parity);
  ASSERT_EQ(text_of(kernel.run(32)), "");
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(kernel.words[t], 1 - t % 2);
}

TEST(Call, of_itself_ends_at_a_depth_that_is_said) {
  const char* const down = R"(
.func down(.param .b32 n);
.func down(.param .b32 n) { .reg .b32 %r<2>; .reg .pred %p<2>;
ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 ret; sub.u32 %r1, %r1, 1;
{ .param .b32 in; st.param.b32 [in], %r1; call.uni down, (in); } ret; })";
  const auto from = [&](const char* n) {
    return text_of(WrittenKernel(fmt::format("{{ .param .b32 in; st.param.b32 [in], {}; "
                                             "call.uni down, (in); }}",
                                             n),
                                 down)
                       .run(1));
  };
  EXPECT_EQ(from("39"), "");
  EXPECT_THAT(from("40"), StartsWith("not supported: thread (0,0,0) of block (0,0,0) is 40 calls "
                                     "deep in functions that call themselves"));
}

// Sums in memory from alloca: as often as a function is called, and no deeper than it is.
TEST(Alloca, gives_memory_until_its_function_ends) {
  const char* const twice_the_sum = R"(
.func (.param .b32 result) summed(.param .b32 n) { .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<3>;
ld.param.u32 %r1, [n]; add.u32 %r2, %r1, 1; mul.wide.u32 %rd1, %r2, 4; alloca.u64 %rd2, %rd1, 16;
and.b64 %rd5, %rd2, 15; cvt.u32.u64 %r7, %rd5; mov.u32 %r3, 0; mov.u64 %rd3, %rd2;
$fill: st.local.u32 [%rd3], %r3; add.u64 %rd3, %rd3, 4; add.u32 %r3, %r3, 1;
setp.le.u32 %p1, %r3, %r1; @%p1 bra $fill;
mov.u32 %r4, 0; mov.u32 %r3, 0; mov.u64 %rd3, %rd2;
$sum: ld.local.u32 %r5, [%rd3]; add.u32 %r4, %r4, %r5; add.u64 %rd3, %rd3, 4; add.u32 %r3, %r3, 1;
setp.le.u32 %p1, %r3, %r1; @%p1 bra $sum;
add.u32 %r4, %r4, %r7; st.param.b32 [result], %r4; ret; })";
  WrittenKernel kernel(R"(
mov.u32 %r1, 0; mov.u32 %r6, 0;
$again: { .param .b32 in; .param .b32 out; st.param.b32 [in], %t; call.uni (out), summed, (in); ld.param.b32 %r2, [out]; }
add.u32 %r1, %r1, %r2; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 100; @%p1 bra $again;
)" + std::string(store_r1),
                       twice_the_sum);
  ASSERT_EQ(text_of(kernel.run(32)), "");
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(kernel.words[t], 100 * t * (t + 1) / 2);
}

TEST(Alloca, has_an_end_that_is_said) {
  const auto with = [](const char* bytes) {
    WrittenKernel kernel(
        fmt::format("stacksave.u64 %rd3; mov.u64 %rd1, {}; alloca.u64 %rd2, "
                    "%rd1, 8; stackrestore.u64 %rd3; "
                    "alloca.u64 %rd2, %rd1, 8;",
                    bytes));
    kernel.stack_of_thread = 5000;
    return text_of(kernel.run(1));
  };
  EXPECT_EQ(with("4096"), "");
  EXPECT_THAT(with("4097"), StartsWith("not supported: thread (0,0,0) of block (0,0,0) has taken "
                                       "more than 4096 bytes by alloca"));
}

TEST(Instruction, that_is_not_known_is_named_with_its_line) {
  EXPECT_THAT(text_of(WrittenKernel("tcgen05.fence::before_thread_sync;").run(1)),
              HasSubstr("tcgen05.fence::before_thread_sync is not supported"));
}

TEST(Barrier, waits_for_threads_that_have_not_returned) {
  const std::string some_return =
      "setp.gt.u32 %p1, %t, 40; @%p1 ret; bar.sync 0; mov.u32 %r1, 3;" + std::string(store_r1);
  for (const Settings& settings : all_orders())
    EXPECT_EQ(text_of(WrittenKernel(some_return).run(64, settings)), "");
}

TEST(Barrier, that_some_never_reach_is_found) {
  for (const Settings& settings : all_orders()) {
    EXPECT_THAT(
        text_of(WrittenKernel("setp.lt.u32 %p1, %t, 64; @%p1 bar.sync 1, 96;").run(96, settings)),
        StartsWith("barrier not reached by all threads: thread ("));
    EXPECT_THAT(
        text_of(WrittenKernel(
                    "setp.lt.u32 %p1, %t, 5; @%p1 bra $a; bar.sync 0; bra $b; $a: bar.sync 0; $b:")
                    .run(64, settings)),
        HasSubstr("lanes of one warp wait at two different barriers"));
  }
}

TEST(Barrier, of_some_warps_orders_these) {
  // Warp 0 fills, warps 1 and 2 read; barrier 1 is of 0 and 1 alone.
  const auto body = [](int threads) {
    return fmt::format(R"(
mov.u32 %r3, tile; setp.ge.u32 %p1, %t, 32; @%p1 bra $read;
setp.eq.u32 %p3, %t, 0; @%p3 st.shared.u32 [%r3], 77; bar.arrive 1, {}; bra $end;
$read: setp.ge.u32 %p2, %t, 64; @%p2 bra $end2;
bar.sync 1, {}; ld.shared.u32 %r1, [%r3]; bra $end;
$end2: {}
$end:
)",
                       threads, threads, threads == 64 ? "ld.shared.u32 %r1, [%r3];" : "");
  };
  const std::string only_two = text_of(WrittenKernel(body(64)).run(96, {.order = Order::forward}));
  EXPECT_THAT(only_two, StartsWith("data race"));
  EXPECT_EQ(text_of(WrittenKernel(body(64)).run(64)), "");
}

TEST(Warp, exchanges_values) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel sum(R"(
add.s32 %r1, %t, 1;
shfl.sync.down.b32 %r2, %r1, 16, 31, -1; add.s32 %r1, %r1, %r2;
shfl.sync.down.b32 %r2, %r1, 8, 31, -1; add.s32 %r1, %r1, %r2;
shfl.sync.down.b32 %r2, %r1, 4, 31, -1; add.s32 %r1, %r1, %r2;
shfl.sync.down.b32 %r2, %r1, 2, 31, -1; add.s32 %r1, %r1, %r2;
shfl.sync.down.b32 %r2, %r1, 1, 31, -1; add.s32 %r1, %r1, %r2;
)" + std::string(store_r1));
    ASSERT_EQ(text_of(sum.run(32, settings)), "");
    EXPECT_EQ(sum.words[0], 528u);
    WrittenKernel votes(R"(
setp.gt.u32 %p1, %t, 9; vote.sync.ballot.b32 %r2, %p1, -1; redux.sync.max.u32 %r3, %t, -1;
match.any.sync.b32 %r4, %r3, -1; shfl.sync.bfly.b32 %r5|%p2, %t, 1, 31, -1;
and.b32 %r1, %r2, %r4; add.s32 %r1, %r1, %r3; add.s32 %r1, %r1, %r5;
)" + std::string(store_r1));
    ASSERT_EQ(text_of(votes.run(32, settings)), "");
    EXPECT_EQ(votes.words[6], 0xfffffc00u + 31 + 7);
  }
}

TEST(Warp, that_waits_for_lanes_that_never_come_is_found) {
  EXPECT_THAT(text_of(WrittenKernel(R"(
setp.lt.u32 %p1, %t, 16; @%p1 bra $a; bar.sync 0; bra $b;
$a: shfl.sync.idx.b32 %r1, %t, 0, 31, -1; bar.sync 0; $b:)")
                          .run(32)),
              StartsWith("warp-wide operation not reached by all lanes"));
}

TEST(Launch, of_few_threads_is_run_whole_unless_their_code_is_long) {
  constexpr unsigned too_many_to_go_on = (1 << 16) + 1;  // where eight have taken no time
  const auto is_part = [](int operations, unsigned blocks) {
    std::string body = "mov.u32 %r1, 0;";
    for (int i = 0; i < operations; ++i) body += "add.u32 %r1, %r1, %t;";
    return WrittenKernel(body)
        .run(1, {.most_blocks = 8, .threads_run_whole = too_many_to_go_on}, blocks)
        .is_part;
  };
  EXPECT_FALSE(is_part(10, too_many_to_go_on));
  EXPECT_TRUE(is_part(10, too_many_to_go_on + 1));
  EXPECT_TRUE(is_part(1000, too_many_to_go_on));
  EXPECT_FALSE(is_part(1000, 8)) << "no more blocks than are run of any grid";
}

TEST(Launch, may_let_blocks_wait_for_each_other) {
  // Block 0 waits for a word that the last block writes.
  const std::string body = R"(
mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra $tell;
$wait: ld.acquire.gpu.global.u32 %r2, [%out]; setp.eq.u32 %p2, %r2, 0; @%p2 bra $wait;
ld.global.u32 %r3, [%out+4]; st.global.u32 [%out+8], %r3; bra $end;
$tell: setp.ne.u32 %p3, %r1, 9; @%p3 bra $end;
st.global.u32 [%out+4], 5; st.release.gpu.global.u32 [%out], 1;
$end:
)";
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(body);
    EXPECT_EQ(text_of(kernel.run(1, settings, 10)), "");
    EXPECT_EQ(kernel.words[2], 5u);
  }
}

TEST(Launch, does_the_same_for_the_same_seed) {
  const std::string body = "atom.global.add.u32 %r1, [%out+4000], 1;" + std::string(store_r1);
  std::vector<std::vector<std::uint32_t>> seen;
  for (const std::uint64_t seed : {1, 1, 2, 3}) {
    WrittenKernel kernel(body);
    ASSERT_EQ(text_of(kernel.run(512, {.order = Order::shuffled, .seed = seed})), "");
    seen.push_back(kernel.words);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_TRUE(seen[0] != seen[2] || seen[0] != seen[3]) << "another seed, another order";
}

// Each arrival moves the block's time on, of which there is no more than 2^21.
TEST(Time, stands_still_once_it_is_used_up_and_calls_nothing_a_race) {
  const std::string body = R"(
mov.u32 %r20, tile; setp.ne.u32 %p9, %t, 0; @%p9 bra $made;
mbarrier.init.shared.b64 [%r20], 64; $made: bar.sync 0; mov.u32 %r10, 0; mov.u32 %r11, 0;
$loop: mbarrier.arrive.shared.b64 _, [%r20];
$w: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], %r11; @!%p2 bra $w; xor.b32 %r11, %r11, 1;
add.s32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 33000; @%p3 bra $loop;
bar.sync 0; setp.ne.u32 %p3, %t, 63; @%p3 bra $end; mbarrier.inval.shared.b64 [%r20]; $end:)";
  EXPECT_EQ(text_of(WrittenKernel(body).run(64)), "");
}

// Each block but the last waits for the next one.
TEST(Schedule, ends_only_where_blocks_that_are_waited_for_find_room) {
  const std::string body = R"(
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %out, %rd1;
add.s32 %r3, %r1, 1; setp.ge.u32 %p1, %r3, %r2; @%p1 bra $last;
$again: ld.volatile.global.u32 %r4, [%rd2+4]; setp.eq.u32 %p2, %r4, 0; @%p2 bra $again;
$last: st.volatile.global.u32 [%rd2], 1;)";
  for (const Order order : {Order::forward, Order::reverse, Order::shuffled}) {
    WrittenKernel kernel(body);
    kernel.fit_on_device = 20;
    const Outcome outcome = kernel.run(32, {.order = order, .seed = 3}, 20);
    EXPECT_EQ(text_of(outcome), "");
    EXPECT_EQ(outcome.crowd.has_value(), order == Order::forward) << "it is that of a grid";
    if (outcome.crowd) {
      EXPECT_EQ(outcome.crowd->together, 20u);
    }
  }
  WrittenKernel kernel(body);
  kernel.fit_on_device = 19;
  EXPECT_THAT(
      text_of(kernel.run(32, {}, 20)),
      HasSubstr("thread (0,0,0) of block (0,0,0) waits for a block that finds no room: 19 of "
                "the grid's 20 fit on the device together, and all that are there wait"));
}

// Two warps take turns, each of which ends with a wait, in more blocks than find room.
TEST(Schedule, tells_warps_that_wait_for_each_other_from_blocks_that_find_no_room) {
  const std::string body = R"(
mov.u32 %r20, tile; shr.u32 %r1, %t, 5; and.b32 %r2, %t, 31; mov.u32 %r5, 0;
setp.ne.u32 %p1, %t, 0; @%p1 bra $made; st.shared.u32 [%r20], 0; $made: bar.sync 0;
$ask: ld.volatile.shared.u32 %r3, [%r20]; and.b32 %r4, %r3, 1; setp.eq.u32 %p2, %r4, %r1; @%p2 bra $mine;
nanosleep.u32 20; bra $ask;
$mine: bar.warp.sync 0xffffffff; setp.ne.u32 %p3, %r2, 0; @%p3 bra $told;
add.s32 %r3, %r3, 1; st.volatile.shared.u32 [%r20], %r3;
$told: bar.warp.sync 0xffffffff; add.s32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, 200; @%p4 bra $ask;)";
  for (const Order order : {Order::forward, Order::reverse, Order::shuffled}) {
    WrittenKernel kernel(body);
    kernel.fit_on_device = 2;
    EXPECT_EQ(text_of(kernel.run(64, {.order = order, .seed = 3}, 8)), "");
  }
}

// Two of a pair are never far apart, however many there are: so few wait at a time.
TEST(Schedule, takes_blocks_in_another_order_but_not_from_far_away) {
  const std::string body = R"(
mov.u32 %r1, %ctaid.x; atom.global.add.u32 %r2, [%out+4000], 1;
mul.wide.u32 %rd1, %r2, 4; add.s64 %rd2, %out, %rd1; st.global.u32 [%rd2], %r1;)";
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    WrittenKernel kernel(body);
    ASSERT_EQ(text_of(kernel.run(1, {.order = Order::shuffled, .seed = seed}, 900)), "");
    std::vector<std::uint32_t> order(kernel.words.begin(), kernel.words.begin() + 900);
    unsigned farthest = 0, moved = 0;
    for (unsigned n = 0; n < 900; ++n) {
      farthest = std::max(farthest, order[n] > n ? order[n] - n : n - order[n]);
      moved += order[n] != n;
    }
    EXPECT_LT(farthest, 300u) << seed;
    EXPECT_GT(moved, 800u) << seed;
    std::sort(order.begin(), order.end());
    for (unsigned n = 0; n < 900; ++n) ASSERT_EQ(order[n], n) << "each once";
  }
}

// A copy takes longer than the system lets anybody wait at once. What is tried again ends well.
TEST(Wait, for_a_copy_may_be_tried_in_vain) {
  const std::string copy = R"(
mov.u32 %r9, tile; add.u32 %r8, %r9, 1024; setp.ne.u32 %p1, %t, 0; @%p1 bra $made;
mbarrier.init.shared.b64 [%r8], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r8], 128;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%out], 128, [%r8];
$made: bar.sync 0; $again: mbarrier.try_wait.parity.shared.b64 %p2, [%r8], 0;
)";
  const std::string read = "ld.shared.u32 %r1, [%r9];";
  int in_vain = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {  // of all warps alike
    const Settings settings{.order = Order::shuffled, .seed = seed};
    WrittenKernel once(copy + "bar.sync 0;" + read),
        until_it_is_there(copy + "@!%p2 bra $again;" + read);
    const std::string text = text_of(once.run(128, settings));
    in_vain += text.find("a wait for the copy is missing") != std::string::npos;
    EXPECT_EQ(text_of(until_it_is_there.run(128, settings)), "") << seed;
  }
  EXPECT_GT(in_vain, 3);
  EXPECT_LT(in_vain, 40);
}

}  // namespace
}  // namespace ptx::tests
