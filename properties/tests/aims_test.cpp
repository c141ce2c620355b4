#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "oracle/fills/filling.h"
#include "oracle/fills/pattern.h"
#include "properties/check.h"
#include "properties/tests/planted.h"

namespace assay {
namespace {

using assay_test::ladder;

const Exploration& exploration_of(const char* variant) {
  static std::map<std::string, Exploration> all;
  const auto [found, is_new] = all.try_emplace(variant);
  if (is_new) found->second = explore(entry_named(variant, Backend::simt));
  return found->second;
}

template <class Test>
bool has_case(const Exploration& exploration, const Test& test) {
  const auto& [cases, dear] = std::tie(exploration.cases, exploration.dear_cases);
  return std::any_of(cases.begin(), cases.end(), test) ||
         std::any_of(dear.begin(), dear.end(), test);
}

// Kernels that are wrong behind one branch, and what the branch asks.
struct Planted {
  const char* variant;
  bool (*is_taken)(const Case&);
};
const Planted all_planted[] = {
    {"planted_deep", [](const Case& c) { return c.k >= 2048; }},
    {"planted_wide", [](const Case& c) { return c.n > 5000; }},
    {"planted_row", [](const Case& c) { return c.m == 1 && c.n > 1024; }},
    {"planted_area", [](const Case& c) { return c.m * c.n > 65536; }},
    {"planted_alpha_two", [](const Case& c) { return c.alpha == 2; }},
    {"planted_tiny_beta", [](const Case& c) { return c.beta != 0 && std::abs(c.beta) < 1e-6f; }},
    {"planted_pitch", [](const Case& c) { return (c.k + c.lda.floats) % 1000 == 0; }},
    {"planted_exact_width", [](const Case& c) { return c.n == 777; }},
    {"planted_many_slices", [](const Case& c) { return (c.k + 15) / 16 > 100; }},
    {"planted_volume", [](const Case& c) { return c.multiply_adds() >= 2e8; }},
};
class Aims : public testing::TestWithParam<Planted> {};

TEST_P(Aims, finds_a_case_that_takes_the_branch) {
  const Exploration& found = exploration_of(GetParam().variant);
  EXPECT_TRUE(has_case(found, GetParam().is_taken));
  EXPECT_EQ(found.went_both_ways, found.comparisons);
  EXPECT_EQ(found.unknown, "");
}

TEST_P(Aims, let_every_seed_catch_what_is_wrong_there) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    const auto results = check({entry_named(GetParam().variant, Backend::simt)},
                               {&claim_named("within_bound")}, {.seed = seed, .jobs = 1});
    EXPECT_EQ(results.front().status(), ClaimStatus::fails) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Planted, Aims, testing::ValuesIn(all_planted),
                         [](const auto& info) { return std::string(info.param.variant); });

// Which no comparison drives the cases towards.
TEST(Draws, are_tidy_often_enough_for_a_path_that_asks_for_it) {
  std::vector<const Claim*> all;
  for (const Claim& claim : claims()) all.push_back(&claim);
  for (const std::uint64_t seed : {0, 1, 2}) {
    const auto results =
        check({entry_named("planted_tidy", Backend::simt)}, all, {.seed = seed, .jobs = 1});
    EXPECT_TRUE(std::any_of(results.begin(), results.end(), [](const ClaimResult& result) {
      return result.status() == ClaimStatus::fails;
    })) << seed;
  }
}

// Neither the cheap nor the dear ones may be left out.
TEST(Exploration, has_a_threshold_of_several_sizes_judged_whatever_it_costs) {
  const Claim& bound = claim_named("within_bound");
  for (const auto& [variant, products] : {std::pair("planted_box", 3e7), {"planted_volume", 2e8}}) {
    const Entry entry = entry_named(variant, Backend::simt);
    std::vector<Case> judged = aimed_cases(exploration_of(variant), bound, entry);
    for (const Case& c : dear_aimed_cases(exploration_of(variant), bound, entry))
      judged.push_back(c);
    EXPECT_TRUE(std::any_of(judged.begin(), judged.end(), [&](const Case& c) {
      return c.multiply_adds() >= products;
    })) << variant;
  }
}

// What is done with infinities or denormals behind a threshold, one kind of data does not show.
TEST(Exploration, brings_all_kinds_of_data_to_each_case) {
  Exploration found;
  found.cases = {{.m = 3, .n = 4, .k = 5}, {.m = 3, .n = 4, .k = 6, .beta = 1}};
  const auto aimed =
      aimed_cases(found, claim_named("any_data"), assay_test::host_entry(assay_test::multiply));
  for (const Case& c : found.cases)
    for (const Fill fill : {Fill::special, Fill::scaled, Fill::patterned, Fill::largest})
      EXPECT_TRUE(std::any_of(aimed.begin(), aimed.end(), [&](const Case& its) {
        const bool is_of_it = its.k == c.k && its.beta == c.beta && its.fill == fill;
        return is_of_it && (fill != Fill::scaled || scales_to_denormals(its.seed));
      })) << to_string(c);
}

TEST(Exploration, brings_infinities_to_all_parts_of_a_long_sum) {
  Exploration found;
  found.cases = {{.m = 1, .n = 1, .k = 8193}, {.m = 1, .n = 1, .k = 513}};
  const auto aimed =
      aimed_cases(found, claim_named("any_data"), assay_test::host_entry(assay_test::multiply));
  std::map<std::int64_t, int> times;
  std::set<std::int64_t> parts;
  for (const Case& c : aimed) {
    if (c.fill != Fill::special) continue;
    ++times[c.k];
    for (std::int64_t p = 0; c.k == 8193 && p < c.k; ++p)
      if (!std::isfinite(fill_element(c, Operand::a, 0, p))) parts.insert(p / 2048);
  }
  EXPECT_GE(times[8193], 10);
  EXPECT_EQ(times[513], 2);
  EXPECT_GE(parts.size(), 4u);
}

TEST(Exploration, tries_both_sides_of_a_threshold) {
  for (const std::int64_t k : {2047, 2048, 2049}) {
    EXPECT_TRUE(has_case(exploration_of("planted_deep"), [&](const Case& c) { return c.k == k; }));
  }
}

TEST(Exploration, names_a_comparison_that_nothing_drives_both_ways) {
  const Exploration& found = exploration_of("planted_never");
  EXPECT_EQ(found.comparisons - found.went_both_ways, 1);
  ASSERT_EQ(found.one_way.size(), 1);
  EXPECT_EQ(found.one_way[0].file, "properties/tests/branches.cu");
  EXPECT_EQ(found.one_way[0].source, "if (Branch::is_taken(g)) k = k - 1;");
  EXPECT_EQ(found.one_way[0].evidence, "it was always false");
}

TEST(Exploration, is_the_same_every_time) {
  const Entry entry = entry_named("planted_row", Backend::simt);
  const Exploration first = explore(entry), second = explore(entry);
  EXPECT_EQ(first.cases, second.cases);
  EXPECT_EQ(first.one_way, second.one_way);
  EXPECT_EQ(first.hints.scalars, second.hints.scalars);
}

TEST(Exploration, is_passed_on_by_a_worker) {
  const Entry entry = entry_named("planted_never", Backend::simt);
  const Exploration& here = exploration_of("planted_never");
  const Exploration there = Worker({{"--worker"}}, 0).explore(entry);
  EXPECT_EQ(there.cases, here.cases);
  EXPECT_EQ(there.dear_cases, here.dear_cases);
  EXPECT_EQ(there.one_way, here.one_way);
  EXPECT_EQ(there.hints.sizes, here.hints.sizes);
  EXPECT_EQ(there.hints.effort, here.hints.effort);
  EXPECT_TRUE(here.hints.effort.is_known);
  EXPECT_EQ(there.comparisons, here.comparisons);
}

TEST(Exploration, says_why_it_knows_nothing) {
  const Entry entry = assay_test::host_entry(assay_test::multiply);
  EXPECT_EQ(explore(entry).unknown, "it has no build that can be watched");
}

// What is wrong there is in the last columns, where no case without one line of another kind shows
// it.
TEST(Exploration, tells_which_cases_look_at_the_data) {
  const Entry entry = entry_named("planted_whole", Backend::simt);
  const Exploration found = explore(entry);
  ASSERT_FALSE(found.looks.empty());
  EXPECT_TRUE(std::all_of(found.looks.begin(), found.looks.end(),
                          [](const Case& c) { return c.m >= 64 && c.n >= 64; }));
  EXPECT_TRUE(exploration_of("planted_deep").looks.empty());
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_TRUE(check({entry}, {&claim_named("any_data")}, {.seed = seed, .jobs = 1})[0].failure)
        << seed;
}

TEST(Exploration, takes_no_name_in_chars_for_sums_of_bytes) {
  constexpr std::int64_t beyond = longest_sum_of_bytes * 5 / 4;
  EXPECT_FALSE(
      has_case(exploration_of("blocktile_2d_8x8"), [](const Case& c) { return c.k == beyond; }));
}

TEST(Exploration, has_each_cell_of_a_table_judged) {
  const Entry entry = entry_named("planted_cell", Backend::simt);
  for (const std::uint64_t seed : {0, 1, 2})
    EXPECT_TRUE(
        check({entry}, {&claim_named("within_bound")}, {.seed = seed, .jobs = 1})[0].failure)
        << seed;
}

// The ladder's own branches are all taken.
TEST(Exploration, drives_every_comparison_of_the_ladder) {
  for (const Entry& entry : ladder()) {
    if (entry.watched_launch == nullptr || entry.backend == Backend::cuda) continue;
    const Exploration found = explore(entry);
    EXPECT_EQ(found.unknown, "") << entry.variant.name;
    EXPECT_GT(found.comparisons, 2) << entry.variant.name;
    for (const OneWay& way : found.one_way)
      ADD_FAILURE() << way.file << ":" << way.line << ": " << way.source << ": " << way.evidence;
  }
}

}  // namespace
}  // namespace assay
