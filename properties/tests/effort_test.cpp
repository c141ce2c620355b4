// What running a variant takes, beside its multiplications.
#include <gtest/gtest.h>

#include "properties/draws/cost.h"

namespace {

using namespace assay;

TEST(Effort, grows_with_the_threads_of_a_tile_and_their_stops) {
  const Effort warps = effort_of(entry_named("planted_warps", Backend::simt));
  const Effort tiled = effort_of(entry_named("tiled_16", Backend::simt));
  ASSERT_TRUE(warps.is_known && tiled.is_known);
  constexpr double threads = 16 * 16, start = 150, stop = 40;
  EXPECT_EQ(warps.tile, threads * 32 * (start + 5 * stop)) << "of the tile that is supposed";
  EXPECT_EQ(tiled.tile, threads * start);
  EXPECT_EQ(warps.tile_per_k, threads * 0.4 + threads * 3);
  EXPECT_EQ(tiled.tile_per_k, warps.tile_per_k + threads * stop * 2 / 16);
}

TEST(Effort, is_known_of_no_variant_that_cannot_be_watched) {
  EXPECT_FALSE(effort_of(entry_named("eigen", Backend::host)).is_known);
}

}  // namespace
