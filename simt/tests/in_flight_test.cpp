// Work of several streams: given ones run at the same time, and others get none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "simt/tests/kernels.h"
#include "simt/tests/observe.h"

namespace {

using simt::FaultKind, simt::Settings;
using namespace simt_test;

char places[2];
cudaStream_t stream(int which) { return reinterpret_cast<cudaStream_t>(&places[which]); }

TEST(InFlight, runs_nothing_before_the_host_code_has_returned) {
  char memory = 0;
  EXPECT_TRUE(is_fine(
      [&] {
        cudaMemsetAsync(&memory, 1, 1, stream(0));
        EXPECT_EQ(memory, 0);
      },
      {.keeps_in_flight = true}));
  EXPECT_EQ(memory, 1);
}

// A byte that two streams have in common; what each then finds there.
TEST(InFlight, keeps_the_order_of_a_stream_and_none_between_two) {
  std::set<std::pair<int, int>> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    char common = 0, found[2] = {0, 0};
    EXPECT_TRUE(is_fine(
        [&] {
          for (int i : {0, 1}) {
            cudaMemsetAsync(&common, 1 + i, 1, stream(i));
            cudaMemcpyAsync(&found[i], &common, 1, cudaMemcpyDefault, stream(i));
          }
        },
        {.seed = seed, .keeps_in_flight = true}));
    seen.insert({found[0], found[1]});
  }
  EXPECT_EQ(seen, (std::set<std::pair<int, int>>{{1, 2}, {1, 1}, {2, 2}}));
}

// A grid whose blocks note when they come, and a memset of the notes in another stream.
TEST(InFlight, comes_between_the_blocks_of_a_grid) {
  std::set<bool> between;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<int> notes(60, -1);
    int next = 1;
    EXPECT_TRUE(is_fine(
        [&] {
          record_block_order(&next, notes.data(), 60);
          cudaMemsetAsync(notes.data(), 0, notes.size() * sizeof(int), stream(0));
        },
        {.seed = seed, .keeps_in_flight = true}));
    EXPECT_EQ(next, 61) << "every block ran, once";
    const auto cleared = std::count(notes.begin(), notes.end(), 0);
    between.insert(cleared > 0 && cleared < 60);
  }
  EXPECT_EQ(between, (std::set<bool>{false, true}));
}

// As whoever has a few places in turn takes for granted that no launch does.
TEST(InFlight, lets_a_stream_stand_still_while_all_of_another_runs) {
  constexpr char last = 40;
  bool stood_still = false;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    char common = 0, found = 0;
    EXPECT_TRUE(is_fine(
        [&] {
          cudaMemsetAsync(&common, 1, 1, stream(0));
          cudaMemcpyAsync(&found, &common, 1, cudaMemcpyDefault, stream(0));
          for (char i = 2; i <= last; ++i) cudaMemsetAsync(&common, i, 1, stream(1));
        },
        {.seed = seed, .keeps_in_flight = true}));
    stood_still |= found == last;
  }
  EXPECT_TRUE(stood_still);
}

TEST(InFlight, is_the_same_for_the_same_seed) {
  const auto run_once = [](std::uint64_t seed) {
    std::vector<int> notes(60, -1);
    int next = 1;
    EXPECT_TRUE(is_fine(
        [&] {
          record_block_order(&next, notes.data(), 60);
          cudaMemsetAsync(notes.data(), 0, notes.size() * sizeof(int), stream(0));
        },
        {.seed = seed, .keeps_in_flight = true}));
    return notes;
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed) EXPECT_EQ(run_once(seed), run_once(seed));
}

TEST(InFlight, ends_at_a_fault) {
  expect_fault(FaultKind::bad_address, "null or wild pointer",
               [] { EXPECT_EQ(cudaMemsetAsync(nullptr, 0, 4, stream(0)), cudaSuccess); },
               {.keeps_in_flight = true});
}

TEST(OtherStream, gets_no_work) {
  char memory = 0;
  const Settings given{.streams = {stream(0)}};
  EXPECT_TRUE(is_fine([&] { cudaMemsetAsync(&memory, 1, 1, stream(0)); }, given));
  expect_fault(
      FaultKind::other_stream, "a memset or memcpy goes to the default stream",
      [&] { EXPECT_NE(cudaMemsetAsync(&memory, 2, 1, nullptr), cudaSuccess); }, given);
  expect_fault(
      FaultKind::other_stream, "a kernel goes to the default stream",
      [&] {
        int next = 0, note = 0;
        record_block_order(&next, &note, 1);
      },
      given);
  expect_fault(
      FaultKind::other_stream, "goes to another stream",
      [&] { cudaMemsetAsync(&memory, 2, 1, stream(1)); }, given);
  EXPECT_EQ(memory, 1);
}

}  // namespace
