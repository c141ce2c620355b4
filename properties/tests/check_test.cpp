// The check itself: it counts what it judged, finds what is wrong, and never passes what it has not
// seen.
#include "properties/check.h"
#include "properties/draws/changes.h"
#include "properties/draws/structures.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

const Claim& bound = claim_named("within_bound");

ClaimResult check_one(const Entry& entry, const Claim& claim, const Budget& budget,
                      const std::vector<CorpusLine>& corpus = {}, const Progress& progress = {}) {
  const auto results = check({entry}, {&claim}, budget, corpus, progress);
  EXPECT_EQ(results.size(), 1u);
  return results.front();
}
ClaimResult check_given(const Entry& entry, const Claim& claim, const std::string& text) {
  const auto results = check_case({entry}, {&claim}, {parse_case(text)}, {.jobs = 1});
  EXPECT_EQ(results.size(), 1u);
  return results.front();
}

// What a variant was given, in the order of its launches; one thread at a time.
std::vector<std::string>& recorded() {
  static std::vector<std::string> launches;
  return launches;
}
cudaError_t record(const Gemm& g, cudaStream_t stream) {
  recorded().push_back(
      fmt::format("{}x{}x{} {} {} {} {} {}", g.m, g.n, g.k, g.alpha, g.beta, g.lda, g.ldb, g.ldc));
  return multiply(g, stream);
}
std::vector<std::string> record_check(const Claim& claim, const Budget& budget,
                                      const std::vector<CorpusLine>& corpus = {}) {
  recorded().clear();
  EXPECT_FALSE(check_one(host_entry(record), claim, budget, corpus).failure);
  return recorded();
}

int cases_beside_drawn_ones(const Claim& claim, const Entry& entry, int cases) {
  return static_cast<int>(opening_case(claim, entry).has_value() +
                          structured_cases(claim, entry, cases, 0).size() +
                          one_thing_changed(claim, entry, cases, 0).size());
}

TEST(Check, judges_as_many_cases_as_it_was_given) {
  for (const char* name : {"within_bound", "any_data", "exact_integers", "beta_zero", "no_product",
                           "writes_only_c", "reads_only_operands", "same_bits_twice", "refuses"}) {
    for (int cases : {1, 2, 3, 10, 50}) {
      const Claim& claim = claim_named(name);
      const auto result = check_one(host_entry(multiply), claim, {.cases = cases, .jobs = 1});
      EXPECT_FALSE(result.failure) << name << ": " << result.failure->verdict.reason;
      EXPECT_EQ(result.cases - cases, cases_beside_drawn_ones(claim, host_entry(multiply), cases));
      EXPECT_GE(result.elements, cases) << name;
      EXPECT_FALSE(result.exempt);
    }
  }
}

TEST(Check, reports_the_largest_error_it_saw) {
  const auto result = check_one(host_entry(multiply), bound, {.cases = 30, .jobs = 1});
  EXPECT_GT(result.worst_gulps, 0.3);
  EXPECT_LT(result.worst_gulps, 6);
  EXPECT_GE(result.allowed_gulps, 2);
  EXPECT_LE(result.allowed_gulps, 16);
}

TEST(Check, answers_every_pair_of_entry_and_claim_in_order) {
  Entry first = host_entry(multiply), second = host_entry(multiply);
  first.variant.name = "first", second.variant.name = "second";
  const std::vector<const Claim*> some = {&bound, &claim_named("refuses"),
                                          &claim_named("beta_zero")};
  for (int jobs : {1, 3}) {
    const auto results = check({first, second}, some, {.cases = 2, .jobs = jobs});
    ASSERT_EQ(results.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_STREQ(results[i].entry.variant.name, i < 3 ? "first" : "second");
      EXPECT_EQ(results[i].claim, some[i % 3]);
      EXPECT_EQ(results[i].cases, 2 + cases_beside_drawn_ones(*some[i % 3], first, 2));
    }
  }
  EXPECT_TRUE(check({}, some, {}).empty() && check({first}, {}, {}).empty());
}

