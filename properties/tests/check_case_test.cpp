// The check of a given case, the lines by which it is named and replayed, and a check that stops at
// its first failure.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "base/errors.h"
#include "base/project.h"
#include "properties/check.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

const Claim& bound = claim_named("within_bound");

ClaimResult check_given(const Entry& entry, const Claim& claim, const std::string& text) {
  const auto results = check_case({entry}, {&claim}, {parse_case(text)}, {.jobs = 1});
  EXPECT_EQ(results.size(), 1u);
  return results.front();
}

TEST(CheckCase, shrinks_it_where_it_fails) {
  const auto result = check_given(host_entry(multiply_wrongly), bound, "m=20 n=33 k=17 beta=3");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(to_string(result.failure->original), "m=20 n=33 k=17 beta=3");
  EXPECT_EQ(to_string(result.failure->shrunk), "m=1 n=8 k=1 fill=small_ints");
}

TEST(CheckCase, keeps_a_failure_where_no_simpler_case_can_be_judged) {
  const Claim claim = claim_that([](const Entry&, const Case& c, const Resources&) {
    if (c.m < 9 || c.n < 9 || c.k < 9) throw std::runtime_error("no memory");
    return Verdict{.status = TrialStatus::wrong, .judged = 1};
  });
  const auto result = check_given(host_entry(multiply), claim, "m=9 n=9 k=9 fill=small_ints");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(to_string(result.failure->shrunk), "m=9 n=9 k=9 fill=small_ints");
  EXPECT_EQ(result.harness_error, "");
}

TEST(CheckCase, is_not_shrunk_from_one_that_hangs_to_one_that_is_slow) {
  const Claim claim = claim_that([](const Entry&, const Case& c, const Resources& resources) {
    if (c.m == 9) return Verdict{.status = TrialStatus::hung, .reason = "never ends"};
    if (resources.watchdog_seconds < 5)
      return Verdict{.status = TrialStatus::hung, .reason = "still ran"};
    return Verdict{.judged = 1};
  });
  const auto result = check_given(host_entry(multiply), claim, "m=9 n=9 k=9");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(to_string(result.failure->shrunk), "m=9 n=9 k=9");
  EXPECT_EQ(result.failure->verdict.reason, "never ends");
  EXPECT_EQ(result.failure->shrink_steps, 0);
  EXPECT_FALSE(result.failure->shrunk_fully);
}

TEST(CheckCase, tells_why_a_claim_says_nothing_about_it) {
  for (const auto& [claim, words] : {std::pair{"exact_integers", "fill=exact"},
                                     {"beta_zero", "beta=0"},
                                     {"no_product", "alpha=0 or k=0"}}) {
    const auto result = check_given(host_entry(multiply), claim_named(claim), "m=3 n=3 k=3 beta=1");
    EXPECT_EQ(result.cases, 0);
    EXPECT_EQ(result.status(), ClaimStatus::not_judged);
    ASSERT_TRUE(result.skipped) << claim;
    EXPECT_EQ(result.skipped->by, Skip::By::claim) << claim;
    EXPECT_NE(result.reason().find(words), std::string::npos) << result.reason();
  }
}

TEST(CheckCase, speaks_of_no_scalars_that_make_a_right_sum_overflow) {
  const char* text = "m=65 n=17 k=129 alpha=1e38 beta=1e38";
  const auto result = check_given(host_entry(multiply), bound, text);
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(result.cases, 0);
  ASSERT_TRUE(result.skipped);
  EXPECT_EQ(result.skipped->by, Skip::By::claim);
  EXPECT_NE(result.skipped->reason.find("a right sum may overflow"), std::string::npos);
}

TEST(CheckCase, tells_why_the_variant_refuses_it) {
  const auto result = check_given(host_entry(multiply, {.k_multiple = 4}), bound, "m=3 n=3 k=3");
  EXPECT_EQ(result.cases, 0);
  ASSERT_TRUE(result.skipped);
  EXPECT_EQ(result.skipped->by, Skip::By::variant);
  EXPECT_EQ(result.skipped->reason, "k = 3 is not a multiple of 4");
  EXPECT_FALSE(result.failure);
}

