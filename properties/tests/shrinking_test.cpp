// Shrinking: every step is simpler, it ends, and it ends at the smallest case.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "properties/generators.h"
#include "properties/shrinking.h"
#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

const Case large{.m = 100,
                 .n = 130,
                 .k = 77,
                 .alpha = 3,
                 .beta = -0.3f,
                 .lda = {64},
                 .ldb = {3},
                 .ldc = {4},
                 .offset = {{1, 2, 3}},
                 .fill = Fill::special,
                 .seed = 54321};

// How far each member is from the simplest it can be.
std::array<double, 11> complexity(const Case& c) {
  const auto of_fill = [](Fill fill) {
    return fill >= Fill::special                             ? 2.0
           : fill == Fill::small_ints || fill == Fill::exact ? 0.0
                                                             : 1.0;
  };
  return {
      static_cast<double>(c.m),
      static_cast<double>(c.n),
      static_cast<double>(c.k),
      c.alpha == 1 ? 0.0 : 1.0,
      c.beta == 0   ? 0.0
      : c.beta == 1 ? 1.0
                    : 2.0,
      static_cast<double>(c.lda.floats),
      static_cast<double>(c.ldb.floats),
      static_cast<double>(c.ldc.floats),
      static_cast<double>(c.offset.floats[0] * 100 + c.offset.floats[1] * 10 + c.offset.floats[2]),
      of_fill(c.fill),
      static_cast<double>(c.seed)};
}

std::vector<Case> random_cases(int count) {
  const auto next = case_generator(claim_named("within_bound"), host_entry(nullptr), 7);
  std::vector<Case> cases = {large, Case{}, {.m = 1, .n = 1, .k = 1}};
  for (int i = 0; i < count; ++i) cases.push_back(next());
  return cases;
}

TEST(SmallerCases, are_simpler_in_one_member_but_for_31_bold_ones_in_front) {
  for (const Case& c : random_cases(200)) {
    const auto before = complexity(c);
    int place = 0;
    for (const Case& smaller : smaller_cases(c)) {
      const auto after = complexity(smaller);
      int simpler = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        simpler += after[i] < before[i];
        ASSERT_LE(after[i], before[i]) << to_string(c) << "  to  " << to_string(smaller);
      }
      ASSERT_GE(simpler, 1) << to_string(c) << "  to  " << to_string(smaller);
      if (++place > 31) {
        ASSERT_EQ(simpler, 1) << to_string(c) << "  to  " << to_string(smaller);
      }
    }
  }
}

TEST(SmallerCases, come_to_an_end_whichever_is_taken) {
  std::mt19937_64 random(1);
  for (const Case& start : random_cases(50)) {
    for (int walk = 0; walk < 4; ++walk) {
      Case c = start;
      int steps = 0;
      for (auto next = smaller_cases(c); !next.empty(); next = smaller_cases(c)) {
        c = walk == 0 ? next.front() : next[random() % next.size()];
        ASSERT_LT(++steps, 1000) << to_string(start);
      }
    }
  }
}

TEST(SmallerCases, of_the_simplest_there_are_none) {
  EXPECT_TRUE(smaller_cases({.m = 1, .n = 1, .k = 1, .fill = Fill::small_ints}).empty());
  EXPECT_TRUE(smaller_cases({.fill = Fill::small_ints}).empty());
}

TEST(SmallerCases, begin_with_the_boldest) {
  const auto next = smaller_cases(large);
  ASSERT_FALSE(next.empty());
  EXPECT_EQ(next.front().m, 1);
}

// Takes the first simpler case that still fails, as long as there is one.
Case shrink(const Case& from, const std::function<bool(const Case&)>& fails,
            const Claim& claim = claim_named("within_bound"), const Needs& needs = {}) {
  EXPECT_TRUE(fails(from)) << to_string(from);
  const Entry entry = host_entry(multiply, needs);
  Case smallest = from;
  for (int steps = 0; steps < 1000; ++steps) {
    const auto smaller = smaller_cases(smallest, claim, entry);
    const auto next = std::find_if(smaller.begin(), smaller.end(), fails);
    if (next == smaller.end()) return smallest;
    smallest = *next;
  }
  ADD_FAILURE() << "no end at " << to_string(smallest);
  return smallest;
}

TEST(Shrinking, goes_by_cases_that_the_variant_accepts) {
  const auto always = [](const Case&) { return true; };
  const Needs tiles{.m_multiple = 128, .n_multiple = 128, .k_multiple = 16, .lda_multiple = 4};
  const Case large = parse_case("m=384 n=640 k=48 alpha=2 lda=+4 ldb=+1 offset=1,0,2 seed=9");
  const Claim& bound = claim_named("within_bound");
  EXPECT_EQ(to_string(shrink(large, always, bound, tiles)), "m=128 n=128 k=16 fill=small_ints");
  const auto wide = [](const Case& c) { return c.k > 20; };
  EXPECT_EQ(to_string(shrink(large, wide, bound, tiles)), "m=128 n=128 k=32 fill=small_ints");
  EXPECT_EQ(to_string(shrink(large, always, claim_named("refuses"), tiles)),
            "m=1 n=1 k=1 fill=small_ints");
}

