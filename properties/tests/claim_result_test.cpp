// What a set of trials amounts to.
#include "properties/claim_result.h"

#include <gtest/gtest.h>

namespace {

using namespace assay;

TEST(ClaimResult, holds_only_where_all_wanted_cases_were_judged) {
  ClaimResult result{.wanted = 10, .cases = 10};
  EXPECT_EQ(result.status(), ClaimStatus::holds);
  EXPECT_EQ(result.reason(), "");
  result.cases = 9;
  EXPECT_EQ(result.status(), ClaimStatus::too_few);
  EXPECT_EQ(result.reason(), "judged only 9 of 10 cases");
  result.cases = 0, result.empty = 50;
  EXPECT_EQ(result.status(), ClaimStatus::too_few);
  EXPECT_EQ(result.reason(), "judged nothing in 50 empty cases");
  result.empty = 1;
  EXPECT_EQ(result.reason(), "judged nothing in 1 empty case");
}

TEST(ClaimResult, says_the_gravest_that_was_found) {
  ClaimResult result{.wanted = 1};
  result.skipped = Skip{Skip::By::variant, "k = 3 is not a multiple of 4"};
  EXPECT_EQ(result.status(), ClaimStatus::not_judged);
  EXPECT_EQ(result.reason(), "k = 3 is not a multiple of 4");
  result.exempt = Skip{Skip::By::claim, "it takes a GPU"};
  EXPECT_EQ(result.status(), ClaimStatus::exempt);
  EXPECT_EQ(result.reason(), "it takes a GPU");
  result.harness_error = "no memory";
  EXPECT_EQ(result.status(), ClaimStatus::harness_error);
  EXPECT_EQ(result.reason(), "no memory");
  result.failure.emplace();
  result.failure->verdict = {.status = TrialStatus::hung, .reason = "it never ends"};
  EXPECT_EQ(result.status(), ClaimStatus::fails);
  EXPECT_EQ(result.reason(), "hung: it never ends");
}

ClaimResult failing(const char* claim, Finding finding) {
  ClaimResult result{.claim = &claim_named(claim)};
  result.failure.emplace();
  result.failure->verdict = {.status = TrialStatus::wrong, .finding = finding};
  return result;
}

TEST(Lead, is_the_failure_that_says_best_what_to_look_for) {
  const ClaimResult holds{.claim = &claim_named("within_bound")};
  const std::vector<ClaimResult> race = {holds, failing("exact_integers", {Fault::k_missing}),
                                         failing("beta_zero", {Fault::read_shared}),
                                         failing("thread_order", {Fault::thread_order}),
                                         failing("refuses", {Fault::wrong_values})};
  EXPECT_EQ(lead_of(race), &race[3]);
  const std::vector<ClaimResult> outside = {
      failing("within_bound", {Fault::read_outside}), failing("no_product", {Fault::bad_address}),
      failing("reads_only_operands", {Fault::bad_address, Operand::a}),
      failing("thread_order", {Fault::bad_address, Operand::b})};
  EXPECT_EQ(lead_of(outside), &outside[2]) << "the first that names the operand";
  const std::vector<ClaimResult> stride = {
      failing("reads_only_operands", {Fault::bad_address, Operand::b}),
      failing("exact_integers", {Fault::wrong_stride})};
  EXPECT_EQ(lead_of(stride), &stride[1]) << "the cause";
  EXPECT_EQ(lead_of(std::vector{holds}), nullptr);
  EXPECT_EQ(lead_of({}), nullptr);
}

}  // namespace
