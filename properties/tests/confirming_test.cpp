// Confirming failures: what is reported fails again in a fresh process.
#include "properties/confirming.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>

#include "properties/check.h"
#include "properties/shrinking.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

using Cases = std::vector<Case>;

const Claim& bound = claim_named("within_bound");

Failure failure_on(const Case& original, const Case& shrunk) {
  const Verdict wrong{.status = TrialStatus::wrong, .finding = {Fault::beta}};
  return {.original = original, .shrunk = shrunk, .original_verdict = wrong, .verdict = wrong};
}
// Where the last case of a sequence fails if `fails` says so.
// Each case takes 1 of what it may take.
Failure confirm(const Failure& failure, const Cases& before,
                const std::function<bool(const Cases&)>& fails, double most = 1e6) {
  Allowance left(most);
  return confirmed(
      failure, before, 10, [](const Case& c) { return smaller_cases(c); },
      [&](const Cases& cases, double) {
        left.spend(static_cast<double>(cases.size()));
        return fails(cases) ? Verdict{.status = TrialStatus::wrong, .finding = {Fault::beta}}
                            : Verdict{.judged = 1};
      },
      left);
}

const Case small = parse_case("m=1 n=1 k=1 fill=small_ints"), large = parse_case("m=9 n=9 k=9");

TEST(Confirming, leaves_a_failure_that_needs_nothing_else) {
  const Failure certain = confirm(failure_on(large, small), {large},
                                  [](const Cases& cases) { return cases.size() == 1; });
  EXPECT_EQ(certain.shrunk, small);
  EXPECT_TRUE(certain.before.empty());
  EXPECT_EQ(certain.verdict.finding.fault, Fault::beta);
}

TEST(Confirming, shrinks_again_where_only_the_original_fails_by_itself) {
  const Failure certain = confirm(failure_on(large, small), {}, [](const Cases& cases) {
    return cases.size() == 1 && cases[0].m > 4;
  });
  EXPECT_EQ(to_string(certain.shrunk), "m=5 n=1 k=1 fill=small_ints");
  EXPECT_TRUE(certain.before.empty());
}

TEST(Confirming, finds_that_a_second_launch_fails) {
  const Failure certain = confirm(failure_on(large, small), {large, large},
                                  [](const Cases& cases) { return cases.size() > 1; });
  EXPECT_EQ(certain.sequence(), (Cases{small, small}));
  EXPECT_EQ(certain.verdict.finding.fault, Fault::keeps_state);
  EXPECT_TRUE(certain.reproduced);
}

// As a race may: every sequence of two or more fails once, and never again.
TEST(Confirming, keeps_the_verdict_of_a_sequence_that_fails_only_once) {
  int failed = 0;
  const Failure certain =
      confirm(failure_on(large, small), {large, large},
              [&](const Cases& cases) { return cases.size() > 1 && failed++ == 0; });
  EXPECT_TRUE(certain.reproduced);
  EXPECT_EQ(certain.verdict.status, TrialStatus::wrong);
  EXPECT_EQ(certain.verdict.finding.fault, Fault::keeps_state);
  EXPECT_EQ(certain.sequence(), (Cases{small, small}));
}

TEST(Confirming, keeps_the_verdict_of_a_long_sequence_that_fails_only_once) {
  int failed = 0;
  const Failure certain =
      confirm(failure_on(large, small), {large, large, small, large},
              [&](const Cases& cases) { return cases.size() > 3 && failed++ == 0; });
  EXPECT_TRUE(certain.reproduced);
  EXPECT_EQ(certain.verdict.status, TrialStatus::wrong);
  EXPECT_EQ(certain.before.size(), 4u);
}