TEST(Check, shrinks_a_failure_to_the_smallest_case) {
  for (std::uint64_t seed : {0, 1, 2}) {
    const auto result =
        check_one(host_entry(multiply_wrongly), bound, {.cases = 100, .seed = seed, .jobs = 1});
    ASSERT_TRUE(result.failure) << result.cases << " cases judged";
    const Failure& failure = *result.failure;
    Case smallest = failure.shrunk;
    EXPECT_NE(smallest.fill, Fill::special);
    EXPECT_NE(smallest.fill, Fill::uniform);
    smallest.fill = Fill::uniform;  // whichever simple one it was drawn with
    EXPECT_EQ(to_string(smallest), "m=1 n=8 k=1");
    EXPECT_EQ(to_string(failure.verdict.status), "wrong");
    EXPECT_NE(failure.verdict.reason.find("1 of 8 elements"), std::string::npos);
    EXPECT_EQ(failure.verdict.judged, 8);
    EXPECT_TRUE(failure.shrunk_fully);
    EXPECT_GT(failure.shrink_steps, 2);
    EXPECT_TRUE(failure.original.n > 7 && failure.original.k % 16 != 0) << "it is one that fails";
    EXPECT_EQ(failure.original_verdict.judged, failure.original.m * failure.original.n);
    EXPECT_LE(result.cases, 100);
    EXPECT_GE(result.cases, 1);
  }
}

TEST(Check, finds_nan_and_nothing_written) {
  const std::vector<Launch> wrong = {
      [](const Gemm&, cudaStream_t) { return cudaSuccess; },
      [](const Gemm& g, cudaStream_t stream) {
        const cudaError_t error = multiply(g, stream);
        if (g.m > 0 && g.n > 0) g.c[0] = std::numeric_limits<float>::quiet_NaN();
        return error;
      },
      [](const Gemm&, cudaStream_t) { return cudaErrorInvalidValue; }};
  for (Launch launch : wrong) {
    const auto result = check_one(host_entry(launch), bound, {.cases = 20, .jobs = 1});
    ASSERT_TRUE(result.failure);
    EXPECT_LE(result.failure->shrunk.multiply_adds(), 1);
  }
}

TEST(Check, goes_no_further_than_the_first_failure) {
  static int launches;
  launches = 0;
  const auto failing = host_entry([](const Gemm&, cudaStream_t) {
    ++launches;
    return cudaErrorInvalidValue;
  });
  const auto result = check_one(failing, bound, {.cases = 50, .jobs = 1});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.cases, 1);
  EXPECT_LT(launches, 200) << "the case and its shrinking";
}

TEST(Check, exempts_a_variant_with_a_reason_and_runs_nothing) {
  Entry tf32 = host_entry(record), unordered = host_entry(record);
  tf32.variant.arithmetic = Arithmetic::tf32;
  recorded().clear();
  for (const auto& [entry, claim] : {std::pair{tf32, "exact_integers"},
                                     {unordered, "fma_replay"},
                                     {unordered, "thread_order"}}) {
    for (const auto& result : {check_one(entry, claim_named(claim), {.cases = 5, .jobs = 1}),
                               check_given(entry, claim_named(claim), "m=3 n=3 k=3")}) {
      EXPECT_TRUE(result.exempt) << claim;
      EXPECT_EQ(result.status(), ClaimStatus::exempt);
      EXPECT_EQ(result.cases, 0);
      EXPECT_FALSE(result.failure);
    }
  }
  EXPECT_TRUE(recorded().empty());
}

TEST(Check, does_not_call_a_variant_checked_that_refuses_everything) {
  const Entry entry = host_entry(multiply, {.a_alignment = 1 << 30});
  const auto result = check_one(entry, bound, {.cases = 20, .jobs = 1});
  EXPECT_EQ(result.cases, 0) << "nothing was judged";
  EXPECT_EQ(result.elements, 0);
  EXPECT_EQ(result.status(), ClaimStatus::too_few);
  EXPECT_FALSE(result.exempt) << "and nobody said that nothing need be";
  EXPECT_FALSE(result.failure);
}

