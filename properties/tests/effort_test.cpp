// What running a variant takes, beside its multiplications.
#include <gtest/gtest.h>

#include "properties/draws/cost.h"

namespace {

using namespace assay;

TEST(Effort, counts_threads_and_stops_of_a_tile) {
  const Effort warps = effort_of(entry_named("planted_warps", Backend::simt));
  EXPECT_EQ(warps.threads, 16 * 16 * 32) << "of the tile that is supposed";
  EXPECT_EQ(warps.stops, 5 * warps.threads);
  EXPECT_EQ(warps.stops_per_k, 0);
  const Effort tiled = effort_of(entry_named("tiled_16", Backend::simt));
  EXPECT_EQ(tiled.threads, 16 * 16);
  EXPECT_EQ(tiled.stops, 0);
  EXPECT_EQ(tiled.stops_per_k, 2 * tiled.threads / 16);
}

}  // namespace
