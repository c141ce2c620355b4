// Lanes of a warp that work together by their masks, and warps that wait for each other.
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

// %r10: the mask of the half of the warp that a lane is in. All lanes come to `operation` together;
// what it leaves in %r1 is stored.
std::string in_halves(const std::string& operation) {
  return "setp.lt.u32 %p1, %t, 16; selp.b32 %r10, 0x0000ffff, 0xffff0000, %p1;" + operation +
         store_r1;
}
// What each lane of a warp leaves, in every order.
template <class Wanted>
void expect_of_lanes(const std::string& kernel_text, const Wanted& wanted) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(kernel_text);
    ASSERT_EQ(text_of(kernel.run(32, settings)), "");
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(kernel.words[lane], wanted(lane)) << kernel_text << lane;
  }
}
void expect_of_halves(const std::string& operation, std::uint32_t lower, std::uint32_t upper) {
  expect_of_lanes(in_halves(operation), [=](auto lane) { return lane < 16 ? lower : upper; });
}

TEST(Tiles, elect_a_leader_each) {
  expect_of_halves("elect.sync %r1|%p2, %r10;", 0, 16);
  expect_of_lanes(in_halves("elect.sync _|%p2, %r10; selp.b32 %r1, 1, 0, %p2;"),
                  [](auto lane) { return lane % 16 == 0 ? 1u : 0u; });
}
TEST(Tiles, vote_for_themselves) {
  const std::string only_20 = "setp.eq.u32 %p2, %t, 20;", but_20 = "setp.ne.u32 %p2, %t, 20;";
  const std::string told = "selp.b32 %r1, 1, 0, %p3;";
  expect_of_halves(only_20 + "vote.sync.ballot.b32 %r1, %p2, %r10;", 0, 1u << 20);
  expect_of_halves(only_20 + "vote.sync.any.pred %p3, %p2, %r10;" + told, 0, 1);
  expect_of_halves(but_20 + "vote.sync.all.pred %p3, %p2, %r10;" + told, 1, 0);
  expect_of_halves(but_20 + "vote.sync.uni.pred %p3, %p2, %r10;" + told, 1, 0);
}
TEST(Tiles, match_and_reduce_for_themselves) {
  expect_of_halves("mov.u32 %r2, 7; match.any.sync.b32 %r1, %r2, %r10;", 0xffff, 0xffff0000);
  expect_of_halves(
      "setp.lt.u32 %p2, %t, 20; selp.b32 %r2, 1, 2, %p2;"
      "match.all.sync.b32 %r1|%p3, %r2, %r10;",
      0xffff, 0);
  expect_of_halves("redux.sync.add.u32 %r1, %t, %r10;", 120, 376);
  expect_of_halves("redux.sync.min.u32 %r1, %t, %r10;", 0, 16);
}
TEST(Tiles, give_others_nothing_by_a_shuffle) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(
        in_halves("xor.b32 %r2, %t, 16; and.b32 %r3, %t, 15;"
                  "shfl.sync.idx.b32 %r1, %t, %r3, 0x1f, %r10;"));
    ASSERT_EQ(text_of(kernel.run(32, settings)), "");
    for (std::size_t lane = 0; lane < 16; ++lane) {
      EXPECT_EQ(kernel.words[lane], lane);
      EXPECT_NE(kernel.words[lane + 16], lane) << "a lane of the other half";
    }
  }
}
// The lower half waits within an arm for lanes of its own; the others go on without it.
TEST(Tiles, wait_for_their_own_alone) {
  expect_of_halves(
      "setp.eq.u32 %p2, %t, 3; @%p2 bra $on; nanosleep.u32 1; $on: "
      "redux.sync.add.u32 %r1, %t, %r10;",
      120, 376);
}

// Each half of a warp leaves its number for the other one, and waits in an arm of its own.
std::string meet_in_two_arms(const char* lower_mask, const char* upper_mask) {
  return fmt::format(
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; xor.b32 %r5, %r3, 64;"
      "add.u32 %r5, %r2, %r5; setp.ge.u32 %p1, %t, 16; @%p1 bra $upper;"
      "st.shared.u32 [%r4], %t; bar.warp.sync {}; bra $both;"
      "$upper: st.shared.u32 [%r4], %t; bar.warp.sync {};"
      "$both: ld.shared.u32 %r1, [%r5];{}",
      lower_mask, upper_mask, store_r1);
}
TEST(Lanes, synchronise_at_different_places) {
  expect_of_lanes(meet_in_two_arms("0xffffffff", "0xffffffff"),
                  [](auto lane) { return lane ^ 16; });
}
TEST(Lanes, that_synchronise_among_their_half_alone_have_a_race) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(meet_in_two_arms("0x0000ffff", "0xffff0000"));
    EXPECT_NE(text_of(kernel.run(32, settings)).find("data race"), std::string::npos);
  }
}

// Warps of several blocks in flight ask for each other's flags: each of them has its turn.
TEST(Waiting, of_all_warps_of_two_blocks_ends) {
  for (const Settings& settings : all_orders()) {
    WrittenKernel kernel(
        "mov.u32 %r2, tile; setp.ne.u32 %p1, %t, 0; @%p1 bra $ready;"
        "mbarrier.init.shared.b64 [%r2], 256; $ready: bar.sync 0; mov.u32 %r4, 0;"
        "$again: mbarrier.arrive.shared.b64 %rd1, [%r2];"
        "$wait: mbarrier.test_wait.shared.b64 %p2, [%r2], %rd1; @!%p2 bra $wait;"
        "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 400; @%p3 bra $again;");
    Settings limited = settings;
    limited.cpu_seconds = 20;
    EXPECT_EQ(text_of(kernel.run(256, limited, 2)), "");
  }
}

}  // namespace
}  // namespace ptx::tests