TEST(Check, does_not_count_a_case_in_which_nothing_was_judged) {
  const Claim blind =
      claim_that([](const Entry&, const Case&, const Resources&) { return Verdict{}; });
  const auto result = check_one(host_entry(multiply), blind, {.cases = 10, .jobs = 1});
  EXPECT_EQ(result.cases, 0);
  EXPECT_GE(result.empty, 10);
  EXPECT_LE(result.empty, 100) << "it gives up";
  EXPECT_FALSE(result.failure);
}

TEST(Check, takes_every_end_but_right_and_refused_for_a_failure) {
  for (const Claim& claim : {claim_that([](const Entry&, const Case&, const Resources&) {
                               return Verdict{.status = TrialStatus::wrong};
                             }),
                             claim_that([](const Entry&, const Case&, const Resources&) {
                               return Verdict{.status = TrialStatus::hung};
                             }),
                             claim_that([](const Entry&, const Case&, const Resources&) {
                               return Verdict{.status = TrialStatus::crashed, .judged = 0};
                             })}) {
    const auto result = check_one(host_entry(multiply), claim, {.cases = 10, .jobs = 1});
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.cases, 1);
    EXPECT_LE(result.failure->shrunk.multiply_adds(), 1);
  }
}

TEST(Check, allows_a_trial_the_time_of_its_budget_and_a_second_while_it_shrinks) {
  static std::vector<double> allowed;
  const Claim claim = claim_that([](const Entry&, const Case&, const Resources& resources) {
    allowed.push_back(resources.watchdog_seconds);
    return Verdict{.status = TrialStatus::hung};
  });
  const std::vector<std::pair<double, double>> budget_and_shrinking = {{25, 1}, {0.5, 0.5}};
  for (const auto& [budget, shrinking] : budget_and_shrinking) {
    allowed.clear();
    const auto c = parse_case("m=9 n=9 k=9");
    check_case({host_entry(multiply)}, {&claim}, {c}, {.jobs = 1, .watchdog_seconds = budget});
    ASSERT_GE(allowed.size(), 3u);
    EXPECT_EQ(allowed.front(), budget);
    for (std::size_t i = 1; i + 1 < allowed.size(); ++i) EXPECT_EQ(allowed[i], shrinking);
    EXPECT_EQ(allowed.back(), budget);
  }
}

TEST(Check, shrinks_within_one_kind_of_failure) {
  const Claim claim = claim_that([](const Entry&, const Case& c, const Resources&) {
    return Verdict{.status = c.m > 4 ? TrialStatus::crashed : TrialStatus::wrong, .judged = 1};
  });
  const auto result = check_case({host_entry(multiply)}, {&claim}, {parse_case("m=9 n=9 k=9")}, {});
  ASSERT_TRUE(result.front().failure);
  EXPECT_EQ(result.front().failure->shrunk.m, 5) << "below, it is another failure";
}

TEST(Check, takes_no_more_cases_than_a_claim_wants) {
  Claim slow =
      claim_that([](const Entry&, const Case&, const Resources&) { return Verdict{.judged = 1}; });
  slow.most_cases = 3;
  EXPECT_EQ(check_one(host_entry(multiply), slow, {.cases = 10, .jobs = 1}).cases, 3);
  EXPECT_EQ(check_one(host_entry(multiply), slow, {.cases = 2, .jobs = 1}).cases, 2);
}

TEST(Check, exempts_a_claim_of_few_cases_that_this_machine_cannot_hold) {
  Claim large = claim_that([](const Entry&, const Case&, const Resources&) {
    return Verdict{.status = TrialStatus::refused, .reason = "it takes more memory"};
  });
  large.most_cases = 1;
  for (int cases : {1, 2, 100}) {
    const auto result = check_one(host_entry(multiply), large, {.cases = cases, .jobs = 1});
    ASSERT_TRUE(result.exempt) << cases;
    EXPECT_EQ(result.exempt->by, Skip::By::machine);
    EXPECT_EQ(result.exempt->reason, "it takes more memory");
    EXPECT_EQ(result.cases, 0);
  }
}

