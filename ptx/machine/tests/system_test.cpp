// What kernels ask of the system: printing, calls through pointers, waiting for each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A call of vprintf with what `arguments` stores at [%rd1].
std::string print(const std::string& arguments) {
  return R"({ .local .align 8 .b8 depot[64]; .param .b64 param0; .param .b64 param1; .param .b32 retval0;
mov.u64 %rd2, depot; cvta.local.u64 %rd1, %rd2; )" +
         arguments + R"(
mov.u64 %rd3, format; cvta.global.u64 %rd4, %rd3; st.param.b64 [param0+0], %rd4;
st.param.b64 [param1+0], %rd1; call.uni (retval0), vprintf, (param0, param1);
ld.param.b32 %r1, [retval0+0]; })";
}
std::string globals(const std::string& format) {
  std::string bytes;
  for (const char c : format) bytes += std::to_string(static_cast<int>(c)) + ", ";
  return ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
         ".global .align 1 .b8 format[] = {" +
         bytes + "0};\n.global .align 1 .b8 word[4] = {97, 98, 99};\n";
}

TEST(Print, formats_as_printf_does) {
  WrittenKernel kernel(
      print("st.local.u32 [%rd2], %t; st.local.f64 [%rd2+8], 0d3FF8000000000000; "
            "mov.u64 %rd5, word; cvta.global.u64 %rd6, %rd5; st.local.u64 "
            "[%rd2+16], %rd6; st.local.u32 [%rd2+24], -1; st.local.u64 "
            "[%rd2+32], -2; st.local.u32 [%rd2+40], 7; st.local.u32 [%rd2+44], 0;"),
      globals("%3d|%-6.2f|%5s|%u|%lld|%*d%%\n"));
  const Outcome outcome = kernel.run(2);
  EXPECT_EQ(text_of(outcome), "");
  // The star takes 7.
  EXPECT_EQ(outcome.printed.substr(0, 45), "  0|1.50  |  abc|4294967295|-2|      0%\n  1|1");
}

TEST(Print, of_what_is_not_there_is_found) {
  WrittenKernel kernel(print("mov.u64 %rd1, 64;"), globals("%d\n"));
  EXPECT_THAT(text_of(kernel.run(1)), StartsWith("bad address"));
}

const std::string two_functions = R"(
.func (.param .b32 result) twice (.param .b32 value);
.func (.param .b32 result) third (.param .b32 value);
.global .align 8 .u64 table[3] = {twice, third};
.func (.param .b32 result) twice (.param .b32 value) { .reg .b32 %r<3>;
ld.param.b32 %r1, [value]; add.s32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret; }
.func (.param .b32 result) third (.param .b32 value) { .reg .b32 %r<3>;
ld.param.b32 %r1, [value]; div.u32 %r2, %r1, 3; st.param.b32 [result], %r2; ret; }
)";
std::string call_entry(const std::string& index) {
  return index + R"(
mul.wide.u32 %rd1, %r2, 8; mov.u64 %rd2, table; add.s64 %rd3, %rd2, %rd1; ld.global.u64 %rd4, [%rd3];
{ .param .b32 param0; .param .b32 retval0; st.param.b32 [param0], %t;
prototype : .callprototype (.param .b32 _) _ (.param .b32 _);
call (retval0), %rd4, (param0), prototype; ld.param.b32 %r1, [retval0]; }
)" + store_r1;
}

TEST(Call, goes_through_a_pointer) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(call_entry("and.b32 %r2, %t, 1;"), two_functions);
    ASSERT_EQ(text_of(kernel.run(64, settings)), "");
    for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(kernel.words[t], t % 2 == 0 ? 2 * t : t / 3) << t;
  }
}

TEST(Call, through_a_pointer_to_nothing_is_found) {
  EXPECT_THAT(text_of(WrittenKernel(call_entry("mov.u32 %r2, 2;"), two_functions).run(32)),
              HasSubstr("calls an address that is no function"));
}

