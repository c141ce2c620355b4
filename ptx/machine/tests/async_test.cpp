// Copies that go on by themselves, and the barriers that they signal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ptx/machine/tests/async_pieces.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What a kernel finds in every order; "" if nothing. The words hold their numbers.
std::string found(const std::string& body, unsigned threads,
                  const std::function<void(const WrittenKernel&)>& check = {}) {
  std::string first;
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(body);
    for (unsigned n = 0; n < kernel.words.size(); ++n) kernel.words[n] = n;
    const std::string text = text_of(kernel.run(threads, settings));
    if (first.empty()) first = text;
    EXPECT_EQ(text.empty(), first.empty()) << "in some order only: " << text << first;
    if (text.empty() && check) check(kernel);
  }
  return first;
}
// Each thread stores that of another one's word, 31 - its number in the warp.
void expect_mirrored(const WrittenKernel& kernel) {
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(kernel.words[512 + t], 31 - t) << t;
}

const std::string read_mirrored = "ld.shared.u32 %r1, [%r4]; st.global.u32 [%rd2+2048], %r1;";
const std::string copy = "cp.async.ca.shared.global [%r3], [%rd2], 4; cp.async.commit_group;";
const std::string wait = "cp.async.wait_group 0; bar.sync 0;";

TEST(Copy, is_there_once_it_was_waited_for) {
  EXPECT_EQ(found(places + copy + wait + read_mirrored, 32, expect_mirrored), "");
}

TEST(Copy, that_is_not_waited_for_is_found_in_a_later_slice_too) {
  const std::string twice = places + copy + wait + read_mirrored + "bar.sync 0;" + copy;
  EXPECT_EQ(found(twice + wait + read_mirrored, 32, expect_mirrored), "");
  EXPECT_THAT(found(twice + "bar.sync 0;" + read_mirrored, 32),
              AllOf(HasSubstr("which an asynchronous copy wrote ("),
                    HasSubstr("nothing orders the two: a wait for the copy is missing")));
  EXPECT_THAT(found(twice + "cp.async.wait_group 1; bar.sync 0;" + read_mirrored, 32),
              HasSubstr("a wait for the copy is missing"));
  EXPECT_THAT(found(twice + "st.shared.u32 [%r3], 1;", 32), StartsWith("data race"));
  EXPECT_THAT(found(places + copy + wait + read_mirrored + copy, 32), StartsWith("data race"))
      << "the slice is overwritten while others read it";
}

TEST(Copy, may_leave_out_its_source) {
  const std::string odd = places + R"(
and.b32 %r5, %t, 1; setp.eq.u32 %p1, %r5, 1; cp.async.ca.shared.global [%r3], [%rd2], 4, %p1;
cp.async.commit_group; )" +
                          wait + read_mirrored;
  EXPECT_EQ(found(odd, 32,
                  [](const WrittenKernel& kernel) {
                    for (unsigned t = 0; t < 32; ++t)
                      EXPECT_EQ(kernel.words[512 + t], t % 2 == 0 ? 0 : 31 - t);
                  }),
            "");
}

// Warp 1 writes, warp 0 reads.
std::string hand_over(const std::string& between, const std::string& before_reading) {
  return make(32) + R"(
setp.ge.u32 %p1, %t, 32; @%p1 bra $write;
)" + places +
         before_reading + read_mirrored +
         "bra $end; $write: mov.u32 %r9, tile; sub.u32 %r5, %t, 32; shl.b32 %r6, "
         "%r5, 2; add.s32 %r7, %r9, %r6; st.shared.u32 [%r7], %r5;" +
         between + "$end:";
}
const std::string arrive = "mbarrier.arrive.shared.b64 %rd30, [%r20];";

