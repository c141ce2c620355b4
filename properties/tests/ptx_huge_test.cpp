// Problems that leave 32 bits, of which the PTX machine runs some blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "oracle/trial.h"
#include "oracle/vast/vast_operand.h"
#include "oracle/vast/vast_trial.h"
#include "oracle/watched/watched_run.h"
#include "properties/check.h"

namespace {

using namespace assay;

ClaimResult judged(const char* variant, std::uint64_t seed = 0, const char* claim = "huge_sizes") {
  return check({entry_named(variant, Backend::ptx)}, {&claim_named(claim)},
               {.cases = 100, .seed = seed, .jobs = 1})
      .front();
}
std::string words_of(const ClaimResult& result) {
  if (!result.failure) return "no failure";
  return result.failure->verdict.diagnosis + " " + result.failure->verdict.reason;
}

TEST(HugeSizes, are_right_where_all_is_counted_in_64_bits) {
  for (const char* variant :
       {"huge_linear", "huge_table", "huge_copy", "huge_small_tiles", "huge_scale"}) {
    const ClaimResult result = judged(variant);
    EXPECT_EQ(result.status(), ClaimStatus::holds) << variant << ": " << words_of(result);
    EXPECT_GE(result.cases, 10) << variant;
  }
  EXPECT_FALSE(judged("huge_shares").failure) << words_of(judged("huge_shares"));
}

TEST(HugeSizes, show_two_threads_that_have_one_number) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(words_of(judged("huge_linear_unsigned", seed)), testing::HasSubstr("data race"));
}

TEST(HugeSizes, run_small_grids_whole_that_prepare_large_ones) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(words_of(judged("huge_table_short", seed)), testing::HasSubstr("data race"));
}

TEST(HugeSizes, show_a_workspace_that_is_too_small) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(words_of(judged("huge_copy_unsigned", seed)), testing::HasSubstr("bad address"));
}

// How much that is, neither the variant nor a comparison says.
TEST(HugeSizes, show_memory_that_a_launch_allocates) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    EXPECT_THAT(words_of(judged("huge_parts_int", seed)), testing::HasSubstr("bad address"));
    EXPECT_THAT(words_of(judged("huge_parts_float", seed)), testing::HasSubstr("past the end"));
    EXPECT_FALSE(judged("huge_parts", seed).failure) << words_of(judged("huge_parts", seed));
  }
}

// What the first kernel has left out, the second one reads as well: only where it reads counts.
TEST(HugeSizes, show_where_a_second_kernel_reads) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(
        words_of(judged("huge_parts_read_int", seed)),
        testing::AllOf(testing::HasSubstr("bad address"), testing::HasSubstr("reads 4 bytes")));
}

TEST(HugeSizes, say_nothing_where_the_device_has_not_that_much_memory) {
  const Verdict verdict = run_vast_trial(entry_named("huge_parts", Backend::ptx),
                                         parse_case("m=131072 n=131072 k=8192"));
  EXPECT_EQ(verdict.status, TrialStatus::refused);
  EXPECT_THAT(verdict.reason, testing::HasSubstr("the device has not that much memory"));
}

TEST(HugeSizes, show_that_nothing_was_computed) {
  EXPECT_THAT(words_of(judged("huge_strided_int")), testing::HasSubstr("was never written"));
}

TEST(HugeSizes, show_that_a_block_is_missing) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(words_of(judged("huge_small_tiles_float", seed)),
                testing::HasSubstr("of 1600640064 elements of C at most 1600640000 are written"));
}

TEST(HugeSizes, show_where_c_is_read) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(words_of(judged("huge_blends_int", seed)), testing::HasSubstr("reads 4 bytes"));
}

TEST(HugeSizes, show_shares_that_are_empty) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(words_of(judged("huge_shares_int", seed)), testing::HasSubstr("that nobody wrote"));
}

TEST(HugeSizes, show_what_is_left_where_nothing_is_multiplied) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(words_of(judged("huge_scale_int", seed)), testing::HasSubstr("are written"));
}

TEST(LargeProblems, hold_zeros_that_meet_infinities) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    const ClaimResult result = judged("large_without_zeros", seed, "within_bound");
    ASSERT_TRUE(result.failure) << seed;
    EXPECT_EQ(result.failure->original.fill, Fill::special) << seed;
  }
}

TEST(LargePaths, meet_an_alpha_of_0_and_denormals) {
  for (const std::uint64_t seed : {0, 1})
    for (const auto& [name, fill, alpha] :
         {std::tuple("large_without_alpha", Fill::special, 0.0f),
          std::tuple("large_without_denormals", Fill::scaled, 1.0f)}) {
      const ClaimResult result = judged(name, seed, "within_bound");
      ASSERT_TRUE(result.failure) << name << ": " << seed;
      EXPECT_EQ(result.failure->original.fill, fill) << name << ": " << seed;
      EXPECT_EQ(result.failure->original.alpha == 0, alpha == 0) << name << ": " << seed;
    }
}

