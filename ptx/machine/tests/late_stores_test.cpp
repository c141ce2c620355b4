// Stores that other blocks see late, where no fence lies behind them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/machine/tests/written_kernel.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr unsigned threads = 32, seeds = 40, flag = 512;

// The first block leaves 7 in a word for each thread, and then its thread 0 sets the flag. The
// second waits for that, and stores what it finds.
std::string passes(const std::string& put, const std::string& between, const std::string& take) {
  return fmt::format(R"(
mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; setp.eq.u32 %p2, %t, 0;
mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %out, %rd1; mov.u32 %r2, 7;
@%p1 bra $second;
{0}
bar.sync 0;
{1}
@%p2 st.volatile.global.u32 [%out+{3}], 1;
bra $end;
$second:
ld.volatile.global.u32 %r3, [%out+{3}]; setp.eq.u32 %p3, %r3, 0; @%p3 bra $second;
{2}
st.global.u32 [%rd2+128], %r4;
$end:
)",
                     put, between, take, 4 * flag);
}

struct Runs {
  unsigned wrong = 0, explained = 0;
  std::string text;
};
Runs run_all(const std::string& body) {
  Runs runs;
  WrittenKernel kernel(body);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    std::fill(kernel.words.begin(), kernel.words.end(), 0);
    const Outcome outcome = kernel.run(threads, {.order = Order::shuffled, .seed = seed}, 2);
    if (outcome.finding) return {.wrong = seeds, .text = text_of(outcome)};
    bool is_wrong = false;
    for (unsigned n = 0; n < threads; ++n) is_wrong |= kernel.words[threads + n] != 7;
    runs.wrong += is_wrong;
    runs.explained += is_wrong && !outcome.seen_late.empty();
    if (is_wrong) runs.text = outcome.seen_late;
  }
  return runs;
}

const std::string put = "st.volatile.global.u32 [%rd2], %r2;";
const std::string take = "ld.volatile.global.u32 %r4, [%rd2];";
const std::string add = "red.global.add.u32 [%rd2], %r2;";

TEST(LateStore, is_missed_where_no_fence_lies_behind_it) {
  for (const std::string& changes : {put, add}) {
    const Runs runs = run_all(passes(changes, "", take));
    EXPECT_GT(runs.wrong, seeds / 5) << runs.text;
    EXPECT_EQ(runs.explained, runs.wrong);
    EXPECT_THAT(runs.text, AllOf(HasSubstr("of block (1,0,0) read byte"),
                                 HasSubstr("a thread of block 0 of the grid changed it"),
                                 HasSubstr("a __threadfence behind that is missing")));
    EXPECT_THAT(runs.text, Not(HasSubstr("read byte 2048"))) << "it is not about the flag";
  }
}

TEST(LateStore, is_seen_once_its_block_has_fenced) {
  for (const char* const fence :
       {"membar.gl;", "fence.acq_rel.gpu;", "fence.sc.sys;", "@%p2 membar.gl;"}) {
    EXPECT_EQ(run_all(passes(put, fence, take)).wrong, 0u) << fence;
    EXPECT_EQ(run_all(passes(add, fence, take)).wrong, 0u) << fence;
  }
  EXPECT_GT(run_all(passes(put, "fence.acq_rel.cta;", take)).wrong, 0u);
}

// Nobody reads an older value than somebody has read or changed before.
TEST(LateStore, is_seen_by_whoever_changes_the_word) {
  EXPECT_EQ(run_all(passes(put, "", "atom.global.add.u32 %r4, [%rd2], 0;")).wrong, 0u);
  EXPECT_EQ(run_all(passes(put, "", take + take)).wrong, 0u);
  EXPECT_EQ(run_all(passes(put, "", "atom.global.add.u32 %r5, [%rd2], 0;" + take)).wrong, 0u);
}

// A barrier of the cluster orders the store of block 0 with the load of block 1, whatever block 2
// of another cluster makes of the word in between.
TEST(LateStore, is_seen_by_whoever_comes_after_it) {
  const auto body = [](const std::string& block_1_waits) {
    return R"(
mov.u32 %r1, %ctaid.x; setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2;
mul.wide.u32 %rd1, %t, 4; add.s64 %rd2, %out, %rd1; mov.u32 %r2, 7;
@%p0 st.volatile.global.u32 [%rd2], %r2;
barrier.cluster.arrive; barrier.cluster.wait;
@%p0 st.volatile.global.u32 [%out+2048], 1;
@!%p2 bra $one;
$again: ld.volatile.global.u32 %r3, [%out+2048]; setp.eq.u32 %p3, %r3, 0; @%p3 bra $again;
atom.global.add.u32 %r4, [%rd2], 0; add.s32 %r5, %r4, 1; bar.sync 0;
st.volatile.global.u32 [%out+2052], %r5;
$one: @!%p1 bra $end;
)" + block_1_waits +
           "ld.volatile.global.u32 %r4, [%rd2]; st.global.u32 [%rd2+128], %r4; $end:";
  };
  for (const char* const waits :
       {"",
        "$once_more: ld.volatile.global.u32 %r3, [%out+2052]; setp.eq.u32 %p3, %r3, 0;"
        "@%p3 bra $once_more;"}) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      WrittenKernel kernel(body(waits));
      kernel.cluster = {2};
      ASSERT_EQ(text_of(kernel.run(threads, {.order = Order::shuffled, .seed = seed}, 4)), "");
      for (unsigned n = 0; n < threads; ++n) ASSERT_EQ(kernel.words[threads + n], 7u) << seed;
    }
  }
}

// As in a look-back over blocks: the flag says first that one thing is there, then that another is.
TEST(LateStore, hides_nothing_of_what_the_store_before_it_told_of) {
  const std::string stores = R"(
st.global.u32 [%rd2], %r2; bar.sync 0; membar.gl; @%p2 st.volatile.global.u32 [%out+2048], 1;
membar.gl; bar.sync 0;
)";
  const Runs runs = run_all(passes(stores, "membar.gl;", "membar.gl; ld.global.u32 %r4, [%rd2];"));
  EXPECT_EQ(runs.wrong, 0u) << runs.text;
}

TEST(LateStore, is_none_in_the_other_orders_or_where_all_are_seen_at_once) {
  std::vector<Settings> others = {{.order = Order::forward}, {.order = Order::reverse}};
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    others.push_back({.order = Order::shuffled, .seed = seed, .sees_stores_at_once = true});
  for (const Settings& settings : others) {
    WrittenKernel kernel(passes(put, "", take));
    const Outcome outcome = kernel.run(threads, settings, 2);
    ASSERT_EQ(text_of(outcome), "");
    EXPECT_EQ(kernel.words[threads], 7u);
    EXPECT_EQ(outcome.seen_late, "");
  }
}

}  // namespace
}  // namespace ptx::tests