TEST(Mbarrier, orders_who_arrived_before_who_waits) {
  EXPECT_EQ(found(hand_over(arrive, wait_for(0)), 64, expect_mirrored), "");
  EXPECT_THAT(found(hand_over(arrive, ""), 64),
              AnyOf(StartsWith("data race"), HasSubstr("nobody wrote")));
  EXPECT_THAT(found(hand_over(arrive, wait_for(1)), 64), Not(""))
      << "the phase before the first counts as complete, the second never is";
}

TEST(Mbarrier, that_a_relaxed_wait_finds_complete_orders_behind_a_fence) {
  const std::string wait =
      "$wait: mbarrier.test_wait.parity.relaxed.cta.shared.b64 %p2, [%r20], 0; @!%p2 bra $wait;";
  EXPECT_EQ(found(hand_over(arrive, wait + "fence.acq_rel.cta;"), 64, expect_mirrored), "");
  EXPECT_THAT(
      found(hand_over(arrive, wait), 64),
      AllOf(StartsWith("data race"), HasSubstr("a fence of its scope behind the relaxed access")));
  EXPECT_EQ(found(hand_over(arrive, wait + "bar.sync 1, 32;"), 64, expect_mirrored), "")
      << "a barrier is a fence for its block";
}

TEST(Mbarrier, is_tested_by_its_state_too) {
  const std::string all = make(64) + places +
                          "st.shared.u32 [%r3], %t; mbarrier.arrive.shared::cta.b64 %rd30, [%r20], "
                          "1; $again: mbarrier.test_wait.shared.b64 %p2, [%r20], %rd30; @!%p2 bra "
                          "$again; setp.ge.u32 %p3, %t, 32; @%p3 bra $end;" +
                          read_mirrored + "$end:";
  EXPECT_EQ(found(all, 64, expect_mirrored), "");
}

TEST(Mbarrier, has_many_phases) {
  // Both warps write and read in turns, with no other barrier.
  const std::string body = make(64) + places + R"(
and.b32 %r5, %t, 31; shl.b32 %r5, %r5, 2; add.s32 %r5, %r9, %r5; mov.u32 %r10, 0; mov.u32 %r11, 0;
shr.u32 %r14, %t, 5;
$loop: and.b32 %r12, %r10, 1; setp.ne.u32 %p4, %r12, %r14; @%p4 bra $written;
add.s32 %r13, %r10, %t; st.shared.u32 [%r5], %r13; $written:
mbarrier.arrive.shared.b64 _, [%r20];
$w: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], %r11; @!%p2 bra $w; xor.b32 %r11, %r11, 1;
ld.shared.u32 %r1, [%r5];
mbarrier.arrive.shared.b64 _, [%r20];
$v: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], %r11; @!%p2 bra $v; xor.b32 %r11, %r11, 1;
add.s32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 8; @%p3 bra $loop;
)" + std::string(store_r1);
  EXPECT_EQ(found(body, 64,
                  [](const WrittenKernel& kernel) {
                    for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(kernel.words[t], 7 + 32 + t % 32);
                  }),
            "");
}

TEST(Mbarrier, that_is_used_wrongly_is_named) {
  EXPECT_THAT(found("mov.u32 %r20, tile;" + arrive, 1), HasSubstr("that nobody initialised"));
  EXPECT_THAT(found(make(3) + "mbarrier.arrive.shared.b64 %rd30, [%r20], 4;", 1),
              HasSubstr("arrives 4 times at an mbarrier whose phase waits for 3 more"));
  EXPECT_THAT(found(make(33) + arrive + wait_for(0), 32),
              HasSubstr("for a phase that never ends: 1 of 33 arrivals and 0 bytes are missing"));
  EXPECT_THAT(found("mov.u32 %r20, tile; mbarrier.init.shared.b64 [%r20], 0;", 1),
              HasSubstr("1 to 1048575 are allowed"));
  EXPECT_THAT(found("mov.u32 %r20, tile; mbarrier.init.shared.b64 [%r20+4], 1;", 1),
              StartsWith("misaligned access"));
  EXPECT_THAT(found("mov.u32 %r20, tile; setp.ne.u32 %p9, %t, 0; @%p9 bra $made;"
                    "mbarrier.init.shared.b64 [%r20], 2; $made:" +
                        arrive,
                    33),
              AnyOf(StartsWith("data race"), HasSubstr("nobody initialised")))
      << "a barrier between the two is missing";
}

