// A claim whose launches are looked at but not run on the executor, and so cost nothing.
#include <gtest/gtest.h>

#include "properties/check.h"

namespace {

using namespace assay;

TEST(TallGrid, is_refused_on_the_executor_as_by_hardware) {
  const Claim& tall = claim_named("tall_grid");
  const auto judge = [&](const char* name) {
    return check({entry_named(name, Backend::simt)}, {&tall}, {.jobs = 1}).front();
  };
  const ClaimResult wrong = judge("planted_rows_on_y");
  ASSERT_TRUE(wrong.failure);
  EXPECT_EQ(wrong.failure->verdict.finding.fault, Fault::launch_refused);
  EXPECT_NE(wrong.failure->verdict.reason.find("y and z may be 65535 at most"), std::string::npos);
  EXPECT_EQ(wrong.failure->shrunk.m, 65535 * 16 + 1);
  EXPECT_EQ(judge("naive").status(), ClaimStatus::holds);
}

}  // namespace