TEST(Call, may_be_guarded) {
  WrittenKernel kernel(R"(
mov.u32 %r1, 5; setp.lt.u32 %p1, %t, 3;
{ .param .b32 param0; .param .b32 retval0; st.param.b32 [param0], %t; st.param.b32 [retval0], 5;
@%p1 call (retval0), twice, (param0); ld.param.b32 %r1, [retval0]; }
)" + std::string(store_r1),
                       two_functions);
  ASSERT_EQ(text_of(kernel.run(8)), "");
  for (unsigned t = 0; t < 8; ++t) EXPECT_EQ(kernel.words[t], t < 3 ? 2 * t : 5);
}

// Lane 0, or block 0, waits for what the last one writes into the last word.
const std::string wait_for_flag =
    "$wait: ld.volatile.global.u32 %r1, [%out+4092]; setp.eq.u32 %p2, %r1, 0; @%p2 bra $wait;";
const std::string set_flag = "st.volatile.global.u32 [%out+4092], 1;";

TEST(Waiting, for_another_lane_of_the_warp_ends) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel("setp.ne.u32 %p1, %t, 0; @%p1 bra $others;" + wait_for_flag +
                         "bra $end; $others: setp.ne.u32 %p3, %t, 31; @%p3 bra $end;" + set_flag +
                         "$end: ");
    EXPECT_EQ(text_of(kernel.run(32, settings)), "");
  }
}

TEST(Waiting, for_another_warp_that_sleeps_ends) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel("setp.ne.u32 %p1, %t, 0; @%p1 bra $others;" + wait_for_flag +
                         "bra $end; $others: setp.ne.u32 %p3, %t, 64; @%p3 bra $end;"
                         "nanosleep.u32 100; " +
                         set_flag + "$end: ");
    EXPECT_EQ(text_of(kernel.run(96, settings)), "");
  }
}

TEST(Waiting, for_a_clock_ends) {
  EXPECT_EQ(text_of(WrittenKernel("mov.u64 %rd1, %clock64; $wait: mov.u64 %rd2, %globaltimer;"
                                  "sub.u64 %rd3, %rd2, %rd1; setp.lt.u64 %p1, %rd3, 1000000;"
                                  "@%p1 bra $wait;")
                        .run(32)),
            "");
}

// What cooperative groups make of grid.sync(), for blocks in a row.
const std::string sync_grid = R"(
mov.u32 %r10, %envreg2; cvt.u64.u32 %rd10, %r10; mov.u32 %r11, %envreg1; cvt.u64.u32 %rd11, %r11;
bfi.b64 %rd12, %rd11, %rd10, 32, 32; setp.ne.s64 %p5, %rd12, 0; @%p5 bra $valid; trap; $valid:
barrier.sync 0; setp.ne.u32 %p6, %t, 0; @%p6 bra $through;
mov.u32 %r12, %nctaid.x; mov.u32 %r13, -2147483647; sub.s32 %r14, %r13, %r12;
mov.u32 %r15, %ctaid.x; setp.eq.u32 %p7, %r15, 0; selp.b32 %r16, %r14, 1, %p7;
add.s64 %rd13, %rd12, 4; atom.add.release.gpu.u32 %r17, [%rd13], %r16;
$again: ld.acquire.gpu.u32 %r18, [%rd13]; xor.b32 %r19, %r18, %r17; setp.gt.s32 %p8, %r19, -1;
@%p8 bra $again;
$through: barrier.sync 0;
)";
// Each thread of 8 blocks of 32 writes a word, then reads that of its mirror image.
const std::string mirror_before = R"(
mov.u32 %r20, %ctaid.x; mad.lo.u32 %r21, %r20, 32, %t; mul.wide.u32 %rd20, %r21, 4;
add.s64 %rd21, %out, %rd20; st.global.u32 [%rd21], %r21;
)";
const std::string mirror_after = R"(
sub.u32 %r22, 255, %r21; mul.wide.u32 %rd22, %r22, 4; add.s64 %rd23, %out, %rd22;
ld.global.u32 %r23, [%rd23]; st.global.u32 [%rd21+1024], %r23;
)";

