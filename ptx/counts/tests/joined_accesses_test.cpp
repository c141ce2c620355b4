// Which neighbouring accesses become one, as the assembler has it.
#include <gmock/gmock.h>

#include "ptx/counts/tests/counted.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// %r1 is a multiple of 128, %r2 of 8, %r3 of 4 only; all words are written, by two stores.
LaunchCounts counts(const std::string& body, unsigned threads) {
  const std::string prologue = R"(
    mov.u32 %r90, tile; mad.lo.u32 %r91, %t, 16, %r90; mov.u32 %r92, 1;
    st.shared.v4.u32 [%r91], {%r92, %r92, %r92, %r92};
    st.shared.v4.u32 [%r91+512], {%r92, %r92, %r92, %r92}; bar.sync 0;
    and.b32 %r93, %t, 1; shl.b32 %r1, %r93, 7; add.u32 %r1, %r1, %r90;
    shl.b32 %r2, %r93, 3; add.u32 %r2, %r2, %r90;
    shl.b32 %r3, %r93, 2; add.u32 %r3, %r3, %r90;
  )";
  return counted(prologue + body, threads);
}
std::map<int, int> loads(const std::string& body) { return counts(body, 32).shared_loads_by_bytes; }
std::uint64_t stores(const std::string& body) {
  return counts(body, 1).total.shared_stores.instructions - 2;
}
std::string row(const std::string& base, const std::vector<int>& offsets,
                const std::string& between = "") {
  std::string all;
  for (const int offset : offsets)
    all += fmt::format("ld.shared.f32 %f{}, [{}+{}]; {}\n", offset / 4, base, offset, between);
  return all;
}

std::string stored(const std::string& base, const std::vector<int>& offsets,
                   const std::string& between = "") {
  std::string all;
  for (const int offset : offsets)
    all += fmt::format("st.shared.u32 [{}+{}], %r92; {}\n", base, offset, between);
  return all;
}

TEST(JoinedLoads, OfFourNeighboursAreOne) {
  EXPECT_THAT(loads(row("%r1", {0, 4, 8, 12})), ElementsAre(Pair(16, 1)));
  EXPECT_THAT(loads(row("%r1", {12, 0, 8, 4})), ElementsAre(Pair(16, 1))) << "in any order";
  EXPECT_THAT(loads(row("tile", {16, 20, 24, 28})), ElementsAre(Pair(16, 1))) << "of a variable";
  EXPECT_THAT(loads(row("%r1", {0, 4, 8, 12, 16, 20, 24, 28})), ElementsAre(Pair(16, 2)));
}

TEST(JoinedLoads, OfTwoNeighboursAreOne) {
  EXPECT_THAT(loads(row("%r1", {0, 4})), ElementsAre(Pair(8, 1)));
  EXPECT_THAT(loads(row("%r2", {0, 4, 8, 12})), ElementsAre(Pair(8, 2)))
      << "what is a multiple of 8 has no four";
  EXPECT_THAT(loads(row("%r1", {0, 4, 8})), ElementsAre(Pair(4, 1), Pair(8, 1)));
}

TEST(JoinedLoads, AreAligned) {
  EXPECT_THAT(loads(row("%r3", {0, 4, 8, 12})), ElementsAre(Pair(4, 4)));
  EXPECT_THAT(loads(row("%r1", {4, 8})), ElementsAre(Pair(4, 2)));
  EXPECT_THAT(loads(row("%r1", {4, 8, 12, 16})), ElementsAre(Pair(4, 2), Pair(8, 1)));
  EXPECT_THAT(loads("add.u32 %r4, %r1, 4;" + row("%r4", {12, 16, 20, 24})),
              ElementsAre(Pair(16, 1)))
      << "the low bits are known through the sum";
}