TEST(Mbarrier, ends_once_all_have_left_it) {
  const std::string all = make(64) + arrive + wait_for(0);
  const std::string end =
      "setp.ne.u32 %p3, %t, 63; @%p3 bra $end; mbarrier.inval.shared.b64 "
      "[%r20]; $end:";
  EXPECT_EQ(found(all + "bar.sync 0;" + end, 64), "");
  EXPECT_THAT(found(all + end, 64), HasSubstr("may still use"));
}

TEST(Mbarrier, waits_for_the_copies_of_threads) {
  for (const std::string form : {".noinc", ""}) {
    const std::string begin = make(32) + places +
                              "cp.async.ca.shared.global [%r3], [%rd2], 4; "
                              "cp.async.mbarrier.arrive" +
                              form + ".shared.b64 [%r20];" + (form.empty() ? arrive : "");
    EXPECT_EQ(found(begin + wait_for(0) + read_mirrored, 32, expect_mirrored), "") << form;
    EXPECT_EQ(
        found(begin + "cp.async.wait_all;" + wait_for(0) + read_mirrored, 32, expect_mirrored), "")
        << form;
    EXPECT_THAT(found(begin + "cp.async.wait_all;" + read_mirrored, 32),
                HasSubstr("nothing orders the two"))
        << form;
    EXPECT_THAT(found(begin + "bar.sync 0;" + read_mirrored, 32),
                HasSubstr("a wait for the copy is missing"));
  }
}

// Thread 0 copies 128 bytes of global memory, for a barrier that waits for `expected`.
std::string bulk(int expected, int bytes = 128, int from = 0) {
  return make(1) + places +
         fmt::format(
             "setp.ne.u32 %p1, %t, 0; @%p1 bra $started; add.s64 %rd5, %out, {};"
             "mbarrier.arrive.expect_tx.shared.b64 %rd30, [%r20], {};"
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], "
             "[%rd5], {}, [%r20]; $started:",
             from, expected, bytes);
}

TEST(BulkCopy, is_there_once_its_barrier_is) {
  EXPECT_EQ(found(bulk(128) + wait_for(0) + read_mirrored, 32, expect_mirrored), "");
  EXPECT_THAT(found(bulk(128) + "bar.sync 0;" + read_mirrored, 32),
              HasSubstr("a wait for the copy is missing"));
  EXPECT_THAT(found(bulk(128) + wait_for(1) + "bar.sync 0;" + read_mirrored, 32), Not(""))
      << "the parity is that of the next phase";
  EXPECT_THAT(found(bulk(0) + wait_for(0) + read_mirrored + "bar.sync 0;" + wait_for(1), 32),
              Not(""))
      << "its bytes were not expected";
  EXPECT_THAT(found(bulk(256) + wait_for(0) + read_mirrored, 32),
              HasSubstr("0 of 1 arrivals and 128 bytes are missing"));
}

TEST(BulkCopy, lies_where_it_may) {
  EXPECT_THAT(found(bulk(128, 120), 32), HasSubstr("must be multiples of 16"));
  EXPECT_THAT(found(bulk(128, 128, 4), 32), HasSubstr("must be multiples of 16"));
  EXPECT_THAT(found(bulk(128, 128, 4096 - 112), 32), HasSubstr("past the end of words"));
}