TEST(Shrinking, ends_at_the_smallest_case) {
  using Fails = std::function<bool(const Case&)>;
  const std::vector<std::pair<Fails, std::string>> all = {
      {[](const Case&) { return true; }, "m=1 n=1 k=1 fill=small_ints"},
      {[](const Case& c) { return c.k % 16 != 0 && c.n > 7; }, "m=1 n=8 k=1 fill=small_ints"},
      {[](const Case& c) { return c.m >= 37; }, "m=37 n=1 k=1 fill=small_ints"},
      {[](const Case& c) { return c.m > 64 && c.n > 64 && c.k > 3; },
       "m=65 n=65 k=4 fill=small_ints"},
      {[](const Case& c) { return c.beta != 0; }, "m=1 n=1 k=1 beta=1 fill=small_ints"},
      {[](const Case& c) { return c.beta != 0 && c.beta != 1; },
       "m=1 n=1 k=1 beta=-0.3 fill=small_ints"},
      {[](const Case& c) { return c.alpha != 1; }, "m=1 n=1 k=1 alpha=3 fill=small_ints"},
      {[](const Case& c) { return c.lda.floats > 0; }, "m=1 n=1 k=1 lda=+1 fill=small_ints"},
      {[](const Case& c) { return c.lda.floats > 1; }, "m=1 n=1 k=1 lda=+4 fill=small_ints"},
      {[](const Case& c) { return c.offset.floats[1] > 0; },
       "m=1 n=1 k=1 offset=0,2,0 fill=small_ints"},
      {[](const Case& c) { return c.fill != Fill::small_ints; }, "m=1 n=1 k=1"},
      {[](const Case& c) { return c.fill == Fill::special; }, "m=1 n=1 k=1 fill=special"},
      {[](const Case& c) { return c.seed % 2 == 1; }, "m=1 n=1 k=1 fill=small_ints seed=1"}};
  for (const auto& [fails, smallest] : all) EXPECT_EQ(to_string(shrink(large, fails)), smallest);
}

// A fault that ends a process costs a new one for every case that shows it.
TEST(Shrinking, shows_a_fault_only_a_few_times) {
  const auto times_shown = [](const std::function<bool(const Case&)>& fails) {
    int times = 0;
    shrink(large, [&](const Case& c) {
      times += fails(c);
      return fails(c);
    });
    return times;
  };
  EXPECT_EQ(times_shown([](const Case&) { return true; }), 2);
  EXPECT_EQ(times_shown([](const Case& c) { return c.alpha != 1; }), 3);
  EXPECT_EQ(times_shown([](const Case& c) { return c.offset.floats[1] > 0; }), 4);
  EXPECT_EQ(times_shown([](const Case& c) { return c.k > 4; }), 5);
  EXPECT_LE(times_shown([](const Case& c) { return c.k > 4 && c.lda.floats > 0; }), 8);
}

TEST(Shrinking, ends_where_it_has_taken_enough_and_says_so) {
  const Verdict wrong{.status = TrialStatus::wrong, .finding = {Fault::beta}};
  for (const double most : {5.0, 1e6}) {
    Allowance left(most);
    double judged = 0;
    const Failure failure = assay::shrink(
        large, wrong, 10, [](const Case& c) { return smaller_cases(c); },
        [&](const Case& c, double) {
          ++judged, left.spend(1);
          return c.m > 37 && c.beta != 0 ? wrong : Verdict{.judged = 1};
        },
        left);
    EXPECT_EQ(failure.shrunk_fully, most > 5) << judged;
    EXPECT_LE(judged, most);
    EXPECT_EQ(failure.verdict.status, TrialStatus::wrong);
  }
}

TEST(Shrinking, stays_with_what_the_claim_speaks_of) {
  const auto always = [](const Case&) { return true; };
  Case exact = large;
  exact.fill = Fill::exact, exact.alpha = 1, exact.beta = 1;
  EXPECT_EQ(to_string(shrink(exact, always, claim_named("exact_integers"))),
            "m=1 n=1 k=1 fill=exact");
  Case no_alpha = large;
  no_alpha.alpha = 0;
  EXPECT_EQ(to_string(shrink(no_alpha, always, claim_named("no_product"))),
            "m=1 n=1 k=1 alpha=0 fill=small_ints");
  Case no_k = large;
  no_k.k = 0;
  EXPECT_EQ(to_string(shrink(no_k, always, claim_named("no_product"))),
            "m=1 n=1 k=0 fill=small_ints");
}

// Shrunk to one element of one small product, a failure may no longer show what is wrong.
TEST(WithAName, takes_the_first_richer_case_that_names_the_fault) {
  const Failure failure{
      .shrunk = {.m = 1, .n = 1, .k = 9, .fill = Fill::small_ints},
      .verdict = {.status = TrialStatus::wrong, .finding = {Fault::wrong_values}}};
  const Entry entry = host_entry(multiply);
  const auto richer = richer_cases(failure.shrunk, claim_named("within_bound"), entry);
  const auto from = [&](TrialStatus status, Fault fault, std::int64_t least_n) {
    return with_a_name(failure, 1, richer, [=](const Case& c, double) {
      if (c.n < least_n) return failure.verdict;
      return Verdict{.status = status, .finding = {fault}};
    });
  };
  const Failure named = from(TrialStatus::wrong, Fault::k_missing, 2);
  EXPECT_EQ(to_string(named.shrunk), "m=1 n=5 k=9");
  EXPECT_EQ(named.verdict.finding.fault, Fault::k_missing);
  EXPECT_TRUE(named.made_richer);
  EXPECT_EQ(from(TrialStatus::wrong, Fault::nan, 2).shrunk, failure.shrunk) << "no name";
  EXPECT_EQ(from(TrialStatus::right, Fault::unnamed, 2).shrunk, failure.shrunk) << "it passes";
  EXPECT_EQ(from(TrialStatus::wrong, Fault::beta, 1).shrunk.fill, Fill::uniform);
}

}  // namespace
