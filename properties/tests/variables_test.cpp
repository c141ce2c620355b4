// What outlives a launch is seen where there is some, and nothing else is taken for it.
#include "properties/judging/variables.h"

#include <gtest/gtest.h>

#include "oracle/trial.h"
#include "properties/fitting.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

int launches = 0;

cudaError_t counts_launches(const Gemm& g, cudaStream_t stream) {
  ++launches;
  return multiply(g, stream);
}

bool changes_what_is_kept(const Entry& entry) {
  const Case small = fitted({.m = 3, .n = 4, .k = 5}, entry.variant.needs);
  const std::uint64_t before = hash_of_kept(entry, {});
  EXPECT_EQ(run_trial(entry, small, {}).status, TrialStatus::right) << entry.variant.name;
  return hash_of_kept(entry, {}) != before;
}

TEST(Variables, are_seen_to_change) {
  EXPECT_TRUE(changes_what_is_kept(host_entry(counts_launches)));
  EXPECT_EQ(launches, 1);
}

// As a function that is looked up at its first call would.
TEST(Variables, do_not_change_where_stages_of_the_executor_are_launched_for_the_first_time) {
  for (const Entry& entry : ladder()) {
    if (entry.backend != Backend::simt) continue;
    EXPECT_FALSE(changes_what_is_kept(entry)) << entry.variant.name;
  }
}

}  // namespace