TEST(Grid, meets_where_all_its_blocks_wait) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(mirror_before + sync_grid + mirror_after);
    kernel.cooperative = true;
    ASSERT_EQ(text_of(kernel.run(32, settings, 8)), "");
    for (unsigned t = 0; t < 256; ++t) EXPECT_EQ(kernel.words[256 + t], 255 - t);
  }
}

TEST(Grid, that_does_not_meet_has_a_race) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(mirror_before + mirror_after);
    kernel.cooperative = true;
    EXPECT_THAT(text_of(kernel.run(32, settings, 8)), StartsWith("data race"));
  }
}

// Block 0 writes and says so, twice; block 1 hears both and says so; block 2 hears block 1, and
// reads what block 0 wrote last.
TEST(Fence, tells_what_was_heard_since_the_one_before) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(R"(
mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra $hears; setp.eq.u32 %p1, %r1, 2; @%p1 bra $reads;
st.global.u32 [%out+32], 7; atom.add.release.gpu.global.u32 %r2, [%out], 1;
st.global.u32 [%out+36], 8; atom.add.release.gpu.global.u32 %r2, [%out+4], 1; ret;
$hears: ld.acquire.gpu.global.u32 %r3, [%out]; setp.eq.u32 %p2, %r3, 0; @%p2 bra $hears;
$again: ld.acquire.gpu.global.u32 %r3, [%out+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra $again;
atom.add.release.gpu.global.u32 %r2, [%out+8], 1; ret;
$reads: ld.acquire.gpu.global.u32 %r3, [%out+8]; setp.eq.u32 %p2, %r3, 0; @%p2 bra $reads;
ld.global.u32 %r4, [%out+36]; st.global.u32 [%out+64], %r4;)");
    kernel.cooperative = true;
    ASSERT_EQ(text_of(kernel.run(1, settings, 3)), "");
    EXPECT_EQ(kernel.words[16], 8u);
  }
}

TEST(Grid, that_is_not_cooperative_cannot_meet) {
  EXPECT_THAT(text_of(WrittenKernel(mirror_before + sync_grid).run(32, {}, 8)),
              HasSubstr("executes a trap"));
}

TEST(Barrier, counts_who_says_so) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(R"(
and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 1; bar.red.popc.u32 %r3, 0, %p1; setp.lt.u32 %p2, %t, 200;
bar.red.and.pred %p3, 0, %p2; selp.u32 %r4, 1000, 0, %p3; setp.eq.u32 %p4, %t, 77;
barrier.red.or.pred %p5, 1, 96, %p4; selp.u32 %r5, 10000, 0, %p5; bar.red.and.pred %p6, 0, !%p4;
selp.u32 %r6, 100000, 0, %p6;
add.s32 %r1, %r3, %r4; add.s32 %r1, %r1, %r5; add.s32 %r1, %r1, %r6;
)" + std::string(store_r1));
    ASSERT_EQ(text_of(kernel.run(96, settings)), "");
    for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(kernel.words[t], 48u + 1000 + 10000);
  }
}

// Every thread of 2 blocks of 64 writes a word; the block whose first thread comes last adds them
// up.
std::string last_block_adds(const std::string& fence_after_writing,
                            const std::string& fence_before_reading) {
  return R"(
mov.u32 %r20, %ctaid.x; mad.lo.u32 %r21, %r20, 64, %t; mul.wide.u32 %rd20, %r21, 4;
add.s64 %rd21, %out, %rd20; st.global.u32 [%rd21], %r21; )" +
         fence_after_writing + R"(
barrier.sync 0; mov.u32 %r9, tile; setp.ne.u32 %p1, %t, 0; @%p1 bra $others;
atom.global.add.u32 %r22, [%out+2048], 1; st.shared.u32 [%r9], %r22; $others: barrier.sync 0;
ld.shared.u32 %r22, [%r9]; setp.ne.u32 %p2, %r22, 1; @%p2 bra $end; )" +
         fence_before_reading + R"(
