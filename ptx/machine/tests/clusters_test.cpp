// Clusters: blocks that reach each other's shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/clusters.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Clusters, are_told_who_they_are) {
  // Eight words of each block of a grid of 4 x 2.
  const std::string body = R"(
mov.u32 %r1, %clusterid.x; mov.u32 %r2, %clusterid.y; mov.u32 %r3, %nclusterid.x;
mov.u32 %r4, %cluster_ctaid.x; mov.u32 %r5, %cluster_ctaid.y; mov.u32 %r6, %cluster_nctaid.y;
mov.u32 %r7, %cluster_ctarank; mov.u32 %r8, %cluster_nctarank;
mov.pred %p1, %is_explicit_cluster; @%p1 add.s32 %r8, %r8, 100;
mov.u32 %r10, %ctaid.y; mov.u32 %r11, %ctaid.x; mad.lo.s32 %r12, %r10, 4, %r11;
mul.wide.u32 %rd1, %r12, 32; add.s64 %rd2, %out, %rd1;
st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%rd2+16], {%r5, %r6, %r7, %r8};
)";
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(body);
    kernel.cluster = {2, 2};
    kernel.rows_of_grid = 2;
    ASSERT_EQ(text_of(kernel.run(1, settings, 4)), "");
    const auto of_block = [&](unsigned n) {
      return std::vector(kernel.words.begin() + n * 8, kernel.words.begin() + n * 8 + 8);
    };
    EXPECT_THAT(of_block(0), ElementsAre(0, 0, 2, 0, 0, 2, 0, 104));
    EXPECT_THAT(of_block(3), ElementsAre(1, 0, 2, 1, 0, 2, 1, 104));
    EXPECT_THAT(of_block(4), ElementsAre(0, 0, 2, 0, 1, 2, 2, 104));
    EXPECT_THAT(of_block(7), ElementsAre(1, 0, 2, 1, 1, 2, 3, 104));
  }
}

// Each way from a block to the words of the other one.
struct Way {
  const char *name, *load, *store, *add;
};
void PrintTo(const Way& way, std::ostream* to) { *to << way.name; }
class Reach : public testing::TestWithParam<Way> {
 protected:
  // In rounds: the block's own words are read by the other one, written by it, added to by it.
  static std::string body(const std::array<std::string, 6>& barriers) {
    const Way& way = GetParam();
    return "mad.lo.s32 %r2, %r30, 1000, %t; st.shared.u32 [%r32], %r2;" + barriers[0] + way.load +
           barriers[1] + "add.s32 %r4, %r3, 7;" + way.store + barriers[2] +
           "ld.shared.u32 %r5, [%r32];" + barriers[3] + way.add + barriers[4] +
           "ld.shared.u32 %r6, [%r32]; mad.lo.s32 %r1, %r6, 3, %r3; add.s32 %r1, %r1, %r5;" +
           store_of_block + barriers[5];
  }
  static std::string found(const std::array<std::string, 6>& barriers, const Settings& settings) {
    return found_in_pairs(body(barriers), settings, [](unsigned n) {
      const unsigned rank = n / 64 % 2, t = n % 64;
      const unsigned own = rank * 1000 + t, other = (1 - rank) * 1000 + t;
      return 3 * (own + 7 + 5) + other + (own + 7);
    });
  }
};

TEST_P(Reach, IsOrderedByBarriersOfTheCluster) {
  std::vector<Settings> all = all_orders();
  for (std::uint64_t seed = 8; seed < 40; ++seed)
    all.push_back({.order = Order::shuffled, .seed = seed});
  for (const Settings& settings : all)
    EXPECT_EQ(found({meet, meet, meet, meet, meet, ""}, settings), "");
}

TEST_P(Reach, IsARaceWithoutOneOfThem) {
  for (const Settings& settings : all_orders())
    for (const std::size_t missing : {2, 3, 4})  // before and behind the first, a thread is itself
      for (const char* instead : {"", "bar.sync 0;"}) {
        std::array<std::string, 6> barriers = {meet, meet, meet, meet, meet, ""};
        barriers[missing] = instead;
        EXPECT_THAT(
            found(barriers, settings),
            AllOf(StartsWith("data race: thread ("), HasSubstr("word "), HasSubstr(" of tile"),
                  HasSubstr("cluster barrier"), HasSubstr("is missing")))
            << missing << instead << static_cast<int>(settings.order);
      }
}

