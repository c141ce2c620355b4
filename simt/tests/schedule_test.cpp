// In which order blocks and threads run, and that every part of a kernel is watched.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "simt/tests/kernels.h"
#include "simt/tests/observe.h"

namespace {

using simt::FaultKind, simt::Order, simt::Settings;
using namespace simt_test;

std::vector<int> block_order(Settings settings) {
  std::vector<int> out(60, -1);
  int next = 0;
  EXPECT_TRUE(is_fine([&] { record_block_order(&next, out.data(), 60); }, settings));
  return out;
}

TEST(Schedule, runs_blocks_in_the_order_asked_for) {
  std::vector<int> up(60);
  std::iota(up.begin(), up.end(), 0);
  EXPECT_EQ(block_order({.order = Order::forward}), up);
  EXPECT_EQ(block_order({.order = Order::reverse}), std::vector<int>(up.rbegin(), up.rend()));

  const auto shuffled = block_order({.order = Order::shuffled, .seed = 5});
  EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), up.begin()));
  EXPECT_EQ(shuffled, block_order({.order = Order::shuffled, .seed = 5}));
  EXPECT_NE(shuffled[0], block_order({.order = Order::shuffled, .seed = 6})[0])
      << "the seed says where it begins";
  int neighbours = 0;
  for (int i = 1; i < 60; ++i) neighbours += (shuffled[i] - shuffled[i - 1] + 60) % 60 == 1;
  EXPECT_LT(neighbours, 10) << "neighbours do not follow each other";
}

std::vector<int> thread_order(int block, int blocks, Settings settings) {
  std::vector<int> next(blocks, 0), out(blocks * 64, -1);
  EXPECT_TRUE(
      is_fine([&] { record_order_in_blocks(next.data(), out.data(), blocks, 64); }, settings));
  return {out.begin() + block * 64, out.begin() + (block + 1) * 64};
}

TEST(Schedule, shuffles_the_threads_of_every_block_in_another_way) {
  const Settings shuffled{.order = Order::shuffled, .seed = 1};
  EXPECT_NE(thread_order(0, 9, shuffled), thread_order(1, 9, shuffled));
}

// So a failure that some order shows is seen again, whatever else runs.
TEST(Schedule, shuffles_the_threads_of_a_block_in_the_same_way_whatever_ran_before) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Settings shuffled{.order = Order::shuffled, .seed = seed};
    EXPECT_EQ(thread_order(0, 9, shuffled), thread_order(0, 9, shuffled));
  }
}

TEST(Schedule, watches_what_follows_a_barrier_or_a_warp_operation) {
  void* const nobodys = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  float* const to = static_cast<float*>(nobodys);
  for (const Order order : {Order::forward, Order::reverse}) {
    const Settings brief{.order = order, .cpu_seconds = 0.02};
    expect_fault(
        FaultKind::bad_address, "wrote to", [&] { store_after_barrier(to); }, brief);
    expect_fault(
        FaultKind::bad_address, "wrote to", [&] { store_after_syncwarp(to); }, brief);
    expect_fault(FaultKind::never_ends, "0.02", loop_forever_after_barrier, brief);
    expect_fault(FaultKind::never_ends, "0.02", loop_forever_after_syncwarp, brief);
  }
}

TEST(Schedule, answers_a_fault_with_the_error_of_cuda) {
  alignas(16) float from[8] = {};
  float to[4];
  simt::observe({}, [&] { EXPECT_EQ(load_float4(from + 1, to), cudaErrorMisalignedAddress); });
  simt::observe({.cpu_seconds = 0.02}, [] { EXPECT_EQ(loop_forever(), cudaErrorLaunchTimeout); });
  simt::observe({}, [] { EXPECT_EQ(two_different_barriers(2), cudaErrorLaunchFailure); });
}

TEST(Schedule, aligns_dynamic_shared_memory_for_vectors) {
  for (std::size_t bytes : {1, 4, 20, 36, 1000}) {
    std::uintptr_t at = 1;
    EXPECT_TRUE(is_fine([&] { dynamic_shared_address(&at, bytes); }));
    EXPECT_EQ(at % 16, 0u) << bytes << " bytes";
  }
}

}  // namespace
