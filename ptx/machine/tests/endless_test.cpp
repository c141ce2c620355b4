// What does not come to its end in time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::StartsWith;

TEST(Launch, that_never_ends_is_ended) {
  EXPECT_THAT(text_of(WrittenKernel("$x: bra $x;").run(32, {.cpu_seconds = 0.05})),
              StartsWith("never ends"));
}

// One thread stores a word after each some thousand operations, always or for a while.
TEST(Launch, that_is_only_slow_tells_how_much_it_has_stored) {
  const auto stored_late = [](int words, int stored) {
    WrittenKernel kernel(fmt::format(R"(
mov.u32 %r1, 0; mov.u64 %rd1, %out;
$next: setp.ge.u32 %p1, %r1, {}; @%p1 bra $spin;
mov.u32 %r2, 0;
$delay: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4000; @%p2 bra $delay;
st.global.u32 [%rd1], %r1; add.u64 %rd1, %rd1, 4; add.u32 %r1, %r1, 1; bra $next;
$spin: bra $spin;)",
                                     stored));
    kernel.words.resize(static_cast<std::size_t>(words));
    kernel.is_result = true;
    const Finding found = kernel.run(1, {.cpu_seconds = 1}).finding.value();
    EXPECT_EQ(found.fault, Fault::never_ends);
    return found.stored_late;
  };
  constexpr int many = 1 << 18;
  EXPECT_GT(stored_late(many, many), 10u);
  EXPECT_LT(stored_late(many, many), static_cast<std::uint64_t>(many));
  EXPECT_EQ(stored_late(many, 5), 0u) << "then it spins";
}

}  // namespace
}  // namespace ptx::tests