TEST_P(Reach, IsNotBeforeTheOtherBlockHasStarted) {
  for (const Settings& settings : all_orders())
    EXPECT_THAT(found({"", meet, meet, meet, meet, ""}, settings),
                HasSubstr("which may not have started yet: a cluster barrier is missing"));
}

INSTANTIATE_TEST_SUITE_P(
    All, Reach,
    testing::Values(Way{"by_addresses_of_the_cluster", "ld.shared::cluster.u32 %r3, [%r33];",
                        "st.shared::cluster.u32 [%r33], %r4;",
                        "red.shared::cluster.add.u32 [%r33], 5;"},
                    Way{"by_generic_ones", "ld.u32 %r3, [%rd33];", "st.u32 [%rd33], %r4;",
                        "atom.add.u32 %r9, [%rd33], 5;"},
                    Way{"by_what_came_from_generic_ones",
                        "cvta.to.shared.u64 %rd34, %rd33; cvt.u32.u64 %r35, %rd34;"
                        "ld.shared::cluster.u32 %r3, [%r35];",
                        "cvta.shared::cluster.u64 %rd35, %rd34; st.u32 [%rd35], %r4;",
                        "atom.shared::cluster.add.u32 %r9, [%r35], 5;"}),
    [](const auto& each) { return each.param.name; });

TEST(Clusters, find_what_is_read_and_then_written_both_ways) {
  const std::string fill = "st.shared.u32 [%r32], %t;" + meet;
  for (const Settings& settings : all_orders()) {
    EXPECT_THAT(found_in_pairs(fill +
                                   "ld.shared::cluster.u32 %r3, [%r33];"
                                   "st.shared.u32 [%r32], 5;" +
                                   meet,
                               settings),
                AllOf(HasSubstr("data race"), HasSubstr("of tile"),
                      HasSubstr("a cluster barrier is missing")));
    EXPECT_THAT(found_in_pairs(fill +
                                   "ld.shared.u32 %r3, [%r32];"
                                   "st.shared::cluster.u32 [%r33], 5;" +
                                   meet,
                               settings),
                AllOf(HasSubstr("data race"), HasSubstr("a cluster barrier is missing")));
  }
  EXPECT_THAT(
      found_in_pairs(fill +
                     "ld.shared::cluster.u32 %r3, [%r33];"
                     "st.shared.u32 [%r32], 5;" +
                     meet),
      AllOf(HasSubstr("thread (0,0,0) of block (0,0,0) reads word 0 of tile of block (1,0,0)"),
            HasSubstr("which thread (0,0,0) of block (1,0,0) wrote"),
            HasSubstr("and nothing orders the two: a cluster barrier is missing")));
}

TEST(Clusters, count_what_they_reach_in_each_other_as_shared) {
  WrittenKernel kernel(in_pairs + "st.shared.u32 [%r32], %t;" + meet + "ld.u32 %r1, [%rd33];" +
                       "ld.shared::cluster.u32 %r1, [%r33];" + store_of_block + meet);
  kernel.cluster = {2};
  const Outcome outcome = kernel.run(64, {.counts = true}, 4);
  ASSERT_EQ(text_of(outcome), "");
  EXPECT_EQ(outcome.counts->total.shared_loads.accesses, 2u * 4 * 64);
  EXPECT_EQ(outcome.counts->total.shared_loads.wavefronts, 2u * 4 * 2);
  EXPECT_EQ(outcome.counts->total.global_loads.accesses, 0u);
}

TEST(Clusters, find_threads_of_the_other_block_that_race_with_each_other) {
  // All of a block's threads write the first word of the other one.
  const std::string first = "mov.u32 %r40, tile; mapa.shared::cluster.u32 %r41, %r40, %r31;";
  for (const Settings& settings : all_orders())
    EXPECT_THAT(found_in_pairs(first + meet + "st.shared::cluster.u32 [%r41], 3;" + meet, settings),
                AllOf(HasSubstr("data race"), HasSubstr("writes word 0 of tile of block (")));
}

TEST(Clusters, find_two_blocks_that_write_to_a_third) {
  const std::string body = R"(
mov.u32 %r10, %cluster_ctarank; mov.u32 %r11, tile; mapa.shared::cluster.u32 %r12, %r11, 0;
)" + meet + "setp.ne.u32 %p1, %r10, 0; @%p1 st.shared::cluster.u32 [%r12], 3;" +
                           meet;
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(body);
    kernel.cluster = {4};
    EXPECT_THAT(text_of(kernel.run(1, settings, 4)),
                AllOf(HasSubstr("writes word 0 of tile of block (0,0,0)"),
                      HasSubstr("a cluster barrier is missing")));
  }
}

