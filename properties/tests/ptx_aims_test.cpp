// Aims by what nvcc made of a kernel, where there is no build for the CPU executor: the kernels of
// branches.cu, each of which is wrong behind a branch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "oracle/watched/watched_run.h"
#include "properties/check.h"
#include "properties/draws/cost.h"

namespace {

using namespace assay;

const Exploration& exploration_of(const char* variant) {
  static std::map<std::string, Exploration> all;
  const auto [found, is_new] = all.try_emplace(variant);
  if (is_new) found->second = explore(entry_named(variant, Backend::ptx));
  return found->second;
}

struct Planted {
  const char* variant;
  bool (*is_taken)(const Case&);
};
void PrintTo(const Planted& planted, std::ostream* to) { *to << planted.variant; }
const Planted all_planted[] = {
    {"planted_deep", [](const Case& c) { return c.k >= 2048; }},
    {"planted_wide", [](const Case& c) { return c.n > 5000; }},
    {"planted_row", [](const Case& c) { return c.m == 1 && c.n > 1024; }},
    {"planted_alpha_two", [](const Case& c) { return c.alpha == 2; }},
    {"planted_tiny_beta", [](const Case& c) { return c.beta != 0 && std::abs(c.beta) < 1e-6f; }},
    {"planted_exact_width", [](const Case& c) { return c.n == 777; }},
    {"planted_many_slices", [](const Case& c) { return (c.k + 15) / 16 > 100; }},
};

class PtxAims : public testing::TestWithParam<Planted> {};

TEST_P(PtxAims, find_a_case_that_takes_the_branch) {
  const Exploration& found = exploration_of(GetParam().variant);
  EXPECT_EQ(found.unknown, "");
  EXPECT_TRUE(std::any_of(found.cases.begin(), found.cases.end(), GetParam().is_taken));
  EXPECT_GE(found.comparisons, 3) << "of its own, in branches.cu";
}

TEST_P(PtxAims, let_every_seed_catch_what_is_wrong_there) {
  for (const std::uint64_t seed : {0, 1}) {
    const auto results =
        check({entry_named(GetParam().variant, Backend::ptx)}, {&claim_named("within_bound")},
              {.cases = 10, .seed = seed, .jobs = 1, .first_failure = true});
    EXPECT_EQ(results.front().status(), ClaimStatus::fails) << seed;
  }
}

// Unless the machine is to judge those.
TEST(DearCases, come_where_the_executor_judges_alone) {
  const Claim& bound = claim_named("within_bound");
  Entry on_ptx = entry_named("planted_deep", Backend::ptx), on_simt = on_ptx;
  on_simt.backend = Backend::simt;
  const Exploration& found = exploration_of("planted_deep");
  const auto dear_of = [&](const std::vector<Entry>& entries) {
    return dear_aimed_cases(found, bound, beside_each_other(entries).front());
  };
  EXPECT_TRUE(dear_of({on_simt, on_ptx}).empty());
  EXPECT_FALSE(dear_of({on_ptx, on_simt}).empty());
  const std::vector<Case> dear = dear_of({on_simt});
  EXPECT_FALSE(dear.empty());
  Entry unmet = on_ptx;
  unmet.variant.needs.compute_capability = 999;
  EXPECT_EQ(dear_of({on_simt, unmet}), dear) << "nobody else judges it";
  on_ptx.variant.name = "another";
  EXPECT_EQ(dear_of({on_simt, on_ptx}), dear);
}

TEST(DearCases, have_elements_or_cost_little) {
  const Claim& bound = claim_named("within_bound");
  Exploration found;
  const Case dear{.m = 1, .n = 1, .k = 1 << 17};
  found.dear_cases = {{.m = 0, .n = 1, .k = 1 << 17}, dear};
  found.named_cases = {{.m = 0, .n = 3, .k = 1 << 17}};
  EXPECT_EQ(dear_aimed_cases(found, bound, entry_named("planted_deep", Backend::ptx)),
            std::vector{dear});
}

INSTANTIATE_TEST_SUITE_P(Planted, PtxAims, testing::ValuesIn(all_planted),
                         [](const auto& info) { return std::string(info.param.variant); });

// In nanoseconds: what is supposed of a launch, and what the operations that it executes take.
TEST(PtxEffort, comes_close_to_what_is_executed) {
  const Claim& claim = claim_named("within_bound");
  const Effort nothing = {.is_known = true};
  for (const char* variant : {"planted_never", "planted_warps", "planted_square"}) {
    const Entry entry = entry_named(variant, Backend::ptx);
    const Effort effort = effort_of(entry);
    for (const char* text :
         {"m=100 n=90 k=70", "m=33 n=400 k=5", "m=16 n=3000 k=33", "m=900 n=16 k=1"}) {
      const Case c = parse_case(text);
      const double supposed =
          (cost_of(c, claim, entry, effort) - cost_of(c, claim, entry, nothing)) / claim.trials;
      const double executed =
          per_operation * static_cast<double>(work_on_ptx(entry, c).value().operations);
      EXPECT_GT(supposed, 0.5 * executed) << variant << " " << text;
      EXPECT_LT(supposed, 2.5 * executed) << variant << " " << text;
    }
  }
}

// Of one element, as they are aimed: small launches do not tell of them.
TEST(PtxEffort, looks_at_sums_that_are_long) {
  const Entry entry = entry_named("planted_long_is_dear", Backend::ptx);
  const Effort& effort = exploration_of("planted_long_is_dear").hints.effort;
  EXPECT_EQ(effort.long_from, 1002) << "surely beyond 1000";
  const Case c = parse_case("m=1 n=1 k=20000");
  const double supposed = cost_of(c, claim_named("within_bound"), entry, effort);
  const double executed =
      per_operation * static_cast<double>(work_on_ptx(entry, c).value().operations);
  EXPECT_GT(supposed, 0.5 * executed);
  EXPECT_LT(supposed, 2 * executed);
  EXPECT_EQ(exploration_of("planted_never").hints.effort.long_from, 0);
}

// More than 2^31 products would take the machine seconds to minutes: some of the blocks do not.
TEST(PtxParts, show_what_is_wrong_in_a_problem_too_large_to_run) {
  for (const std::uint64_t seed : {0, 1}) {
    const auto results = check({entry_named("planted_products_in_int", Backend::ptx)},
                               {&claim_named("within_bound")},
                               {.cases = 10, .seed = seed, .jobs = 1, .first_failure = true});
    const ClaimResult& result = results.front();
    ASSERT_EQ(result.status(), ClaimStatus::fails);
    EXPECT_GE(result.failure->shrunk.multiply_adds(), 0x1p31);
    EXPECT_THAT(result.failure->verdict.reason, testing::HasSubstr("that some blocks wrote"));
  }
}

TEST(PtxParts, say_nothing_where_blocks_are_not_all_that_writes_c) {
  const Entry alone = entry_named("planted_never", Backend::ptx),
              collecting = entry_named("planted_collecting", Backend::ptx),
              adding = entry_named("planted_adding", Backend::ptx);
  const Case c = parse_case("m=300 n=300 k=5");
  const Verdict part = run_trial(alone, c, {.most_blocks = 16}, {});
  EXPECT_EQ(part.status, TrialStatus::right);
  EXPECT_GE(part.judged, 12 * 256) << "16 tiles of 16 x 16, some of them cut off";
  EXPECT_LE(part.judged, 16 * 256);
  for (const Entry& entry : {collecting, adding}) {
    const Verdict nothing = run_trial(entry, c, {.most_blocks = 16}, {});
    EXPECT_EQ(nothing.status, TrialStatus::right) << nothing.reason;
    EXPECT_EQ(nothing.judged, 0);
  }
  EXPECT_EQ(run_trial(alone, c, {.most_blocks = 1000}, {}).judged, 300 * 300) << "it has 361";
}

// Of some tiles, as all drawn cases have, all blocks find room together.
TEST(PtxCrowd, grows_until_blocks_find_no_room) {
  const auto results = check({entry_named("planted_collecting", Backend::ptx)},
                             {&claim_named("within_bound")}, {.cases = 10, .jobs = 1});
  const ClaimResult& result = results.front();
  ASSERT_EQ(result.status(), ClaimStatus::fails);
  EXPECT_EQ(result.failure->verdict.status, TrialStatus::hung);
  EXPECT_THAT(result.failure->verdict.reason,
              testing::HasSubstr("waits for a block that finds no room"));
  const Case& c = result.failure->shrunk;
  EXPECT_GT(ceil_div(c.m, 16) * ceil_div(c.n, 16), 1056) << "as many fit on an H200";
}

TEST(PtxExploration, tries_both_sides_of_a_threshold) {
  for (const std::int64_t k : {2047, 2048, 2049}) {
    const auto& cases = exploration_of("planted_deep").cases;
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.k == k; }));
  }
}

