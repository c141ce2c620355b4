// Blocks of a cluster that signal each other's mbarriers: by arriving there, and by copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/clusters.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// %r40 and %r42 are two barriers of the block, %r41 and %r43 the same of the other one.
std::string barriers(int full, int empty) {
  return fmt::format(R"(
mov.u32 %r34, tile; add.s32 %r40, %r34, 2048; add.s32 %r42, %r34, 2056;
mapa.shared::cluster.u32 %r41, %r40, %r31; mapa.shared::cluster.u32 %r43, %r42, %r31;
setp.eq.u32 %p9, %t, 0;
@%p9 mbarrier.init.shared.b64 [%r40], {}; @%p9 mbarrier.init.shared.b64 [%r42], {};
fence.mbarrier_init.release.cluster;
)",
                     full, empty);
}
const std::string meet_relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";

std::string wait(const char* bar, int phase) {
  static int label = 0;
  return fmt::format(
      "$again{0}: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [{1}],"
      " {2}; @!%p1 bra $again{0};",
      ++label, bar, phase);
}
std::string arrive(const char* bar) {
  return fmt::format("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{}];", bar);
}
const std::string put = "mad.lo.s32 %r2, %r30, 1000, %t; st.shared::cluster.u32 [%r33], %r2;";
const std::string put_again = "add.s32 %r2, %r2, 5; st.shared::cluster.u32 [%r33], %r2;";
const std::string take = "ld.shared.u32 %r1, [%r32];";
unsigned of_other(unsigned n) { return (1 - n / 64 % 2) * 1000 + n % 64; }

TEST(ClusterSignal, lets_the_other_block_know_what_was_left_there) {
  const std::string set_up = barriers(64, 64) + meet_relaxed;
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(
        found_in_pairs(set_up + put + arrive("%r41") + wait("%r40", 0) + take + store_of_block,
                       settings, of_other),
        "");
    EXPECT_THAT(found_in_pairs(
                    set_up + arrive("%r41") + put + wait("%r40", 0) + take + store_of_block + meet,
                    settings),
                AllOf(StartsWith("data race"), HasSubstr("of tile"),
                      HasSubstr("a cluster barrier is missing")))
        << "the arrival comes first";
    EXPECT_THAT(
        found_in_pairs(set_up + put + arrive("%r41") + take + store_of_block + meet, settings),
        StartsWith("data race"))
        << "nobody waits";
    EXPECT_THAT(
        found_in_pairs(barriers(64, 64) + put + arrive("%r41") + wait("%r40", 0) + take, settings),
        HasSubstr("which may not have started yet"));
  }
}

TEST(ClusterSignal, gives_room_back) {
  const auto body = [](const std::string& gives_back, const std::string& waits_for_room) {
    return barriers(64, 64) + meet_relaxed + put + arrive("%r41") + wait("%r40", 0) + take +
           gives_back + waits_for_room + put_again + meet +
           "ld.shared.u32 %r3, [%r32]; mad.lo.s32 %r1, %r3, 10, %r1;" + store_of_block;
  };
  const auto wanted = [](unsigned n) { return 11 * of_other(n) + 50; };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body(arrive("%r43"), wait("%r42", 0)), settings, wanted), "");
    EXPECT_THAT(found_in_pairs(body("", ""), settings), StartsWith("data race"));
    EXPECT_THAT(found_in_pairs(body(arrive("%r43"), ""), settings), StartsWith("data race"));
  }
}

TEST(ClusterSignal, of_one_thread_stands_for_all_behind_a_barrier_of_its_block) {
  const auto body = [](const std::string& barrier) {
    return barriers(1, 1) + meet_relaxed + put + barrier + "@%p9 " + arrive("%r41") +
           wait("%r40", 0) + take + store_of_block;
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body("bar.sync 0;"), settings, of_other), "");
    EXPECT_THAT(found_in_pairs(body("") + meet, settings), StartsWith("data race"));
  }
}

TEST(ClusterSignal, to_a_block_that_may_have_ended_is_found) {
  // The second block gives room back that nobody waits for.
  const std::string body = barriers(64, 64) + meet_relaxed + put + arrive("%r41") +
                           wait("%r40", 0) + take + arrive("%r43");
  for (const Settings& settings : all_orders()) {
    EXPECT_THAT(found_in_pairs(body, settings), HasSubstr("which may have ended by then"));
    EXPECT_EQ(found_in_pairs(body + meet, settings), "");
  }
}