TEST(LargePaths, are_judged_by_fewer_blocks_where_each_takes_long) {
  const Verdict verdict =
      claim_named("within_bound")
          .judge(entry_named("large_bands", Backend::ptx), parse_case("m=2050 n=4100 k=2060"), {});
  EXPECT_EQ(verdict.status, TrialStatus::wrong) << verdict.judged;
  EXPECT_THAT(verdict.remark, testing::HasSubstr("4 blocks were run"));
}

TEST(LargePaths, meet_a_device_without_memory) {
  const ClaimResult result = judged("large_unasked_memory", 0, "launch_errors");
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(words_of(result), testing::HasSubstr("where the device has no memory left"));
  EXPECT_FALSE(judged("large_asked_memory", 0, "launch_errors").failure)
      << words_of(judged("large_asked_memory", 0, "launch_errors"));
}

TEST(HugeSizes, have_many_rows_that_together_leave_32_bits) {
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_THAT(words_of(judged("large_int", seed)),
                testing::HasSubstr("an index of C overflowed 32 bits"));
}

TEST(HugeSizes, say_nothing_of_what_takes_too_long) {
  const Verdict verdict =
      run_vast_trial(entry_named("huge_strided", Backend::ptx), parse_case("m=65600 n=65600 k=2"));
  EXPECT_EQ(verdict.status, TrialStatus::refused);
  EXPECT_THAT(verdict.reason, testing::HasSubstr("takes too long"));
}

TEST(HugeSizes, say_nothing_of_a_launch_for_each_row) {
  const Verdict verdict =
      run_vast_trial(entry_named("huge_rows", Backend::ptx), parse_case("m=2000000 n=1100 k=2"));
  EXPECT_EQ(verdict.status, TrialStatus::refused);
  EXPECT_THAT(verdict.reason, testing::HasSubstr("takes too long"));
}

TEST(HugeSizes, say_nothing_where_host_code_goes_by_all_blocks) {
  const Entry counts = entry_named("huge_counted", Backend::ptx);
  const Verdict huge = run_vast_trial(counts, parse_case("m=46400 n=46400 k=2"));
  EXPECT_EQ(huge.status, TrialStatus::refused);
  EXPECT_THAT(huge.reason, testing::HasSubstr("its host code goes by blocks that were left out"));
  const Verdict part = run_trial(counts, parse_case("m=1000 n=1000 k=2"), {.most_blocks = 8});
  EXPECT_EQ(part.status, TrialStatus::right) << part.reason;
  EXPECT_EQ(part.judged, 0);
  for (const char* claim : {"tall_grid", "within_bound"})
    EXPECT_EQ(judged("huge_counted", 0, claim).status(), ClaimStatus::holds)
        << claim << ": " << words_of(judged("huge_counted", 0, claim));
}

// An error of CUDA's has nothing to do with blocks that were left out.
TEST(HugeSizes, show_a_call_that_fails_behind_what_was_run_in_part) {
  const Verdict huge = run_vast_trial(entry_named("huge_fails_behind", Backend::ptx),
                                      parse_case("m=46400 n=46400 k=2"));
  EXPECT_EQ(huge.status, TrialStatus::crashed) << huge.reason;
}

TEST(Exploration, ends_where_each_row_is_launched_by_itself) {
  const WatchedRun run = watched_run_of_ptx(entry_named("huge_rows", Backend::ptx),
                                            parse_case("m=2000000 n=2 k=2"), 50'999);
  EXPECT_GE(run.calls, 50'000u);
  EXPECT_LT(run.calls, 100'000u);
  EXPECT_FALSE(run.timed_out);
}

TEST(VastOperand, tells_what_was_written) {
  VastOperand c(1 << 20, 1 << 16, 1 << 16, 3);
  EXPECT_TRUE(c.changed(10).empty());
  c.first()[(std::int64_t{1} << 35) + 5] = 1;
  const auto changed = c.changed(10);
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].row, 1 << 19);
  EXPECT_EQ(changed[0].column, 5);
}

TEST(VastOperand, tells_some_of_much_that_was_written) {
  VastOperand c(1 << 10, 1 << 10, 1 << 10, 3);
  for (std::int64_t i = 0; i < 1 << 20; ++i) c.first()[i] = 1;
  const auto changed = c.changed(100);
  ASSERT_EQ(changed.size(), 100u);
  EXPECT_EQ(changed.front().row, 0);
  EXPECT_GT(changed.back().row, 1000);
}

TEST(VastOperand, holds_numbers_all_over) {
  VastOperand a(1 << 17, 1 << 17, 1 << 17, 0);
  a.fill();
  EXPECT_NE(a.at(0, 0), 0);
  EXPECT_NE(a.at((1 << 17) - 1, (1 << 17) - 1), 0);
  EXPECT_NE(a.at(5, 7), a.at(5, 8));
  EXPECT_NE(a.at(5, 7), a.at(6, 7));
}

}  // namespace
