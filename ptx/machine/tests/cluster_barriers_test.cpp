// Barriers of clusters: who waits for whom, and what they make known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/clusters.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string fill = "mad.lo.s32 %r2, %r30, 1000, %t; st.shared.u32 [%r32], %r2;";
const std::string read = "ld.shared::cluster.u32 %r1, [%r33];" + store_of_block + meet;
unsigned of_other(unsigned n) { return (1 - n / 64 % 2) * 1000 + n % 64; }

TEST(ClusterBarrier, may_have_other_work_between_arriving_and_waiting) {
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(fill +
                                 "barrier.cluster.arrive.release.aligned; mov.u32 %r5, 3;"
                                 "st.shared.u32 [%r32+1024], 5;"
                                 "barrier.cluster.wait.acquire.aligned;" +
                                 read,
                             settings, of_other),
              "");
    EXPECT_THAT(
        found_in_pairs("barrier.cluster.arrive;" + fill + "barrier.cluster.wait;" + read, settings),
        AllOf(StartsWith("data race"), HasSubstr("a cluster barrier is missing")))
        << "what comes behind an arrival is not known behind the wait";
    EXPECT_THAT(found_in_pairs(meet + fill + "barrier.cluster.arrive;" + read, settings),
                testing::Not(""))
        << "nobody waits";
  }
}

TEST(ClusterBarrier, orders_nothing_if_it_is_relaxed_but_what_a_fence_covers) {
  const std::string relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
  for (const Settings& settings : all_orders()) {
    EXPECT_THAT(found_in_pairs(fill + relaxed + read, settings),
                AllOf(StartsWith("data race"), HasSubstr("a cluster barrier is missing")));
    EXPECT_EQ(found_in_pairs(fill + "fence.acq_rel.cluster;" + relaxed + read, settings, of_other),
              "");
    EXPECT_EQ(found_in_pairs(relaxed + fill + meet + read, settings, of_other), "");
  }
}

TEST(ClusterBarrier, orders_what_a_block_does_itself) {
  // Each thread reads what one of another warp stored.
  const std::string turned = "xor.b32 %r3, %r32, 128; ld.shared.u32 %r1, [%r3];" + store_of_block;
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs("st.shared.u32 [%r32], %t;" + meet + turned, settings,
                             [](unsigned n) { return n % 64 ^ 32; }),
              "");
    EXPECT_THAT(found_in_pairs("st.shared.u32 [%r32], %t;" + turned, settings),
                HasSubstr("a barrier is missing"));
  }
}

TEST(ClusterBarrier, waits_in_blocks_that_are_alone) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(
        "shl.b32 %r2, %t, 2; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2;"
        "st.shared.u32 [%r4], %t;" +
        meet + "xor.b32 %r5, %r4, 128; ld.shared.u32 %r1, [%r5];" + store_r1);
    ASSERT_EQ(text_of(kernel.run(64, settings)), "");
    EXPECT_EQ(kernel.words[3], 35u);
  }
}

TEST(ClusterBarrier, orders_global_memory) {
  const auto body = [](const std::string& between) {
    return "mov.u32 %r1, %t;" + store_of_block + between +
           "mul.lo.s32 %r3, %r31, 64; mov.u32 %r6, %clusterid.x; mad.lo.s32 %r3, %r6, 128, %r3;"
           "add.s32 %r3, %r3, %t; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %out, %rd3;"
           "ld.global.u32 %r7, [%rd4];";
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body(meet), settings), "");
    EXPECT_THAT(found_in_pairs(body("bar.sync 0;"), settings),
                AllOf(StartsWith("data race"), HasSubstr("a cluster barrier is missing")));
  }
}

TEST(ClusterBarrier, passes_on_what_a_block_heard_by_its_own_barrier) {
  // Warp 0 alone waits for the cluster; the others learn of it at a barrier of the block.
  const auto body = [](const std::string& behind) {
    return fill + "barrier.cluster.arrive; setp.lt.u32 %p1, %t, 32; @%p1 barrier.cluster.wait;" +
           behind + "ld.shared::cluster.u32 %r1, [%r33];" + store_of_block +
           "@!%p1 barrier.cluster.wait;" + meet;
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body("bar.sync 0;"), settings, of_other), "");
    EXPECT_THAT(found_in_pairs(body(""), settings), StartsWith("data race"));
  }
}

TEST(ClusterBarrier, waits_for_threads_that_have_not_returned) {
  for (const Settings& settings : all_orders())
    EXPECT_EQ(found_in_pairs("setp.gt.u32 %p1, %t, 40; @%p1 ret;" + meet + meet, settings), "");
}

TEST(ClusterBarrier, that_is_used_wrongly_is_found) {
  for (const Settings& settings : all_orders()) {
    EXPECT_THAT(found_in_pairs("barrier.cluster.arrive; barrier.cluster.arrive;", settings),
                HasSubstr("arrives at the barrier of its cluster once more, and has not waited"));
    EXPECT_THAT(found_in_pairs("barrier.cluster.wait;", settings),
                HasSubstr("waits at the barrier of its cluster, and has not arrived there"));
    EXPECT_THAT(found_in_pairs("setp.eq.u32 %p1, %t, 5; @%p1 barrier.cluster.arrive.aligned;"
                               "@%p1 barrier.cluster.wait;" +
                                   meet,
                               settings),
                testing::Not(""));
  }
}

TEST(ClusterBarrier, that_some_never_reach_is_found_with_who_waits_for_what) {
  // A warp of the second block waits for all of its threads, which wait for the cluster.
  const std::string body =
      "setp.ge.u32 %p1, %t, 32; setp.eq.u32 %p2, %r30, 1;"
      "and.pred %p3, %p1, %p2; @%p3 bar.sync 1;" +
      meet;
  for (const Settings& settings : all_orders())
    EXPECT_THAT(found_in_pairs(body, settings),
                AllOf(StartsWith("barrier not reached by all threads"), HasSubstr("of block ("),
                      HasSubstr(",0,0) waits at barrier 1, which 32 of 64 threads have reached"),
                      HasSubstr("; 96 of 128 threads have reached the barrier of the cluster")));
}

TEST(ClusterBarrier, lets_clusters_of_a_crowded_grid_go_one_after_the_other) {
  WrittenKernel kernel(in_pairs + fill + meet + read);
  kernel.cluster = {2};
  kernel.fit_on_device = 3;
  const Outcome outcome = kernel.run(64, {}, 16);
  EXPECT_EQ(text_of(outcome), "");
  EXPECT_FALSE(outcome.crowd);
}

}  // namespace
}  // namespace ptx::tests