TEST(PtxExploration, names_a_comparison_that_nothing_drives_both_ways) {
  Entry entry = entry_named("planted_wide", Backend::ptx);
  entry.variant.needs.n_most = 100;
  const Exploration found = explore(entry);
  EXPECT_EQ(found.comparisons - found.went_both_ways, 1);
  ASSERT_EQ(found.one_way.size(), 1u);
  EXPECT_EQ(found.one_way[0].file, "properties/tests/branches.cu");
  EXPECT_THAT(found.one_way[0].source, testing::HasSubstr("g.n > 5000"));
  EXPECT_EQ(found.one_way[0].evidence, "compared with 5000, only 1 to 100 came");
}

TEST(PtxExploration, is_the_same_every_time) {
  const Entry entry = entry_named("planted_row", Backend::ptx);
  const Exploration first = explore(entry), second = explore(entry);
  EXPECT_EQ(first.cases, second.cases);
  EXPECT_EQ(first.one_way, second.one_way);
}

TEST(PtxExploration, finds_what_is_launched_otherwise_where_it_is_captured) {
  const std::vector<Case>& cases = exploration_of("planted_captured").captured;
  EXPECT_GE(cases.size(), 5u);
  EXPECT_TRUE(std::all_of(cases.begin(), cases.end(), [](const Case& c) { return c.k >= 1024; }));
  EXPECT_TRUE(exploration_of("planted_deep").captured.empty());
  for (const std::uint64_t seed : {0, 1}) {
    const auto results = check({entry_named("planted_captured", Backend::ptx)},
                               {&claim_named("graph")}, {.cases = 10, .seed = seed, .jobs = 1});
    EXPECT_EQ(results.front().status(), ClaimStatus::fails) << seed;
  }
}

// Its cheapest case has too many products to be run.
TEST(PtxExploration, finds_a_large_problem_of_which_the_device_refuses_a_launch) {
  const Entry entry = entry_named("planted_large_refused", Backend::ptx);
  const Exploration& found = exploration_of("planted_large_refused");
  ASSERT_FALSE(found.refused.empty());
  EXPECT_GT(found.refused.front().multiply_adds(), 32e9);
  EXPECT_EQ(refused_cases(found, claim_named("within_bound"), entry), found.refused);
  EXPECT_TRUE(refused_cases(found, claim_named("exact_integers"), entry).empty());
  EXPECT_TRUE(exploration_of("planted_deep").refused.empty());
  const auto results = check({entry}, {&claim_named("within_bound")},
                             {.cases = 10, .jobs = 1, .first_failure = true});
  ASSERT_EQ(results.front().status(), ClaimStatus::fails);
  EXPECT_THAT(results.front().failure->verdict.reason,
              testing::HasSubstr("100000 bytes of dynamic shared memory"));
}

}  // namespace