TEST(JoinedLoads, StandTogether) {
  EXPECT_THAT(loads(row("%r1", {0, 64, 128})), ElementsAre(Pair(4, 3))) << "no neighbours";
  EXPECT_THAT(loads(row("%r1", {0, 4}, "st.shared.u32 [%r91+1024], %r92;")),
              ElementsAre(Pair(4, 2)))
      << "shared memory may have been written";
  EXPECT_THAT(loads(row("%r1", {0, 4}, "bar.sync 0;")), ElementsAre(Pair(4, 2)));
  EXPECT_THAT(loads(row("%r1", {0}) + "bra L1; L1:" + row("%r1", {4})), ElementsAre(Pair(4, 2)))
      << "another part of the code";
  EXPECT_THAT(
      loads(row("%r1", {0}) + "L1:" + row("%r1", {4}) + "setp.gt.u32 %p9, %t, 99; @%p9 bra L1;"),
      ElementsAre(Pair(4, 2)))
      << "from where others come, too";
  EXPECT_THAT(loads(row("%r1", {0}) + "add.u32 %r1, %r1, 128;" + row("%r1", {4})),
              ElementsAre(Pair(4, 2)))
      << "another address";
  EXPECT_THAT(loads(row("%r1", {0, 4}, "st.global.u32 [%a], %r92;")), ElementsAre(Pair(8, 1)))
      << "global memory is another";
}

TEST(JoinedLoads, OfGuardedAndVolatileOnesAreNone) {
  EXPECT_THAT(loads("setp.lt.u32 %p1, %t, 8; @%p1 ld.shared.f32 %f1, [%r1]; "
                    "@%p1 ld.shared.f32 %f2, [%r1+4];"),
              ElementsAre(Pair(4, 2)));
  EXPECT_THAT(loads("ld.volatile.shared.f32 %f1, [%r1]; ld.volatile.shared.f32 %f2, [%r1+4];"),
              ElementsAre(Pair(4, 2)));
  EXPECT_THAT(loads(""), IsEmpty());
}

TEST(JoinedLoads, KeepTheirAlignmentAroundALoop) {
  const auto loop = [](int step) {
    return fmt::format(
        "mov.u32 %r5, %r1; mov.u32 %r6, 0; L1: {} add.u32 %r5, %r5, {};"
        "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra L1;",
        row("%r5", {0, 4, 8, 12}), step);
  };
  EXPECT_THAT(loads(loop(16)), ElementsAre(Pair(16, 1)));
  EXPECT_THAT(loads(loop(8)), ElementsAre(Pair(8, 2)));
  EXPECT_THAT(loads(loop(4)), ElementsAre(Pair(4, 4)));
}

TEST(JoinedStores, OfNeighboursAreOne) {
  EXPECT_EQ(stores(stored("%r1", {0, 4, 8, 12})), 1u);
  EXPECT_EQ(stores(stored("%r1", {12, 0, 8, 4})), 1u) << "in any order";
  EXPECT_EQ(stores(stored("%r2", {0, 4, 8, 12})), 2u) << "what is a multiple of 8 has no four";
  EXPECT_EQ(stores(stored("%r3", {0, 4, 8, 12})), 4u) << "they are not aligned";
  EXPECT_EQ(stores(stored("%r1", {0, 64})), 2u) << "no neighbours";
}

TEST(JoinedStores, StandTogether) {
  EXPECT_EQ(stores(stored("%r1", {0, 4}, "bar.sync 0;")), 2u);
  EXPECT_EQ(stores(stored("%r1", {0, 4}, "ld.shared.u32 %r95, [%r91];")), 2u)
      << "what is between may load one of them";
  EXPECT_EQ(stores(stored("%r1", {0, 4}, "st.shared.u32 [%r91+512], %r92;")), 4u)
      << "what is between may overwrite one of them";
  EXPECT_EQ(stores(stored("%r1", {0, 0, 4, 4})), 3u)
      << "the second to one place ends what stands together";
  EXPECT_EQ(stores("st.volatile.shared.u32 [%r1], %r92; st.volatile.shared.u32 [%r1+4], %r92;"),
            2u);
}

TEST(JoinedLoads, AreOneInstructionOfTheMachineAndSeveralOfPtx) {
  const LaunchCounts counts = counted(R"(
    mov.u32 %r90, tile; mad.lo.u32 %r91, %t, 16, %r90; mov.u32 %r92, 1;
    st.shared.v4.u32 [%r91], {%r92, %r92, %r92, %r92}; bar.sync 0;
    ld.shared.f32 %f1, [%r91+12]; ld.shared.f32 %f2, [%r91+8]; ld.shared.f32 %f3, [%r91+4];
    ld.shared.f32 %f4, [%r91];)");
  EXPECT_EQ(counts.total.shared_loads, (SharedTraffic{1, 4, 32, 512}));
  EXPECT_EQ(counts.total.classes.at("ld.shared").warps, 4u) << "of PTX there are four";
}

}  // namespace
}  // namespace ptx::tests