TEST(Confirming, finds_the_cases_that_a_failure_takes_and_shrinks_each) {
  const Case tall = parse_case("m=50 n=3 k=3"), deep = parse_case("m=4 n=4 k=40");
  const auto fails = [](const Cases& cases) {
    bool was_deep = false;
    for (std::size_t i = 0; i + 1 < cases.size(); ++i) was_deep |= cases[i].k > 16;
    return was_deep && cases.back().m > 4;
  };
  const Failure certain =
      confirm(failure_on(large, large), {tall, large, deep, tall, large}, fails);
  ASSERT_EQ(certain.before.size(), 1u);
  EXPECT_EQ(to_string(certain.before[0]), "m=1 n=1 k=17 fill=small_ints");
  EXPECT_EQ(to_string(certain.shrunk), "m=5 n=1 k=1 fill=small_ints");
}

// 1000 cases were judged before, and it takes one of them in the middle.
TEST(Confirming, keeps_to_what_it_has_found_once_it_has_taken_enough) {
  Cases before(1000, large);
  before[500] = parse_case("m=4 n=4 k=40");
  double judged = 0;
  const auto fails = [&](const Cases& cases) {
    judged += static_cast<double>(cases.size());
    return cases.size() > 1 &&
           std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.k > 16; });
  };
  for (const double most : {1500.0, 2500.0, 1e6}) {
    judged = 0;
    const Failure certain = confirm(failure_on(large, small), before, fails, most);
    EXPECT_TRUE(certain.reproduced);
    EXPECT_EQ(certain.verdict.finding.fault, Fault::keeps_state);
    EXPECT_EQ(certain.shrunk_fully, most == 1e6);
    EXPECT_LE(judged, most + 1003) << "one sequence more, and then what it comes to";
    EXPECT_TRUE(fails(certain.sequence())) << certain.sequence().size();
  }
}

TEST(Confirming, says_what_no_sequence_shows_again) {
  const Failure certain =
      confirm(failure_on(large, small), {large}, [](const Cases&) { return false; });
  EXPECT_FALSE(certain.reproduced);
  EXPECT_EQ(certain.verdict.finding.fault, Fault::not_repeatable);
  EXPECT_NE(certain.verdict.diagnosis.find("in a fresh process it passes"), std::string::npos);
}

Claim finding_by_size(const std::function<Finding(const Case&)>& finding) {
  return claim_that([finding](const Entry&, const Case& c, const Resources&) {
    return Verdict{.status = TrialStatus::wrong, .finding = finding(c), .judged = 1};
  });
}
Failure failure_of(const Claim& claim, const char* text) {
  const auto result =
      check_case({host_entry(multiply)}, {&claim}, {parse_case(text)}, {.jobs = 1}).front();
  EXPECT_TRUE(result.failure);
  return *result.failure;
}

TEST(ShrinkingBySameFinding, shrinks_within_one_finding) {
  const Claim claim = finding_by_size([](const Case& c) -> Finding {
    if (c.n > 3) return {Fault::bad_address, Operand::b};
    return c.m > 4 ? Finding{Fault::bad_address, Operand::a} : Finding{Fault::beta};
  });
  const Failure of_a = failure_of(claim, "m=9 n=3 k=9");
  EXPECT_EQ(to_string(of_a.shrunk), "m=5 n=1 k=1 fill=small_ints") << "below, it is another fault";
  EXPECT_EQ(of_a.verdict.finding, (Finding{Fault::bad_address, Operand::a}));
  EXPECT_EQ(to_string(failure_of(claim, "m=9 n=9 k=9").shrunk), "m=1 n=4 k=1 fill=small_ints")
      << "whose memory it is";
}

TEST(ShrinkingBySameFinding, shrinks_to_a_finding_that_says_more_but_never_to_one_that_says_less) {
  const Claim claim = finding_by_size(
      [](const Case& c) { return Finding{c.m > 4 ? Fault::wrong_values : Fault::k_missing}; });
  const Failure vague = failure_of(claim, "m=9 n=9 k=9");
  EXPECT_EQ(vague.shrunk.m, 1);
  EXPECT_EQ(vague.verdict.finding.fault, Fault::k_missing);

  const Claim reversed = finding_by_size(
      [](const Case& c) { return Finding{c.m > 4 ? Fault::read_shared : Fault::nan}; });
  EXPECT_EQ(failure_of(reversed, "m=9 n=9 k=9").shrunk.m, 5);
}

