#include <gtest/gtest.h>

#include <algorithm>

#include "oracle/watched/dry_launches.h"
#include "properties/check.h"
#include "properties/fitting.h"
#include "properties/tests/planted.h"

namespace assay {
namespace {

Entry planted(const char* name) { return entry_named(name, Backend::simt); }

class Rare : public testing::TestWithParam<const char*> {};

TEST_P(Rare, is_caught_with_every_seed) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    const auto results =
        check({planted(GetParam())}, {&claim_named("within_bound")}, {.seed = seed, .jobs = 1});
    EXPECT_EQ(results.front().status(), ClaimStatus::fails) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Launches, Rare,
                         testing::Values("planted_hash", "planted_addresses", "planted_exchange",
                                         "planted_plan", "planted_constant", "planted_shares",
                                         "planted_multiples", "planted_table", "planted_scaling",
                                         "planted_packed", "planted_tuned", "planted_cells"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Repetition, shows_a_plan_that_is_found_by_half_of_each_address) {
  EXPECT_EQ(check({planted("planted_half_addresses")}, {&claim_named("same_bits_twice")},
                  {.cases = 20, .jobs = 1})
                .front()
                .status(),
            ClaimStatus::fails);
}

// Behind a threshold for rows, say.
TEST(WideStrides, keep_many_rows) {
  const Claim& claim = claim_named("wide_strides");
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Case c =
        nearest_case({.m = 4097, .n = 3, .k = 5, .seed = seed}, claim, planted("planted_hash"));
    EXPECT_EQ(claim.excludes_case(c), "");
    EXPECT_EQ(c.m == 4097, seed % 4 == 1 || seed % 4 == 3) << "where A alone is wide, or C";
  }
}

TEST(LaunchSearch, keeps_a_cheap_case_of_a_rare_size) {
  const Exploration found = explore(planted("planted_hash"));
  EXPECT_TRUE(std::any_of(found.cases.begin(), found.cases.end(), [](const Case& c) {
    return (c.m * 40507 + c.n * 9967 + c.k * 607) % 9973 == 11 && c.multiply_adds() <= 1e7;
  }));
  EXPECT_EQ(found.went_both_ways, found.comparisons);
}

// Where sizes have to be multiples, cheap ones that are, and each an odd one in some case.
TEST(LaunchSearch, keeps_cheap_cases_of_odd_multiples) {
  const std::vector<Case> cases = explore(planted("planted_multiples")).cases;
  const auto any_with = [&](const auto& is_odd) {
    return std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
      const bool is_on_path =
          c.m * c.n >= 512 * 512 && c.m % 128 == 0 && c.n % 128 == 0 && c.k % 8 == 0 && c.k > 0;
      return is_on_path && c.multiply_adds() <= 1e7 && is_odd(c);
    });
  };
  EXPECT_TRUE(any_with([](const Case& c) { return c.m / 128 % 2 == 1; }));
  EXPECT_TRUE(any_with([](const Case& c) { return c.n / 128 % 2 == 1; }));
  EXPECT_TRUE(any_with([](const Case& c) { return c.k / 8 % 2 == 1; }));
  EXPECT_TRUE(any_with([](const Case& c) { return c.k / 8 % 2 == 0; }));
}

TEST(LaunchSearch, finds_the_call_before_that_it_takes) {
  const Exploration found = explore(planted("planted_exchange"));
  EXPECT_TRUE(std::any_of(found.sequences.begin(), found.sequences.end(), [](const auto& s) {
    return s.size() == 3 && s[1].m == s[2].k && s[1].k == s[2].m && s[2].m != s[2].k;
  }));
}

// No comparison goes another way there than where a problem is repeated.
TEST(LaunchSearch, finds_two_problems_that_are_launched_alike) {
  for (const char* const name : {"planted_plan", "planted_constant"}) {
    const Exploration found = explore(planted(name));
    const auto both = [](const auto& s) {
      return s.size() == 3 && s[1].m * s[1].n == s[2].m * s[2].n && s[1].m != s[2].m;
    };
    EXPECT_GE(std::count_if(found.sequences.begin(), found.sequences.end(), both), 2) << name;
  }
}

