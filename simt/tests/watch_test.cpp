#include "simt/watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "simt/tests/observe.h"
#include "simt/tests/watched.h"

namespace simt_test {
namespace {

using simt::Comparison;

void watch(simt::Watch& watch, std::int64_t k, float beta = 0, int threads = 64) {
  std::vector<int> out(128);
  EXPECT_TRUE(is_fine([&] { watched_branches(k, beta, out.data(), threads); }, {.watch = &watch}));
}

// The only comparison with this constant.
Comparison with_constant(const simt::Watch& watch, double constant) {
  const auto all = watch.comparisons();
  const auto is_it = [&](const Comparison& c) { return c.with_constant && c.constant == constant; };
  EXPECT_EQ(std::count_if(all.begin(), all.end(), is_it), 1) << constant;
  const auto found = std::find_if(all.begin(), all.end(), is_it);
  return found == all.end() ? Comparison{} : *found;
}

TEST(Watch, sees_both_values_of_a_comparison) {
  simt::Watch seen;
  for (int k : {5, 2000, 1000}) watch(seen, k);
  const Comparison k = with_constant(seen, 2047);  // as the compiler says k >= 2048
  EXPECT_EQ(k.least, 5);
  EXPECT_EQ(k.greatest, 2000);
  EXPECT_EQ(k.below, -47);
  EXPECT_EQ(k.above, Comparison::infinite);
  EXPECT_FALSE(k.equal);
}

TEST(Watch, knows_which_way_a_branch_went) {
  simt::Watch seen;
  watch(seen, 2047);
  EXPECT_FALSE(with_constant(seen, 2047).went_both_ways());
  EXPECT_TRUE(with_constant(seen, 2047).equal);
  watch(seen, 2048);
  EXPECT_TRUE(with_constant(seen, 2047).went_both_ways());
}

TEST(Watch, tells_threads_apart_at_a_barrier) {
  simt::Watch seen;
  watch(seen, 2048);
  const Comparison thread = with_constant(seen, 2);  // as the compiler says thread < 3
  EXPECT_TRUE(thread.went_both_ways());
  EXPECT_EQ(thread.greatest, 63);
  EXPECT_EQ(thread.below, -1);
  EXPECT_EQ(thread.above, 1);
}

TEST(Watch, sees_what_launch_functions_compare) {
  simt::Watch seen;
  watch(seen, 1);
  EXPECT_EQ(with_constant(seen, 100).greatest, 64);
}

TEST(Watch, sees_floats_and_switches) {
  simt::Watch seen;
  watch(seen, 7, 0.5f);
  const auto all = seen.comparisons();
  const auto of_kind = [&](Comparison::Kind kind) {
    return *std::find_if(all.begin(), all.end(),
                         [&](const Comparison& c) { return c.kind == kind; });
  };
  const Comparison beta = of_kind(Comparison::Kind::floats);
  EXPECT_EQ(std::max(beta.greatest, beta.greatest_other), 0.5);
  EXPECT_FALSE(beta.went_both_ways());
  const Comparison choice = of_kind(Comparison::Kind::switches);
  EXPECT_EQ(std::vector(choice.labels.begin(), choice.labels.end()),
            (std::vector<std::uint64_t>{7, 9}));
  EXPECT_EQ(choice.greatest, 7);
}

TEST(Watch, sees_nothing_when_nobody_watches) {
  simt::Watch seen;
  watch(seen, 1);
  const auto calls = seen.calls();
  std::vector<int> out(128);
  EXPECT_TRUE(is_fine([&] { watched_branches(5000, 0, out.data(), 64); }));
  EXPECT_EQ(seen.calls(), calls);
}

TEST(Watch, ends_a_kernel_that_used_up_its_calls) {
  simt::Watch seen(1000);
  expect_fault(simt::FaultKind::never_ends, "", [] { watched_endless(); }, {.watch = &seen});
  EXPECT_LT(seen.calls(), 1100) << "what follows is the launch function's";
}

TEST(Watch, lets_code_of_the_host_give_back_what_it_holds) {
  struct Lock {
    int& held;
    explicit Lock(int& h) : held(++h) {}
    ~Lock() { --held; }
  };
  simt::Watch counter;
  int held = 0;
  const auto compute = [&](int blocks) {
    const Lock lock(held);
    for (int i = 0; i != blocks; ++i) counter.enter_block(&held);
  };
  EXPECT_TRUE(counter.run(1000, [&] { compute(1000); }));
  EXPECT_FALSE(counter.run(1000, [&] { compute(1001); }));
  EXPECT_EQ(held, 0) << "it was cut short";
  EXPECT_FALSE(counter.run(1000, [&] { compute(-1); })) << "and this one has no end";
}

TEST(Watch, ends_a_memset_before_it_touches_more_than_its_calls_pay_for) {
  simt::Watch seen(1000);
  std::vector<char> memory(64 * 1000, 'a');
  const auto clear = [&] { cudaMemsetAsync(memory.data(), 0, memory.size(), nullptr); };
  expect_fault(simt::FaultKind::never_ends, "", clear, {.watch = &seen});
  EXPECT_EQ(memory.front(), 'a');
  simt::Watch richer(1001);
  EXPECT_TRUE(is_fine(clear, {.watch = &richer}));
  EXPECT_EQ(memory.back(), '\0');
}

}  // namespace
}  // namespace simt_test