const WorkerCommand worker = {{"--worker"}};

// What a sequence of cases amounts to in a process of its own.
ClaimResult replayed(const ClaimResult& result, const Cases& cases) {
  return check_case({result.entry}, {result.claim}, cases, {.jobs = 1, .worker = worker}).front();
}

TEST(Confirming, gives_a_sequence_that_fails_for_whoever_replays_it) {
  for (const char* name : {"planted_ticket", "planted_first_size"}) {
    const auto result = check({entry_named(name, Backend::host)}, {&bound},
                              {.cases = 60, .jobs = 1, .worker = worker}, {{&bound, large}})
                            .front();
    ASSERT_TRUE(result.failure) << name;
    const Failure& failure = *result.failure;
    EXPECT_EQ(failure.verdict.finding.fault, Fault::keeps_state) << name;
    ASSERT_EQ(failure.before.size(), 1u) << name;
    EXPECT_LE(failure.shrunk.multiply_adds(), 8) << name;
    EXPECT_NE(failure.verdict.diagnosis.find("something is kept between calls"), std::string::npos)
        << failure.verdict.diagnosis;
    EXPECT_TRUE(replayed(result, failure.sequence()).failure) << name;
    EXPECT_FALSE(replayed(result, {failure.shrunk}).failure) << name << " passes by itself";
    EXPECT_NE(replay_line(result, failure.sequence())
                  .find(fmt::format("--case \"{}\" --case \"{}\"", to_string(failure.before[0]),
                                    to_string(failure.shrunk))),
              std::string::npos);
  }
}

TEST(Confirming, begins_each_claim_in_a_process_that_has_judged_nothing) {
  const Entry entry = entry_named("planted_ticket", Backend::host);
  const Claim& beta = claim_named("beta_zero");
  const auto results = check_case({entry}, {&bound, &beta}, {small}, {.jobs = 1, .worker = worker});
  EXPECT_FALSE(results[0].failure);
  EXPECT_FALSE(results[1].failure) << "the launch of the claim before was another process'";
}

TEST(SameBitsTwice, tells_what_is_kept_from_where_operands_lie) {
  const Claim& twice = claim_named("same_bits_twice");
  const auto fault = [&](Launch launch) {
    const auto result =
        check_case({host_entry(launch)}, {&twice}, {parse_case("m=4 n=4 k=4 seed=64")}, {});
    EXPECT_TRUE(result.front().failure);
    return result.front().failure->verdict.finding.fault;
  };
  EXPECT_EQ(fault([](const Gemm& g, cudaStream_t stream) {
              static int launches = 0;
              multiply(g, stream);
              g.c[0] += static_cast<float>(++launches);
              return cudaSuccess;
            }),
            Fault::keeps_state);
  EXPECT_EQ(fault([](const Gemm& g, cudaStream_t stream) {
              multiply(g, stream);
              g.c[0] += static_cast<float>(reinterpret_cast<std::uintptr_t>(g.c) % 4096);
              return cudaSuccess;
            }),
            Fault::not_repeatable);
  EXPECT_EQ(fault([](const Gemm& g, cudaStream_t stream) {
              static std::int64_t last = 0;  // right again after each problem of the same size
              multiply(g, stream);
              if (last != 0 && last != g.m) g.c[0] += 1;
              last = g.m;
              return cudaSuccess;
            }),
            Fault::keeps_state)
      << "after a problem of another size";
}