TEST(LaunchSearch, counts_a_minimum_as_a_comparison_of_the_line_that_takes_it) {
  const Exploration found = explore(planted("planted_shares"));
  EXPECT_EQ(found.went_both_ways, found.comparisons);
  EXPECT_GE(found.comparisons, 3);
  EXPECT_TRUE(std::any_of(found.cases.begin(), found.cases.end(),
                          [](const Case& c) { return c.k > 40 * 512; }));
}

TEST(LaunchSearch, tells_of_a_threshold_that_is_too_dear_to_judge) {
  const Exploration found = explore(planted("planted_enormous"));
  ASSERT_EQ(found.one_way.size(), 1);  // to give up in the line before takes no judging
  EXPECT_EQ(found.comparisons - found.went_both_ways, 1);
  EXPECT_TRUE(found.one_way[0].source.starts_with("if (g.m * g.n > 3'000'000'000"));
  EXPECT_TRUE(found.one_way[0].evidence.ends_with("which is too dear to judge on the CPU"));
}

TEST(LaunchSearch, finds_the_cheapest_squares_of_a_path_for_large_problems) {
  for (const char* const name : {"planted_large", "planted_large_even"}) {
    const Exploration found = explore(planted(name));
    ASSERT_EQ(found.large_paths.size(), 1u) << name;
    const auto& [odd, round] = found.large_paths.front();
    for (const Case& c : {odd, round}) {
      EXPECT_GE(c.multiply_adds(), 0x1p32) << name;
      EXPECT_LE(c.multiply_adds(), 1.1 * 0x1p32) << name;
    }
    EXPECT_TRUE(round.m % 64 == 0 && round.n % 64 == 0 && round.k % 256 == 0) << name;
    const bool may_be_odd = std::string_view(name) == "planted_large";
    EXPECT_EQ(odd.m % 2, may_be_odd ? 1 : 0) << name;
    EXPECT_NE(odd.k % 16, 0) << name;
    EXPECT_GT(odd.k % 32, 28) << name << ": nearly a whole slice is left";
  }
  EXPECT_TRUE(explore(planted("planted_hash")).large_paths.empty());
}

TEST(LaunchSearch, keeps_the_cheapest_problem_that_is_refused) {
  const std::vector<Case> refused = explore(planted("planted_scaling")).refused;
  ASSERT_FALSE(refused.empty());
  EXPECT_EQ(refused.front().m, 16 * 65535 + 1) << to_string(refused.front());
  EXPECT_EQ(refused.front().n, 1);
  EXPECT_TRUE(explore(planted("planted_table")).refused.empty());
}

TEST(LaunchSearch, keeps_long_rows_that_have_a_kernel_of_their_own) {
  const std::vector<Case> cases = explore(planted("planted_long_row")).long_cases;
  ASSERT_EQ(cases.size(), 2);
  EXPECT_EQ(cases[0].multiply_adds(), 131'076 * 64);
  EXPECT_EQ(cases[1].multiply_adds(), 131'076 * 257);
  EXPECT_TRUE(explore(planted("planted_hash")).long_cases.empty());
}

// Slices of 16, of which 16 parts of 240 leave nothing to the last part.
TEST(LaunchSearch, keeps_the_k_that_leaves_nothing_to_the_last_part) {
  const std::vector<Case> cases = explore(planted("planted_parts")).long_cases;
  EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.k == 3585; }));
}

TEST(LaunchSearch, counts_the_sizes_of_a_table_in_units) {
  const std::vector<Case> cases = explore(planted("planted_tuned")).named_cases;
  const auto has = [&](const Case& c) {
    return std::find(cases.begin(), cases.end(), c) != cases.end();
  };
  EXPECT_TRUE(has({.m = 112, .n = 80, .k = 480}));
  EXPECT_TRUE(has({.m = 448, .n = 448, .k = 144}));
  EXPECT_FALSE(has({.m = 56, .n = 40, .k = 240})) << "launched as its neighbours are";
}