TEST(ClusterSignal, that_never_comes_is_found) {
  for (const Settings& settings : all_orders())
    EXPECT_THAT(found_in_pairs(barriers(64, 64) + meet + "setp.eq.u32 %p2, %r30, 0; @%p2 " +
                                   arrive("%r41") + wait("%r40", 0),
                               settings),
                HasSubstr("a phase that never ends: 64 of 64 arrivals"));
}

// The block's words go to the other block's, 256 bytes on, by one copy.
std::string copied(const std::string& fence, const std::string& waits,
                   const std::string& end = "") {
  return barriers(1, 1) + "mad.lo.s32 %r2, %r30, 1000, %t; st.shared.u32 [%r32], %r2;" + fence +
         meet + R"(
@%p9 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd50, [%r40], 256;
add.s32 %r50, %r33, 256;
@%p9 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r50], [%r34], 256, [%r41];
)" + waits +
         "ld.shared.u32 %r1, [%r32+256];" + store_of_block + end;
}
TEST(ClusterCopy, goes_from_block_to_block) {
  const std::string fence = "fence.proxy.async;";
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(copied(fence, wait("%r40", 0)), settings, of_other), "");
    EXPECT_THAT(found_in_pairs(copied("", wait("%r40", 0), meet), settings),
                HasSubstr("no fence.proxy.async lies between the two"));
    EXPECT_THAT(found_in_pairs(copied(fence, "st.shared.u32 [%r32+256], 3;", meet), settings),
                HasSubstr("data race"));
    EXPECT_THAT(found_in_pairs(copied(fence, "bra $end;") + "$end:", settings),
                HasSubstr("which may have ended by then"));
  }
}

TEST(ClusterCopy, reads_its_source_until_the_other_block_has_waited_and_says_so) {
  const std::string came = copied("fence.proxy.async;", wait("%r40", 0));
  const std::string overwrite = "st.shared.u32 [%r32], 5;";
  const std::string says_so = "@%p9 " + arrive("%r43"), hears = wait("%r42", 0);
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(came + meet + overwrite, settings, of_other), "");
    EXPECT_EQ(found_in_pairs(came + "bar.sync 0;" + says_so + hears + overwrite + meet, settings,
                             of_other),
              "");
    for (const std::string& between : {std::string("bar.sync 0;"), says_so + "bar.sync 0;"}) {
      EXPECT_THAT(found_in_pairs(came + between + overwrite + meet, settings),
                  AllOf(StartsWith("data race"), HasSubstr("which an asynchronous copy read")));
    }
    EXPECT_EQ(found_in_pairs(came + "ld.shared.u32 %r2, [%r32];" + meet, settings, of_other), "");
    const std::string met_before = copied("fence.proxy.async;", meet + wait("%r40", 0));
    EXPECT_EQ(found_in_pairs(met_before + meet + overwrite, settings, of_other), "");
    EXPECT_THAT(found_in_pairs(met_before + "bar.sync 0;" + overwrite + meet, settings),
                StartsWith("data race"));
  }
}

// To itself and to the other one.
TEST(ClusterCopy, of_one_source_to_two_blocks_reads_it_until_both_have_it) {
  const auto body = [](const std::string& between) {
    return barriers(1, 2) + "st.shared.u32 [%r32], %t; fence.proxy.async;" + meet +
           "@%p9 mbarrier.arrive.expect_tx.shared.b64 _, [%r40], 512;"
           "add.s32 %r50, %r33, 256; mapa.shared::cluster.u32 %r51, %r32, %r30;"
           "add.s32 %r51, %r51, 512; mapa.shared::cluster.u32 %r52, %r40, %r30;"
           "@%p9 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r50], "
           "[%r34], 256, [%r41];"
           "@%p9 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r51], "
           "[%r34], 256, [%r52];" +
           wait("%r40", 0) + between + "st.shared.u32 [%r32], 5;" + meet +
           "ld.shared.u32 %r1, [%r32+256]; ld.shared.u32 %r2, [%r32+512]; add.s32 %r1, %r1, %r2;" +
           store_of_block;
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body(meet), settings, [](unsigned n) { return 2 * (n % 64); }), "");
    EXPECT_THAT(found_in_pairs(body("bar.sync 0;"), settings),
                AllOf(StartsWith("data race"), HasSubstr("which an asynchronous copy read")));
  }
}