sub.u32 %r23, 127, %r21; mul.wide.u32 %rd22, %r23, 4; add.s64 %rd23, %out, %rd22;
ld.global.u32 %r24, [%rd23]; st.global.u32 [%rd21+1024], %r24; $end:
)";
}

TEST(Fence, of_each_thread_holds_for_the_block_behind_a_barrier) {
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(
        text_of(
            WrittenKernel(last_block_adds("fence.sc.gpu;", "fence.sc.gpu;")).run(64, settings, 2)),
        "");
    EXPECT_THAT(text_of(WrittenKernel(last_block_adds("", "fence.sc.gpu;")).run(64, settings, 2)),
                StartsWith("data race"));
    EXPECT_THAT(text_of(WrittenKernel(last_block_adds("fence.sc.gpu;", "")).run(64, settings, 2)),
                StartsWith("data race"));
  }
}

TEST(Fence, for_a_block_alone_orders_no_other_block) {
  const std::string block = "fence.acq_rel.cta;", all = "fence.acq_rel.gpu;", none = "membar.cta;";
  for (const Settings& settings : all_orders()) {
    for (const auto& [before, after] :
         {std::pair{block, all}, {all, block}, {block, block}, {none, all}}) {
      EXPECT_THAT(text_of(WrittenKernel(last_block_adds(before, after)).run(64, settings, 2)),
                  StartsWith("data race"))
          << before << "|" << after;
    }
    // What one fenced for the block, and others heard, goes on with their fence for all.
    EXPECT_EQ(
        text_of(WrittenKernel(last_block_adds(block + all, all + block)).run(64, settings, 2)), "");
  }
}

// Warp 1 writes shared memory and sets a flag there, which warp 0 waits for.
std::string flag_in_shared(const std::string& fence) {
  return R"(
mov.u32 %r9, tile; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [%r9+4000], 0; barrier.sync 0;
setp.eq.u32 %p2, %t, 32; @%p2 bra $write; setp.ne.u32 %p3, %t, 0; @%p3 bra $end;
$wait: ld.volatile.shared.u32 %r1, [%r9+4000]; setp.eq.u32 %p4, %r1, 0; @%p4 bra $wait; )" +
         fence + "ld.shared.u32 %r1, [%r9]; bra $end; $write: st.shared.u32 [%r9], 5;" + fence +
         "st.volatile.shared.u32 [%r9+4000], 1; $end:";
}

TEST(Fence, orders_shared_memory_within_a_block) {
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(text_of(WrittenKernel(flag_in_shared("fence.acq_rel.cta;")).run(64, settings)), "");
    EXPECT_THAT(text_of(WrittenKernel(flag_in_shared("")).run(64, settings)),
                StartsWith("data race"));
  }
}

// All read two words, and count; whoever counts last reads both, too, and writes the first.
std::string last_of_block_writes(const std::string& order) {
  return "mov.u32 %r9, tile; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u64 [%r9], 0;"
         "@%p1 st.shared.u32 [%r9+4000], 0; barrier.sync 0; ld.shared.u64 %rd1, [%r9]; atom." +
         order +
         ".cta.shared.add.u32 %r2, [%r9+4000], 1; setp.ne.u32 %p2, %r2, 63; @%p2 bra $end;"
         "ld.shared.u64 %rd1, [%r9]; st.shared.u32 [%r9], 1; $end:";
}

TEST(Fence, of_an_atomic_orders_what_all_read_before_what_the_last_one_writes) {
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(text_of(WrittenKernel(last_of_block_writes("acq_rel")).run(64, settings)), "");
    EXPECT_THAT(text_of(WrittenKernel(last_of_block_writes("relaxed")).run(64, settings)),
                StartsWith("data race"));
  }
}