// Which no comparison tells.
TEST(LaunchSearch, keeps_each_number_of_parts) {
  const std::vector<Case> cases = explore(planted("planted_cells")).long_cases;
  EXPECT_TRUE(std::any_of(cases.begin(), cases.end(),
                          [](const Case& c) { return c.m == 16 && c.n == 256 && c.k == 512; }));
}

TEST(LaunchSearch, gives_a_matrix_as_many_elements_as_a_long_row_has) {
  const Exploration found = explore(planted("planted_cache"));
  EXPECT_TRUE(std::any_of(found.squares.begin(), found.squares.end(), [](const Case& c) {
    return (c.m + c.n) * c.k > 300'000 && c.m > 32 && c.n > 16 && c.multiply_adds() < 1e8;
  }));
}

TEST(LaunchSearch, judges_one_case_of_a_path_for_multiples_alone) {
  Entry entry = planted("planted_large");
  entry.backend = Backend::ptx;
  const auto judged = [&](const LargePath& path) {
    Exploration found;
    found.large_paths = {path};
    found.hints.effort = {.is_known = true};
    return cases_on_large_paths(found, claim_named("within_bound"), entry).size();
  };
  const Case round{.m = 2048, .n = 2048, .k = 1024}, odd{.m = 2049, .n = 2051, .k = 1029};
  EXPECT_EQ(judged({.odd = odd, .round = round}), 2u);
  EXPECT_EQ(judged({.odd = round, .round = round}), 1u);
}

// No comparison goes another way there than for a tiny problem.
TEST(LaunchSearch, finds_a_huge_problem_on_the_path_for_tiny_ones) {
  const Exploration found = explore(planted("planted_work"));
  EXPECT_TRUE(std::any_of(found.dear_cases.begin(), found.dear_cases.end(), [](const Case& c) {
    return c.multiply_adds() > 0x1p31 && static_cast<int>(c.m * c.n * c.k) <= 4096;
  }));
}

TEST(LaunchSearch, is_the_same_every_time) {
  const Entry entry = planted("planted_exchange");
  explore(entry);  // so that both begin with the same call before
  const Exploration first = explore(entry), second = explore(entry);
  EXPECT_EQ(first.cases, second.cases);
  EXPECT_EQ(first.sequences, second.sequences);
}

TEST(LaunchSearch, survives_a_launch_function_that_reads_its_operands) {
  const Exploration found = explore(planted("planted_reads_operands"));
  EXPECT_TRUE(found.sequences.empty());
  EXPECT_EQ(found.unknown, "");
}

TEST(DryLaunches, ends_a_launch_function_that_goes_on_and_on) {
  const Entry entry = planted("planted_each_row");
  DryLaunches launches(entry, {});
  const Dry few = launches.launch({{.m = 3, .n = 2, .k = 1}});
  EXPECT_TRUE(few.accepted);
  EXPECT_FALSE(few.too_long);
  const Dry many = launches.launch({{.m = std::int64_t{1} << 40, .n = 2, .k = 1}});
  EXPECT_TRUE(many.too_long);
  EXPECT_FALSE(many.at_fault);
}

TEST(DryLaunches, know_equal_paths) {
  const Entry entry = planted("planted_hash");
  DryLaunches launches(entry, {});
  const auto path = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return launches.launch({{.m = m, .n = n, .k = k}}).path;
  };
  const std::uint64_t usual = path(3, 4, 5);
  EXPECT_EQ(path(3, 4, 5), usual);
  EXPECT_NE(path(0, 4, 5), usual);
  const Entry of_one_block = planted("planted_work");
  DryLaunches others(of_one_block, {});
  const auto path_of_one = [&](std::int64_t m) {
    return others.launch({{.m = m, .n = 1, .k = 1}}).path;
  };
  EXPECT_EQ(path_of_one(7), path_of_one(200)) << "of 1 and of 13 tiles";
  EXPECT_NE(path_of_one(7), path_of_one(4000)) << "of 250 tiles";
}

}  // namespace
}  // namespace assay