TEST(ClusterCopy, is_received_by_all_blocks_that_it_names) {
  // The first block copies the first 64 words to all; each stores them behind.
  const auto body = [](int mask, const std::string& waits) {
    return barriers(1, 1) + meet + R"(
@%p9 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd50, [%r40], 256;
setp.eq.u32 %p3, %r30, 0; and.pred %p4, %p3, %p9; cvta.to.global.u64 %rd51, %out;
)" + fmt::format("mov.b32 %r60, {};", mask) +
           R"(
@%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r34], [%rd51], 256, [%r40], %r60;
)" + waits +
           "ld.shared.u32 %r1, [%r32];" +
           "mov.u32 %r61, %ctaid.x; mad.lo.s32 %r61, %r61, 64, %t;"
           "mul.wide.u32 %rd60, %r61, 4; add.s64 %rd61, %out, %rd60; st.global.u32 [%rd61+1024], "
           "%r1;";
  };
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(in_pairs + body(3, wait("%r40", 0)));
    kernel.cluster = {2};
    for (unsigned n = 0; n < 64; ++n) kernel.words[n] = n + 7;
    ASSERT_EQ(text_of(kernel.run(64, settings, 4)), "");
    for (unsigned n = 0; n < 256; ++n) EXPECT_EQ(kernel.words[256 + n], n % 64 + 7);
    EXPECT_THAT(found_in_pairs(body(1, wait("%r40", 0)) + meet, settings),
                HasSubstr("256 bytes are missing"));
    EXPECT_THAT(found_in_pairs(body(7, wait("%r40", 0)), settings),
                HasSubstr("a block that its cluster does not have"));
    EXPECT_THAT(found_in_pairs(body(3, "") + meet, settings), testing::Not(""));
  }
}

// The block has stored its words where the other one then copies to.
TEST(ClusterCopy, to_what_the_other_block_stored_comes_behind_a_proxy_fence) {
  const auto body = [](const std::string& behind_store, const std::string& before_copy,
                       const std::string& behind_meeting = "") {
    return barriers(1, 1) + "st.shared.u32 [%r32], %t; st.shared.u32 [%r32+256], 7;" +
           behind_store + meet + behind_meeting +
           "@%p9 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd50, [%r40], 256;"
           "add.s32 %r50, %r33, 256;" +
           before_copy +
           "@%p9 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r50], "
           "[%r34], 256, [%r41];" +
           wait("%r40", 0) + "ld.shared.u32 %r1, [%r32+256];" + store_of_block + meet;
  };
  const std::string fence = "fence.proxy.async;", of_own = "fence.proxy.async.shared::cta;";
  const auto wanted = [](unsigned n) { return n % 64; };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body(fence, ""), settings, wanted), "");
    EXPECT_EQ(found_in_pairs(body(of_own, ""), settings, wanted), "");
    EXPECT_EQ(found_in_pairs(body("", "@%p9 " + fence), settings, wanted), "")
        << "by who copies, and knows of the store";
    EXPECT_EQ(found_in_pairs(body("bar.sync 0; @%p9 " + fence, ""), settings, wanted), "")
        << "by one thread for all";
  }
  // The first block fences, and only copies; the second one only has its own copy fenced.
  const std::string first_fences =
      "setp.eq.u32 %p3, %r30, 0; @!%p3 bra $unfenced;" + fence + "$unfenced:";
  const std::string first_copies =
      "setp.eq.u32 %p4, %r30, 0; and.pred %p5, %p4, %p9;"
      "@%p5 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r50], [%r34], "
      "256, [%r41]; @%p4 bra $sent;";
  const auto sends = [&](const std::string& behind_store) {
    return barriers(1, 1) + "st.shared.u32 [%r32], %t; st.shared.u32 [%r32+256], 7;" +
           first_fences + behind_store +
           "@%p9 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd50, [%r40], 256;"
           "add.s32 %r50, %r33, 256;" +
           meet + first_copies + wait("%r40", 0) + "$sent: " + meet;
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(sends(fence), settings), "");
    EXPECT_THAT(found_in_pairs(sends(""), settings),
                AllOf(StartsWith("data race"), HasSubstr("word 64 of tile of block ("),
                      HasSubstr("no fence.proxy.async lies between the two")));
  }
}