// Twice, lanes add their neighbour's number to their own, in volatile shared memory. The reading
// ends before the writing begins, if lanes are in step or `sync` keeps them together.
std::string sums_of_neighbours(const std::string& sync) {
  const std::string add = "ld.volatile.shared.u32 %r2, [%r9]; ld.volatile.shared.u32 %r3, [%r8];" +
                          sync + "add.u32 %r1, %r2, %r3; st.volatile.shared.u32 [%r9], %r1;" + sync;
  return "mov.u32 %r7, tile; shl.b32 %r6, %t, 2; add.u32 %r9, %r7, %r6; xor.b32 %r6, %r6, 4;"
         "add.u32 %r8, %r7, %r6; st.volatile.shared.u32 [%r9], 1;" +
         sync + add + add + store_r1;
}

TEST(Lanes, fall_behind_where_volatile_accesses_count_on_their_being_in_step) {
  int unlike = 0;
  for (const Settings& settings : all_orders()) {
    const auto are_all_four = [&](const std::string& sync) {
      WrittenKernel kernel(sums_of_neighbours(sync));
      EXPECT_EQ(text_of(kernel.run(32, settings)), "");
      return std::all_of(kernel.words.begin(), kernel.words.begin() + 32,
                         [](std::uint32_t word) { return word == 4; });
    };
    EXPECT_TRUE(are_all_four("bar.warp.sync 0xffffffff;"));
    unlike += are_all_four("") ? 0 : 1;
  }
  EXPECT_GE(unlike, 4);  // of the eight that are shuffled
}

// Each lane goes round a loop as often as its number says, and then asks who is there.
std::string who_is_there(const std::string& behind_loop) {
  return "mov.u32 %r2, 0; $again: setp.ge.u32 %p1, %r2, %t; @%p1 bra $out; add.u32 %r2, %r2, 8;"
         "bra.uni $again; $out: " +
         behind_loop + "activemask.b32 %r1;" + store_r1;
}

TEST(Lanes, need_not_meet_behind_a_loop_that_they_leave_at_different_times) {
  int apart = 0;
  for (const Settings& settings : all_orders()) {
    const auto are_together = [&](const std::string& behind_loop) {
      WrittenKernel kernel(who_is_there(behind_loop));
      EXPECT_EQ(text_of(kernel.run(32, settings)), "");
      for (int lane = 0; lane < 32; ++lane)
        EXPECT_NE(kernel.words.at(static_cast<std::size_t>(lane)) >> lane & 1, 0u) << "it is there";
      return std::all_of(kernel.words.begin(), kernel.words.begin() + 32,
                         [](std::uint32_t word) { return word == ~0u; });
    };
    EXPECT_TRUE(are_together("bar.warp.sync 0xffffffff;"));
    apart += are_together("") ? 0 : 1;
  }
  EXPECT_GE(apart, 2);  // of the eight that are shuffled
}

// What is kept for each multiprocessor needs as many places as there are numbers.
TEST(Multiprocessors, have_numbers_with_gaps_and_begin_anywhere) {
  std::set<std::uint32_t> first, all;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    WrittenKernel kernel(
        "setp.ne.u32 %p1, %t, 0; @%p1 bra $end; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd1, %r1, 4;"
        "add.s64 %rd1, %out, %rd1; mov.u32 %r2, %smid; mov.u32 %r3, %nsmid;"
        "setp.ge.u32 %p2, %r2, %r3; @%p2 trap; st.global.u32 [%rd1], %r2; $end:");
    EXPECT_EQ(text_of(kernel.run(32, {.order = Order::shuffled, .seed = seed}, 300)), "");
    first.insert(kernel.words[0]);
    all.insert(kernel.words.begin(), kernel.words.begin() + 300);
  }
  EXPECT_GT(first.size(), 5u);
  EXPECT_EQ(all.size(), 132u);
  EXPECT_GE(*all.rbegin(), 132u);
}

}  // namespace
}  // namespace ptx::tests
