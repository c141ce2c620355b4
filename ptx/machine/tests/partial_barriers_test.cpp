// Barriers that only some warps of a block come to: what those know of each other that wait there.
#include <gtest/gtest.h>

#include <set>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

const std::string write = "st.shared.u32 [%r4], %t;", read = "ld.shared.u32 %r1, [%r4];";

// The beginning of what is found where the warps do this, each lane with its word of `tile`; the
// same in all orders.
std::string found(const std::string& first, const std::string& second,
                  const std::string& third = "") {
  const std::string body =
      "and.b32 %r2, %t, 31; shl.b32 %r2, %r2, 2; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2;"
      "setp.ge.u32 %p1, %t, 64; @%p1 bra $third; setp.ge.u32 %p1, %t, 32; @%p1 bra $second;" +
      first + "bra $end; $second: " + second + "bra $end; $third: " + third +
      "$end: bar.sync 0; mov.u32 %r1, 0;" + store_r1;
  std::set<std::string> all;
  for (const Settings& settings : all_orders())
    all.insert(text_of(WrittenKernel(body).run(96, settings)).substr(0, 9));
  EXPECT_EQ(all.size(), 1u) << "in some order only";
  return *all.rbegin();
}

TEST(PartialBarrier, orders_what_was_done_before_bar_arrive) {
  EXPECT_EQ(found("bar.sync 1, 64;" + read, write + "bar.arrive 1, 64;"), "");
}

TEST(PartialBarrier, is_for_whole_warps) {
  EXPECT_EQ(found("bar.sync 1, 63;" + read, write + "bar.arrive 1, 63;"), "illegal i");
}

TEST(PartialBarrier, orders_nothing_that_is_done_after_bar_arrive) {
  EXPECT_EQ(found("bar.sync 1, 64;" + write, "bar.arrive 1, 64;" + write), "data race");
  EXPECT_EQ(found(write + "bar.sync 1, 64;", "bar.arrive 1, 64;" + write), "data race")
      << "whoever does not wait does not come after those that do";
}

TEST(PartialBarrier, hands_on_what_those_knew_who_come_to_it) {
  for (const std::string to_first : {"bar.sync 1, 64;", "bar.arrive 1, 64;"}) {
    EXPECT_EQ(
        found("bar.sync 1, 64;" + read, "bar.sync 2, 64;" + to_first, write + "bar.arrive 2, 64;"),
        "");
  }
  EXPECT_EQ(found("bar.sync 1, 64;" + write, "bar.arrive 1, 64; bar.sync 2, 64;",
                  write + "bar.arrive 2, 64;"),
            "data race")
      << "the second did not know of it yet";
}

}  // namespace
}  // namespace ptx::tests