TEST(Check, hands_on_what_a_claim_throws) {
  const Claim claim = claim_that([](const Entry&, const Case&, const Resources&) -> Verdict {
    throw BadInput("thrown by a claim");
  });
  for (int jobs : {1, 3})
    EXPECT_THROW(check({host_entry(multiply), host_entry(multiply)}, {&claim}, {.jobs = jobs}),
                 BadInput);
}

TEST(Check, loses_nothing_but_the_pair_in_which_the_harness_fails) {
  int judged = 0;
  const Claim unlucky = claim_that([&](const Entry&, const Case&, const Resources&) {
    if (++judged > 2) throw std::runtime_error("no memory");
    return Verdict{.judged = 1};
  });
  const auto results = check({host_entry(multiply)}, {&unlucky, &bound}, {.cases = 9, .jobs = 1});
  EXPECT_EQ(results[0].harness_error, "no memory");
  EXPECT_EQ(results[0].cases, 2);
  EXPECT_EQ(judged, 3) << "it stops there";
  EXPECT_FALSE(results[0].failure);
  EXPECT_EQ(results[1].harness_error, "");
  EXPECT_EQ(results[1].cases, 9 + cases_beside_drawn_ones(bound, host_entry(multiply), 9));
}

TEST(Check, replays_the_corpus_first) {
  const auto line = [](const char* claim, const char* c) {
    return CorpusLine{&claim_named(claim), parse_case(c)};
  };
  const auto launches = record_check(
      bound, {.cases = 6, .jobs = 1},
      {line("beta_zero", "m=91 n=92 k=93"), line("within_bound", "m=3 n=5 k=7 alpha=2 ldb=+9"),
       line("within_bound", "m=4 n=6 k=8 beta=2")});
  ASSERT_GE(launches.size(), 6u);
  EXPECT_EQ(launches[0], "3x5x7 2 0 7 14 5");
  EXPECT_EQ(launches[1], "4x6x8 1 2 8 6 6");
  EXPECT_EQ(std::count(launches.begin(), launches.end(), "91x92x93 1 0 93 92 92"), 0)
      << "that is another claim's";
}

TEST(Check, fits_a_case_of_the_corpus_to_claim_and_variant) {
  const std::vector<CorpusLine> corpus = {{&bound, parse_case("m=3 n=5 k=7 fill=small_ints")}};
  recorded().clear();
  const auto entry = host_entry(record, {.k_multiple = 4, .ldb_multiple = 8});
  EXPECT_EQ(check_one(entry, bound, {.cases = 2, .jobs = 1}, corpus).cases, 3);
  ASSERT_FALSE(recorded().empty());
  EXPECT_EQ(recorded().front(), "3x5x8 1 0 8 8 5");
}

TEST(Check, draws_as_many_cases_whatever_the_corpus_holds) {
  std::vector<CorpusLine> corpus;
  for (int seed = 0; seed < 60; ++seed)
    corpus.push_back({&bound, parse_case("m=2 n=2 k=2 seed=" + std::to_string(seed))});
  const auto without = record_check(bound, {.cases = 50, .jobs = 1});
  const auto with = record_check(bound, {.cases = 50, .jobs = 1}, corpus);
  ASSERT_EQ(with.size(), 60 + without.size());
  EXPECT_EQ(std::vector(with.begin() + 60, with.end()), without);
}

TEST(Check, names_the_line_of_the_corpus_that_is_too_large_here) {
  const std::vector<CorpusLine> corpus = {{&bound, parse_case("m=1000000000 n=1000 k=1000")}};
  try {
    check_one(host_entry(multiply), bound, {.cases = 2, .jobs = 1}, corpus);
    ADD_FAILURE() << "it was judged";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("'within_bound: m=1000000000 n=1000 k=1000' cannot"),
              std::string::npos)
        << error.what();
  }
}