// What is kept for operands at the same place, of the same sizes, does not fit other numbers there.
TEST(SameBitsTwice, puts_other_numbers_where_the_last_ones_lay) {
  const Entry keeps_its_sum = host_entry([](const Gemm& g, cudaStream_t stream) {
    static const float* last_b = nullptr;
    static std::array<std::int64_t, 3> last_sizes = {};
    static float last = 0;
    multiply(g, stream);
    const std::array sizes = {g.m, g.n, g.k};
    if (g.b != last_b || sizes != last_sizes) last = g.c[0];
    last_b = g.b, last_sizes = sizes;
    g.c[0] = last;
    return cudaSuccess;
  });
  const Verdict verdict =
      claim_named("same_bits_twice").judge(keeps_its_sum, parse_case("m=40 n=30 k=20 seed=1"), {});
  EXPECT_EQ(verdict.finding.fault, Fault::keeps_state) << verdict.reason;
}

// One sum comes near the largest float by one product. If the other numbers gave it two, alpha
// would come too late.
TEST(SameBitsTwice, leaves_sums_finite_whose_other_numbers_come_near_the_largest_float) {
  const Claim& twice = claim_named("same_bits_twice");
  Entry adds_in_any_order = host_entry(multiply);
  adds_in_any_order.variant.deterministic = false;  // so that each run is judged
  for (int seed = 0; seed < 400; seed += 2) {
    const Case c =
        parse_case("m=2 n=2 k=2 alpha=0.5 beta=1 fill=largest seed=" + std::to_string(seed));
    const Verdict verdict = twice.judge(adds_in_any_order, c, {});
    EXPECT_EQ(verdict.status, TrialStatus::right) << seed << ": " << verdict.reason;
  }
}

// A chain of products has its A where the C of the call before lay. What was kept of that may not
// be what lies there now.
TEST(SameBitsTwice, puts_a_where_the_result_before_lay) {
  const Entry keeps_its_result = host_entry([](const Gemm& g, cudaStream_t stream) {
    static const float* last_c = nullptr;
    static std::int64_t last_m = 0, last_n = 0, last_ldc = 0;
    const bool is_chained =
        last_c == g.a && last_m == g.m && last_n == g.k && last_ldc == g.lda && g.k > 0;
    last_c = g.c, last_m = g.m, last_n = g.n, last_ldc = g.ldc;
    multiply(g, stream);
    if (is_chained) g.c[0] += 1;
    return cudaSuccess;
  });
  const Claim& twice = claim_named("same_bits_twice");
  for (const char* text :
       {"m=5 n=7 k=3 seed=7", "m=5 n=7 k=3 lda=+2 ldc=+3 offset=2,1,0 seed=15"}) {
    const Verdict verdict = twice.judge(keeps_its_result, parse_case(text), {});
    EXPECT_EQ(verdict.finding.fault, Fault::keeps_state) << text << ": " << verdict.reason;
  }
  EXPECT_EQ(twice.judge(host_entry(multiply), parse_case("m=5 n=7 k=3 seed=7"), {}).status,
            TrialStatus::right);
}

// The alignment to 16 bytes decides which of its paths a right kernel takes: the second run has the
// same.
TEST(SameBitsTwice, keeps_the_alignment_of_every_operand) {
  const Entry by_alignment = host_entry([](const Gemm& g, cudaStream_t stream) {
    multiply(g, stream);
    const bool aligned = reinterpret_cast<std::uintptr_t>(g.a) % 16 == 0;
    if (aligned && g.m > 0 && g.n > 0) g.c[0] = std::nextafter(g.c[0], 100.0f);
    return cudaSuccess;
  });
  for (const char* text : {"m=4 n=4 k=4", "m=4 n=4 k=4 offset=1,0,0", "m=4 n=4 k=4 offset=3,1,2",
                           "m=4 n=4 k=4 offset=1,1,1 seed=9"}) {
    const Verdict verdict =
        claim_named("same_bits_twice").judge(by_alignment, parse_case(text), {});
    EXPECT_EQ(verdict.status, TrialStatus::right) << text << ": " << verdict.reason;
  }
}

}  // namespace
