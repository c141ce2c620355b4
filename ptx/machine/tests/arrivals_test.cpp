// What arrivals at an mbarrier say, and how long waits there may take.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Warp 1 fills a word for each lane of warp 0, and does so again once lane 0 of that says that it
// is empty. `before`: what warp 0 does between reading and that.
std::string refill(const std::string& before) {
  return std::string(R"(
mov.u32 %r9, tile; add.u32 %r7, %r9, 1024; add.u32 %r8, %r9, 1032; setp.ne.u32 %p1, %t, 0;
@%p1 bra $made; mbarrier.init.shared.b64 [%r7], 1; mbarrier.init.shared.b64 [%r8], 1;
$made: bar.sync 0; and.b32 %r5, %t, 31; shl.b32 %r6, %r5, 2; add.u32 %r6, %r9, %r6;
setp.ne.u32 %p1, %r5, 0; setp.ge.u32 %p2, %t, 32; @%p2 bra $fill;
$full: mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0; @!%p3 bra $full;
ld.shared.u32 %r1, [%r6];)") +
         store_r1 + before + R"(
@%p1 bra $end; mbarrier.arrive.shared.b64 _, [%r8]; bra $end;
$fill: st.shared.u32 [%r6], %r5; bar.warp.sync 0xffffffff; @%p1 bra $filled;
mbarrier.arrive.shared.b64 _, [%r7]; $filled: bar.warp.sync 0xffffffff;
$empty: mbarrier.try_wait.parity.shared.b64 %p3, [%r8], 0; @!%p3 bra $empty;
st.shared.u32 [%r6], 77; $end:)";
}

TEST(Arrival, of_one_lane_says_nothing_about_others_that_did_not_meet_it) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Settings settings{.order = Order::shuffled, .seed = seed};
    WrittenKernel apart(refill("")), together(refill("bar.warp.sync 0xffffffff;"));
    const std::string text = text_of(apart.run(64, settings));
    if (!text.empty()) {
      EXPECT_THAT(text, StartsWith("data race"));
    }
    found += !text.empty();
    EXPECT_EQ(text_of(together.run(64, settings)), "") << seed;
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(together.words[t], t) << seed;
  }
  EXPECT_GT(found, 3);
}

TEST(Wait, for_a_copy_may_be_in_vain_many_times) {
  const std::string copy = R"(
mov.u32 %r9, tile; add.u32 %r8, %r9, 1024; setp.ne.u32 %p1, %t, 0; @%p1 bra $made;
mbarrier.init.shared.b64 [%r8], 1; fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r8], 128;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%out], 128, [%r8];
$made: bar.sync 0; mov.u32 %r2, 0;
$again: mbarrier.try_wait.parity.shared.b64 %p2, [%r8], 0; @%p2 bra $there;
add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, TRIES; @%p3 bra $again;
$there: ld.shared.u32 %r1, [%r9];
)";
  const auto times_too_soon = [&](int tries) {
    std::string body = copy;
    body.replace(body.find("TRIES"), 5, std::to_string(tries));
    int too_soon = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      WrittenKernel kernel(body);
      const std::string text = text_of(kernel.run(64, {.order = Order::shuffled, .seed = seed}));
      if (!text.empty()) {
        EXPECT_THAT(text, HasSubstr("a wait for the copy is missing"));
      }
      too_soon += !text.empty();
    }
    return too_soon;
  };
  EXPECT_GT(times_too_soon(20), 3);
  EXPECT_LT(times_too_soon(20), times_too_soon(1)) << "mostly a second try is not in vain";
  EXPECT_EQ(times_too_soon(1000), 0);
}

}  // namespace
}  // namespace ptx::tests
