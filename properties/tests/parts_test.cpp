// Large grids of which the CPU executor runs a part.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/registry.h"
#include "oracle/trial.h"
#include "properties/claims.h"
#include "properties/judging/parts.h"

namespace {

using namespace assay;

Verdict judge(const char* variant, const char* text) {
  return claim_named("within_bound")
      .judge(entry_named(variant, Backend::simt), parse_case(text), {});
}

TEST(Parts, show_a_tile_that_another_block_computes) {
  constexpr const char* too_many_tiles = "m=1048577 n=1 k=1";
  const Verdict wrong = judge("planted_tiles_in_16_bits", too_many_tiles);
  EXPECT_EQ(wrong.status, TrialStatus::wrong);
  EXPECT_EQ(wrong.remark, "") << "the whole shows more";
  const Verdict right = judge("planted_never", too_many_tiles);
  EXPECT_EQ(right.status, TrialStatus::right) << right.reason;
  EXPECT_EQ(right.remark, "of grids too large to run whole, 256 blocks were run");
  EXPECT_EQ(right.judged, 255 * 16 + 1);
}

// As large as the variant compares with: of rows and columns of different scale, and of infinities.
TEST(Parts, have_all_data_beyond_what_a_variant_compares_with) {
  Entry entry = entry_named("planted_never", Backend::simt);
  entry.backend = Backend::ptx;
  const auto beyond = [&](std::int64_t known, Fill fill) {
    const auto cases = cases_in_parts(claim_named("within_bound"), entry, 0, {.sizes = {known}});
    return std::count_if(cases.begin(), cases.end(), [&](const Case& c) {
      return c.fill == fill && c.alpha != 0 && c.m > known && c.n > known && c.k > known;
    });
  };
  EXPECT_EQ(beyond(4096, Fill::scaled), 1);
  EXPECT_EQ(beyond(1024, Fill::scaled), 1) << "the one that every variant has";
  EXPECT_EQ(beyond(3000, Fill::special), 1);
}

TEST(Parts, are_not_judged_where_the_whole_costs_little) {
  EXPECT_EQ(judge("planted_never", "m=65537 n=1 k=1").judged, 65537);
}

TEST(Parts, say_nothing_where_blocks_are_not_all_that_writes_c) {
  const Case c = parse_case("m=300 n=300 k=5");
  const auto judged_of = [&](const char* variant, std::uint64_t blocks) {
    const Verdict v =
        run_trial(entry_named(variant, Backend::simt), c, {.most_blocks = blocks}, {});
    EXPECT_EQ(v.status, TrialStatus::right) << variant << ": " << v.reason;
    return v.judged;
  };
  EXPECT_GE(judged_of("planted_never", 16), 12 * 256) << "some of the tiles are cut off";
  EXPECT_LE(judged_of("planted_never", 16), 16 * 256);
  EXPECT_EQ(judged_of("planted_adding", 16), 0);
  EXPECT_EQ(judged_of("planted_never", 1000), 300 * 300) << "it has 361";
}

}  // namespace
