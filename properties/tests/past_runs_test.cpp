#include "properties/aims/past_runs.h"

#include <gtest/gtest.h>

#include "oracle/watched/dry_launches.h"
#include "properties/tests/planted.h"

namespace assay {
namespace {

const Case some_case{.m = 3, .n = 5, .k = 2, .alpha = 1.5f};
Entry planted(const char* name) { return entry_named(name, Backend::simt); }
WatchedRun run_of(std::uint64_t calls) {
  return {.comparisons = {{.where = &some_case}}, .places = {{}}, .calls = calls};
}

TEST(PastRuns, stand_for_any_in_which_the_kernel_comes_to_its_end) {
  PastRuns past(planted("planted_hash"));
  EXPECT_FALSE(past.find(some_case, 100));
  past.add(run_of(60));
  for (const std::uint64_t most_calls : {61, 100, 1000}) {
    const auto found = past.find(some_case, most_calls);
    ASSERT_TRUE(found) << most_calls;
    EXPECT_EQ(found->calls, 60u);
    EXPECT_EQ(found->comparisons.size(), 1u);
    EXPECT_TRUE(found->places.empty());
  }
  EXPECT_FALSE(past.find(some_case, 60)) << "it would be ended";
  Case other = some_case;
  other.seed = 1;
  EXPECT_FALSE(past.find(other, 100));
}

TEST(PastRuns, that_were_ended_stand_for_those_that_are_ended_as_soon) {
  PastRuns past(planted("planted_hash"));
  EXPECT_FALSE(past.find(some_case, 100));
  past.add(run_of(100));
  EXPECT_TRUE(past.find(some_case, 100));
  EXPECT_FALSE(past.find(some_case, 99));
  EXPECT_FALSE(past.find(some_case, 101));
}

TEST(PastRuns, are_none_that_took_too_long) {
  PastRuns past(planted("planted_hash"));
  EXPECT_FALSE(past.find(some_case, 100));
  WatchedRun run = run_of(60);
  run.timed_out = true;
  past.add(run);
  EXPECT_FALSE(past.find(some_case, 100));
}

// It keeps the sizes of the last launch.
TEST(PastRuns, stand_for_none_where_something_else_is_kept_between_launches) {
  const Entry entry = planted("planted_exchange");
  DryLaunches launches(entry, {});
  PastRuns past(entry);
  launches.launch({some_case});
  EXPECT_FALSE(past.find(some_case, 100));
  past.add(run_of(60));
  EXPECT_TRUE(past.find(some_case, 100));
  launches.launch({{.m = 7, .n = 5, .k = 2}});
  EXPECT_FALSE(past.find(some_case, 100));
  launches.launch({some_case});
  EXPECT_TRUE(past.find(some_case, 100));
}

TEST(PastRuns, are_none_that_left_something) {
  const Entry entry = planted("planted_exchange");
  DryLaunches launches(entry, {});
  PastRuns past(entry);
  EXPECT_FALSE(past.find(some_case, 100));
  launches.launch({{.m = 11, .n = 5, .k = 2}});
  past.add(run_of(60));
  EXPECT_FALSE(past.find(some_case, 100));
}

}  // namespace
}  // namespace assay