TEST(Clusters, find_bytes_apart_that_do_not_race_and_those_that_do) {
  const auto body = [](int mine, int yours) {
    return meet +
           fmt::format("st.shared.u16 [%r32+{}], 1; st.shared::cluster.u16 [%r33+{}], 2;", mine,
                       yours) +
           meet + "ld.shared.u32 %r1, [%r32];" + store_of_block + meet;
  };
  for (const Settings& settings : all_orders()) {
    EXPECT_EQ(found_in_pairs(body(0, 2), settings, [](unsigned) { return 0x20001u; }), "");
    EXPECT_THAT(found_in_pairs(body(2, 2), settings), HasSubstr("a cluster barrier is missing"));
  }
}

TEST(Clusters, find_what_nobody_wrote_in_another_block) {
  const std::string read = "ld.shared::cluster.u32 %r1, [%r33];" + store_of_block + meet;
  for (const Settings& settings : all_orders())
    EXPECT_THAT(found_in_pairs(meet + read, settings),
                AllOf(StartsWith("use of an uninitialised value"), HasSubstr("of tile")));
}

TEST(Clusters, find_blocks_that_may_have_ended) {
  const std::string fill = "st.shared.u32 [%r32], %t;" + meet;
  for (const Settings& settings : all_orders()) {
    EXPECT_THAT(found_in_pairs(fill + "ld.shared::cluster.u32 %r1, [%r33];", settings),
                AllOf(StartsWith("data race"), HasSubstr("reads word"),
                      HasSubstr("which may have ended by then: a cluster barrier before its end is "
                                "missing")));
    EXPECT_EQ(found_in_pairs(fill + "ld.shared::cluster.u32 %r1, [%r33];" + meet, settings), "");
    EXPECT_THAT(found_in_pairs(fill + "ld.shared::cluster.u32 %r1, [%r33]; barrier.cluster.arrive;",
                               settings),
                HasSubstr("may have ended by then"))
        << "nobody waits";
  }
}

TEST(Clusters, find_ranks_and_places_that_are_not_there) {
  EXPECT_THAT(found_in_pairs("mapa.shared::cluster.u32 %r1, %r32, 2;" + meet +
                             "ld.shared::cluster.u32 %r2, [%r1];" + meet),
              AllOf(StartsWith("bad address"), HasSubstr("reads shared memory of rank 2 of its "
                                                         "cluster, which has 2 blocks")));
  EXPECT_THAT(found_in_pairs("mapa.u64 %rd1, %rd31, 5;" + meet + "st.u32 [%rd1], 3;" + meet),
              AllOf(StartsWith("bad address"), HasSubstr("writes shared memory of rank 5")));
  EXPECT_THAT(found_in_pairs("mapa.u64 %rd1, %out, 1;"),
              HasSubstr("maps an address to another block that is not of shared memory"));
  EXPECT_THAT(
      found_in_pairs(meet + "ld.shared::cluster.u32 %r2, [%r33+4096];" + meet),
      AllOf(StartsWith("bad address"), HasSubstr("of 4096 bytes of shared memory of block")));
  EXPECT_THAT(found_in_pairs(meet + "ld.shared::cluster.u32 %r2, [%r33+2];" + meet),
              StartsWith("misaligned access"));
}

TEST(Clusters, tell_addresses_apart) {
  const std::string body = R"(
getctarank.shared::cluster.u32 %r1, %r33; getctarank.u64 %r2, %rd31; mul.lo.s32 %r2, %r2, 10;
isspacep.shared %p1, %rd33; isspacep.shared::cluster %p2, %rd33; isspacep.shared::cluster %p3, %out;
isspacep.global %p4, %rd33; isspacep.shared %p5, %rd31;
add.s32 %r1, %r1, %r2; @%p1 add.s32 %r1, %r1, 100; @%p2 add.s32 %r1, %r1, 1000;
@%p3 add.s32 %r1, %r1, 10000; @%p4 add.s32 %r1, %r1, 20000; @%p5 add.s32 %r1, %r1, 3000;
)" + store_of_block;
  EXPECT_EQ(
      found_in_pairs(body, {}, [](unsigned n) { return 4000 + (n / 64 % 2 == 0 ? 1u : 10u); }), "");
}

}  // namespace
}  // namespace ptx::tests