// Every thread writes its word of the tile, and thread 0 copies it to word 512.
std::string bulk_out(const std::string& after,
                     const std::string& fence = "fence.proxy.async; bar.sync 0;") {
  return places + "sub.u32 %r5, 31, %t; st.shared.u32 [%r3], %r5;" + fence +
         "setp.ne.u32 %p1, %t, 0; @%p1 bra $out; cp.async.bulk.global.shared::cta.bulk_group "
         "[%out+2048], [%r9], 128; cp.async.bulk.commit_group;" +
         after + "$out: bar.sync 0; st.shared.u32 [%r3], 7;";
}

TEST(BulkCopy, into_global_memory_holds_its_source) {
  EXPECT_EQ(found(bulk_out("cp.async.bulk.wait_group.read 0;"), 32, expect_mirrored), "");
  EXPECT_THAT(found(bulk_out(""), 32), HasSubstr("a wait for the copy is missing"));
}

TEST(BulkCopy, takes_a_fence_behind_ordinary_stores) {
  const auto copied = [](const std::string& fence, unsigned threads = 32) {
    return found(bulk_out("cp.async.bulk.wait_group.read 0;", fence), threads);
  };
  const auto missing = HasSubstr("no fence.proxy.async lies between the two");
  EXPECT_THAT(copied("bar.sync 0;"), missing);
  EXPECT_THAT(copied("bar.sync 0;", 64), missing);
  EXPECT_THAT(copied("fence.proxy.async.global; bar.sync 0;"), missing);
  EXPECT_THAT(copied("setp.eq.u32 %p2, %t, 0; @%p2 fence.proxy.async; bar.sync 0;"), missing)
      << "by one of the threads that wrote";
  EXPECT_THAT(copied("fence.proxy.async; bar.sync 0; st.shared.u32 [%r3], %r5; bar.sync 0;"),
              missing)
      << "too early";
  EXPECT_EQ(copied("fence.proxy.async.shared::cta; bar.sync 0;", 64), "");
  EXPECT_EQ(copied("bar.sync 0; setp.eq.u32 %p2, %t, 0; @%p2 fence.proxy.async;", 64), "")
      << "by the one that copies, which knows of all";
  EXPECT_EQ(copied("bar.warp.sync -1; fence.proxy.async;"), "");
  EXPECT_THAT(copied("bar.sync 0; st.shared.u32 [%r3+1024], 1; fence.proxy.async;"), "");

  const std::string over = places + "st.shared.u32 [%r3], 0;";
  EXPECT_THAT(found(over + "bar.sync 0;" + bulk(128) + wait_for(0) + read_mirrored, 32), missing)
      << "the copy overwrites what was stored";
  EXPECT_EQ(found(over + "fence.proxy.async; bar.sync 0;" + bulk(128) + wait_for(0) + read_mirrored,
                  32, expect_mirrored),
            "");
}

TEST(BulkCopy, with_sums_is_refused_with_the_reason) {
  const auto refusal = [](const char* body) { return text_of(WrittenKernel(body).run(32)); };
  EXPECT_THAT(
      refusal("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
              "[%r1], %r2, [%r3];"),
      HasSubstr("it would need copies that add to what is there"));
  EXPECT_THAT(
      refusal("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::"
              "bytes [%r1], [%rd1, {%r2, %r2, %r2}], [%r3], {%r5};"),
      HasSubstr("it would need boxes that are no tiles"));
}

TEST(Clusters, hold_one_block_each_where_a_launch_has_none) {
  WrittenKernel kernel(
      "mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %clusterid.x;"
      "mov.u32 %r4, %nclusterid.x; mul.lo.u32 %r5, %r3, 16; cvt.u64.u32 %rd1, %r5;"
      "add.s64 %rd2, %out, %rd1; st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};");
  EXPECT_EQ(text_of(kernel.run(1, {}, 3)), "");
  for (unsigned block = 0; block < 3; ++block)
    EXPECT_THAT(std::vector(kernel.words.begin() + block * 4, kernel.words.begin() + block * 4 + 4),
                testing::ElementsAre(1, 0, block, 3));
}

}  // namespace
}  // namespace ptx::tests
