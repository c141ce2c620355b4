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

TEST(Effort, knows_of_a_path_for_columns_that_a_tile_does_not_show) {
  const Effort column = effort_of(entry_named("planted_warps_of_column", Backend::simt));
  const Effort tiled = effort_of(entry_named("tiled_16", Backend::simt));
  EXPECT_EQ(column.element_of_column, 32 * 5 * 40) << "five stops of each lane";
  EXPECT_EQ(column.element_of_row, 0);
  EXPECT_EQ(tiled.element_of_column, 0);
  EXPECT_EQ(tiled.element_of_row, 0);
  Effort by_tiles = column;
  by_tiles.element_of_column = 0;
  const Claim& bound = claim_named("within_bound");
  const Entry entry = entry_named("planted_warps_of_column", Backend::simt);
  const auto added = [&](const Case& c) {
    return cost_of(c, bound, entry, column) - cost_of(c, bound, entry, by_tiles);
  };
  EXPECT_NEAR(added({.m = 1000, .n = 1, .k = 1}), bound.trials * 1000 * column.element_of_column,
              1);
  EXPECT_EQ(added({.m = 1, .n = 1000, .k = 1}), 0);
}

// Of tiles that lie partly beyond C, and of a long side, where either costs more.
TEST(Effort, counts_partial_tiles_and_long_sides_by_themselves) {
  const Claim& bound = claim_named("within_bound");
  const Entry entry = entry_named("tiled_16", Backend::simt);
  const Effort plain{.is_known = true, .tile_per_k = 1000};
  const auto added = [&](const Case& c, const Effort& effort) {
    return (cost_of(c, bound, entry, effort) - cost_of(c, bound, entry, plain)) / bound.trials;
  };
  Effort partial = plain, line = plain;
  partial.element_per_k = 5000, line.tile_of_line = 300;
  EXPECT_NEAR(added({.m = 32, .n = 32, .k = 16}, partial), 0, 1) << "four whole tiles";
  EXPECT_NEAR(added({.m = 33, .n = 32, .k = 16}, partial), 2 * 16 * 4000, 1);
  EXPECT_NEAR(added({.m = 1, .n = 1, .k = 16}, partial), 16 * 4000, 1);
  EXPECT_NEAR(added({.m = 160, .n = 16, .k = 16}, line), 10 * 300, 1);
}

TEST(Effort, is_known_of_no_variant_that_cannot_be_watched) {
  EXPECT_FALSE(effort_of(entry_named("eigen", Backend::host)).is_known);
}

}  // namespace
