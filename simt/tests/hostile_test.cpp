// What only hostile orders show, and that a right kernel stays right in all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "simt/tests/hostile.h"
#include "simt/tests/observe.h"

namespace {

using simt::FaultKind, simt::Order, simt::Settings;
using namespace simt_test;

// How many of 30 seeds show another result than `wanted`.
template <class Result>
int failures(Settings settings, const std::vector<float>& wanted, const Result& result) {
  int failed = 0;
  for (settings.seed = 0; settings.seed < 30; ++settings.seed) {
    const std::vector<float> got = result(settings);
    EXPECT_EQ(got, result(settings)) << "a seed fixes the result";
    failed += got != wanted;
  }
  return failed;
}

const Settings shuffled{.order = Order::shuffled};
const Settings interrupted{.order = Order::shuffled, .interrupt_accesses = true};

TEST(Hostile, lets_blocks_overlap) {
  constexpr int blocks = 7;
  for (const bool early : {false, true}) {
    const int failed = failures(shuffled, {64.0f * blocks}, [&](const Settings& settings) {
      std::vector<float> parts(64 * blocks, 0), sum(1, 0);
      unsigned tickets = 0;
      EXPECT_TRUE(is_fine([&] { add_up_last(early, parts.data(), &tickets, sum.data(), blocks); },
                          settings));
      return sum;
    });
    EXPECT_EQ(failed > 0, early) << failed << " of 30";
  }
}

TEST(Hostile, keeps_the_shared_memory_of_blocks_that_overlap_apart) {
  for (const Settings& settings : {shuffled, interrupted}) {
    EXPECT_EQ(
        failures(settings, std::vector<float>(8 * 5, 16),
                 [](const Settings& s) {
                   std::vector<float> out(8 * 5);
                   EXPECT_TRUE(is_fine([&] { count_in_shared(true, out.data(), 5, 128); }, s));
                   return out;
                 }),
        0);
  }
}

TEST(Hostile, lets_a_warp_get_ahead_and_fall_back) {
  constexpr int threads = 128, rounds = 3;
  std::vector<float> wanted(threads);
  for (int i = 0; i < threads; ++i) wanted[i] = static_cast<float>((i + 32 * rounds) % threads);
  for (const bool apart : {false, true}) {
    const int failed = failures(shuffled, wanted, [&](const Settings& settings) {
      std::vector<float> out(threads);
      EXPECT_TRUE(
          is_fine([&] { pass_between_warps(apart, rounds, out.data(), threads); }, settings));
      return out;
    });
    EXPECT_EQ(failed > 10, apart) << failed << " of 30";
    EXPECT_EQ(failed == 0, !apart) << failed << " of 30";
  }
}

// Between the load and the store of one thread another may come.
TEST(Hostile, interrupts_threads_at_their_accesses) {
  const auto count = [](auto add) {
    return [add](const Settings& settings) {
      std::vector<float> counters(8, 0);
      EXPECT_TRUE(is_fine([&] { add(counters.data()); }, settings));
      return counters;
    };
  };
  const std::vector<float> of_two_blocks(8, 8);
  EXPECT_EQ(failures(interrupted, of_two_blocks,
                     count([](float* counters) { count_with_atomics(counters, 2, 32); })),
            0);
  EXPECT_GT(failures(interrupted, of_two_blocks,
                     count([](float* counters) { count_without(counters, 2, 32); })),
            20);
  EXPECT_GT(failures(interrupted, of_two_blocks,
                     count([](float* counters) { count_in_shared(false, counters, 1, 64); })),
            20)
      << "in shared memory too";
  EXPECT_EQ(failures(shuffled, of_two_blocks,
                     count([](float* counters) { count_without(counters, 2, 32); })),
            0)
      << "only where it was asked for";
}

TEST(Hostile, lets_a_thread_wait_for_a_flag_where_others_may_come_first) {
  int flag = 0;
  EXPECT_TRUE(is_fine([&] { wait_for_a_flag(&flag, 64); }, interrupted));
  flag = 0;
  expect_fault(FaultKind::never_ends, "still running", [&] { wait_for_a_flag(&flag, 64); },
               {.cpu_seconds = 0.02});
}

TEST(Hostile, names_an_array_that_is_overrun) {
  float out = 0;
  for (const auto launch : {overrun_own_array, overrun_shared_array}) {
    EXPECT_TRUE(is_fine([&] { launch(7, &out); }));
    expect_fault(FaultKind::array_overrun,
                 "index 8 of an array that is 'float [8]' (hostile.cu:", [&] { launch(8, &out); });
    expect_fault(FaultKind::array_overrun, "used index -1 of", [&] { launch(-1, &out); });
  }
}

}  // namespace