TEST(ClusterCopy, of_registers_signals_too) {
  const auto body = [](const std::string& waits) {
    return barriers(1, 1) + "@%p9 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r40], 512;" +
           meet +
           "mad.lo.s32 %r2, %r30, 1000, %t; shl.b32 %r60, %t, 2; add.s32 %r61, %r33, %r60;"
           "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r61], {%r2, %t}, "
           "[%r41]; @%p9 mbarrier.arrive.shared.b64 %rd50, [%r40];" +
           waits + "add.s32 %r62, %r32, %r60; ld.shared.u32 %r1, [%r62];" + store_of_block;
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body(wait("%r40", 0)), settings, of_other), "");
    EXPECT_THAT(found_in_pairs(body("") + meet, settings), testing::Not(""));
  }
}

// One word, which is less than a bulk copy moves at a time.
TEST(ClusterCopy, of_registers_may_stay_in_its_block) {
  const std::string body =
      barriers(1, 1) + "@%p9 mbarrier.arrive.expect_tx.shared.b64 _, [%r40], 256;" + meet +
      "mapa.shared::cluster.u32 %r61, %r32, %r30; mapa.shared::cluster.u32 %r62, %r40, %r30;"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r61], %t, [%r62];" +
      wait("%r40", 0) + take + store_of_block;
  for (const Settings& settings : all_orders())
    EXPECT_EQ(found_in_pairs(body, settings, [](unsigned n) { return n % 64; }), "");
}

TEST(ClusterSignal, that_is_relaxed_tells_what_was_fenced) {
  const auto body = [](const std::string& fence) {
    return barriers(64, 64) + meet_relaxed + put + fence +
           "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r41];" + wait("%r40", 0) +
           take + store_of_block;
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body("fence.acq_rel.cluster;"), settings, of_other), "");
    EXPECT_THAT(found_in_pairs(body("") + meet, settings),
                AllOf(StartsWith("data race"), HasSubstr("a cluster barrier is missing")));
  }
}

std::string wait_relaxed(const char* bar) {
  static int label = 0;
  return fmt::format(
      "$relaxed{0}: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p1, [{1}], 0;"
      "@!%p1 bra $relaxed{0};",
      ++label, bar);
}
TEST(ClusterSignal, that_a_relaxed_wait_finds_is_known_behind_a_fence) {
  const auto body = [](const std::string& fence, const std::string& before = "") {
    return barriers(64, 64) + meet_relaxed + put + arrive("%r41") + before + wait_relaxed("%r40") +
           fence + take + store_of_block;
  };
  for (const Settings& settings : all_orders()) {
    for (const char* fence :
         {"fence.acq_rel.cluster;", "fence.acquire.sync_restrict::shared::cluster.cluster;",
          "fence.acq_rel.gpu;", "bar.sync 0; fence.acq_rel.cluster;",
          "fence.acq_rel.cluster; bar.sync 0;"})
      EXPECT_EQ(found_in_pairs(body(fence), settings, of_other), "") << fence;
    for (const char* fence : {"", "fence.acq_rel.cta;", "bar.sync 0;"})
      EXPECT_THAT(found_in_pairs(body(fence) + meet, settings),
                  AllOf(StartsWith("data race"),
                        HasSubstr("a fence of its scope behind the relaxed access")))
          << fence;
    EXPECT_THAT(found_in_pairs(body("", "fence.acq_rel.cluster;") + meet, settings),
                StartsWith("data race"));
    EXPECT_EQ(found_in_pairs(
                  barriers(64, 64) + meet_relaxed + put + arrive("%r41") + wait_relaxed("%r40"),
                  settings),
              "")
        << "what nobody reads needs no fence";
  }
}
TEST(ClusterCopy, that_a_relaxed_wait_finds_is_known_behind_a_fence) {
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(
                  copied("fence.proxy.async;", wait_relaxed("%r40") + "fence.acq_rel.cluster;"),
                  settings, of_other),
              "");
    EXPECT_THAT(found_in_pairs(copied("fence.proxy.async;", wait_relaxed("%r40"), meet), settings),
                AllOf(StartsWith("data race"),
                      HasSubstr("a fence of its scope behind the relaxed access")));
  }
}

}  // namespace
}  // namespace ptx::tests
