#include <gtest/gtest.h>

#include <array>

#include "simt/tests/kernels.h"
#include "simt/tests/observe.h"

namespace {

using simt::FaultKind, simt::Order, simt::Settings;
using namespace simt_test;

std::array<Settings, 3> orders() {
  return {{{.order = Order::forward}, {.order = Order::reverse}, {.order = Order::shuffled}}};
}

TEST(Warp, names_lanes_that_wait_for_each_other_in_different_operations) {
  for (const Settings& order : orders()) {
    expect_fault(FaultKind::warp_not_reached, "__shfl_sync", shuffle_meets_syncwarp, order);
    expect_fault(FaultKind::warp_not_reached, "__syncwarp", shuffle_meets_syncwarp, order);
    expect_fault(FaultKind::warp_not_reached, "waits at __shfl_sync in line ",
                 shuffles_in_two_branches, order);
    expect_fault(FaultKind::warp_not_reached, "__shfl_up_sync", two_shuffles_in_one_line, order);
  }
  expect_fault(FaultKind::warp_not_reached,
               "thread (16,0,0) of block (0,0,0) came to __syncwarp in line",
               shuffle_meets_syncwarp);
  expect_fault(FaultKind::warp_not_reached, "while thread (0,0,0), which it names, waits at",
               shuffle_meets_syncwarp);
}

TEST(Warp, does_not_join_lanes_that_name_others) {
  for (const Settings& order : orders())
    expect_fault(FaultKind::warp_not_reached, "never meet", two_masks_in_one_warp, order);
}

// As CUDA has it from sm_70 on: a __syncwarp waits for any other of the same mask.
TEST(Warp, joins_lanes_that_come_to_syncwarp_in_two_branches) {
  for (const Settings& order : orders()) {
    std::array<int, 32> out{};
    ASSERT_TRUE(is_fine([&] { syncwarps_in_two_branches(out.data()); }, order));
    for (int value : out) EXPECT_EQ(value, 7);
  }
}

}  // namespace