TEST(Check, fails_by_a_case_of_the_corpus_alone) {
  const std::vector<CorpusLine> corpus = {{&bound, parse_case("m=9 n=9 k=9")}};
  const auto result =
      check_one(host_entry(multiply_wrongly), bound, {.cases = 50, .jobs = 1}, corpus);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(to_string(result.failure->original), "m=9 n=9 k=9");
  EXPECT_EQ(result.cases, 1);
}

TEST(Check, draws_the_same_cases_for_the_same_seed_only) {
  const Claim& small = claim_named("beta_zero");  // which takes no other cases than drawn ones
  const auto once = record_check(small, {.cases = 30, .seed = 5, .jobs = 1});
  EXPECT_GE(once.size(), 30u);
  EXPECT_EQ(record_check(small, {.cases = 30, .seed = 5, .jobs = 1}), once);
  EXPECT_NE(record_check(small, {.cases = 30, .seed = 6, .jobs = 1}), once);
  EXPECT_GT(std::set<std::string>(once.begin(), once.end()).size(), 25u) << "all sorts of cases";
}

TEST(Check, gives_the_same_result_whatever_runs_beside_it) {
  const std::vector<const Claim*> some = {&bound, &claim_named("exact_integers")};
  const auto alone = check({host_entry(multiply_wrongly)}, some, {.cases = 40, .jobs = 1});
  const auto together = check({host_entry(multiply_wrongly)}, some, {.cases = 40, .jobs = 4});
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(alone[i].failure && together[i].failure);
    EXPECT_EQ(alone[i].failure->original, together[i].failure->original);
    EXPECT_EQ(alone[i].failure->shrunk, together[i].failure->shrunk);
    EXPECT_EQ(alone[i].cases, together[i].cases);
  }
}

TEST(Check, takes_large_shapes_with_all_sorts_of_scalars_and_gaps) {
  std::set<std::string> kinds;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const std::string& launch : record_check(bound, {.cases = 2, .seed = seed, .jobs = 1}))
      if (launch.starts_with("128x128x128 ")) kinds.insert(launch);
  }
  EXPECT_GE(kinds.size(), 6u);
  EXPECT_TRUE(std::any_of(kinds.begin(), kinds.end(), [](const std::string& launch) {
    return launch.find(" 0 ") != std::string::npos;  // beta
  }));
}

TEST(Check, takes_large_shapes_where_the_budget_has_room) {
  const auto count_large = [](const std::vector<std::string>& launches) {
    return std::count_if(launches.begin(), launches.end(), [](const std::string& launch) {
      return launch.starts_with("128x128x128 ");
    });
  };
  EXPECT_EQ(count_large(record_check(bound, {.cases = 2, .jobs = 1})), 1);
  EXPECT_EQ(count_large(record_check(claim_named("beta_zero"), {.cases = 2, .jobs = 1})), 0);
}

TEST(Check, tells_how_far_it_is) {
  std::vector<int> numbers;
  int expected_of_all = 0;
  const auto result = check({host_entry(multiply)}, {&bound, &claim_named("beta_zero")},
                            {.cases = 10, .jobs = 1}, {}, [&](int done, int expected) {
                              numbers.push_back(done);
                              expected_of_all = expected;
                            });
  EXPECT_EQ(expected_of_all, 20);
  ASSERT_GE(numbers.size(), 20u);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    EXPECT_EQ(numbers[i], static_cast<int>(i) + 1) << "one more each time";
}

TEST(CheckCase, judges_just_that_case) {
  recorded().clear();
  const auto result = check_given(host_entry(record), bound, "m=3 n=4 k=5 beta=2 seed=9");
  EXPECT_EQ(recorded(), std::vector<std::string>{"3x4x5 1 2 5 4 4"});
  EXPECT_EQ(result.cases, 1);
  EXPECT_EQ(result.elements, 12);
  EXPECT_FALSE(result.skipped);
}

}  // namespace