TEST(CheckCase, tells_that_there_was_nothing_to_judge) {
  const auto result = check_given(host_entry(multiply), bound, "m=0 n=3 k=3");
  EXPECT_EQ(result.cases, 0);
  EXPECT_EQ(result.empty, 1);
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(result.status(), ClaimStatus::not_judged);
  ASSERT_TRUE(result.skipped);
  EXPECT_EQ(result.skipped->by, Skip::By::empty_c);
}

TEST(ReplayLine, is_a_command_with_a_case_that_reads_back) {
  const Case c = parse_case("m=1 n=8 k=1 beta=0.1 fill=small_ints");
  const ClaimResult result{.entry = host_entry(multiply), .claim = &bound};
  EXPECT_EQ(replay_line(result, {c}),
            "assay check planted --backend host --claim within_bound --case \"m=1 n=8 k=1 beta=0.1 "
            "fill=small_ints\"");
}

TEST(ReplayLine, has_the_watchdog_that_is_not_the_usual_one) {
  const Claim hung = claim_that([](const Entry&, const Case&, const Resources&) {
    return Verdict{.status = TrialStatus::hung};
  });
  const Case c = parse_case("m=1 n=1 k=1");
  const auto result =
      check_case({host_entry(multiply)}, {&hung}, {c}, {.jobs = 1, .watchdog_seconds = 25}).front();
  EXPECT_EQ(replay_line(result, {c}),
            "assay check planted --backend host --claim planted --case \"m=1 n=1 k=1\" "
            "--watchdog 25");
}

TEST(Claims, are_explained_on_a_page_of_their_own) {
  std::ifstream in(project().folder + "/docs/what-each-claim-means.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const Claim& claim : claims()) {
    const std::string row = fmt::format("\n| {} | `{}` | ", claim.heading, claim.name);
    EXPECT_NE(page.find(row), page.npos) << row;
  }
}

TEST(Claims, have_names_that_are_found_and_suggested) {
  std::set<std::string> names;
  for (const Claim& claim : claims()) {
    EXPECT_EQ(&claim_named(claim.name), &claim);
    EXPECT_TRUE(names.insert(claim.name).second) << claim.name;
    EXPECT_LE(std::string_view(claim.heading).size(), 8u) << claim.name;
    EXPECT_NE(std::string_view(claim.sentence), "");
  }
  try {
    claim_named("within_bounds");
    ADD_FAILURE();
  } catch (const BadInput& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("did you mean within_bound?"), message.npos) << message;
    for (const Claim& claim : claims()) EXPECT_NE(message.find(claim.name), message.npos);
  }
}

TEST(FirstFailure, ends_the_check_and_stays_as_it_is) {
  const auto failing = host_entry([](const Gemm&, cudaStream_t) { return cudaErrorInvalidValue; });
  const Claim& zero = claim_named("beta_zero");
  const auto results = check({host_entry(multiply), failing, host_entry(multiply)}, {&bound, &zero},
                             {.cases = 5, .jobs = 4, .first_failure = true});
  ASSERT_EQ(results.size(), 6u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(results[i].status(), ClaimStatus::holds);
  ASSERT_TRUE(results[2].failure);
  EXPECT_EQ(results[2].failure->shrink_steps, 0);
  for (std::size_t i = 3; i < 6; ++i)
    EXPECT_EQ(results[i].reason(), "something had failed before") << results[i].cases;
}

TEST(Check, judges_small_cases_alone_where_more_would_take_hours) {
  const ClaimResult result =
      check({entry_named("planted_hidden_deep", Backend::simt)}, {&claim_named("within_bound")},
            {.cases = 5, .jobs = 1, .small_alone = true})
          .front();
  EXPECT_FALSE(result.failure) << "it is wrong behind a comparison";
  EXPECT_EQ(result.cases, 5);
}

}  // namespace
