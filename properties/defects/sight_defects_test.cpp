// What the PTX machine must see: each fault in one run of one case, in every order of threads, by
// the claim that names it, with the lines of source that show it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "properties/check.h"

namespace {

using namespace assay;
using testing::ContainsRegex;
using testing::HasSubstr;

struct SightDefect {
  const char *variant, *claim, *c, *says;
};
void PrintTo(const SightDefect& defect, std::ostream* to) { *to << defect.variant; }

constexpr SightDefect all[] = {
#include "properties/defects/sight_defects.inc"
};

bool is_by_host(const std::string& reason) {
  constexpr std::array words = {": cuda",
                                ": the caller",
                                ": the host code",
                                ": a function of the host",
                                ": a copy of",
                                "captured: ",
                                "its graph ",
                                "the variant returned",
                                "launch returned",
                                "launches in a row",
                                "it leaves the capture mode",
                                "it leaves other bits with threads",
                                "elements are wrong"};
  return std::any_of(words.begin(), words.end(),
                     [&](const char* some) { return reason.find(some) != reason.npos; });
}

class Sight : public testing::TestWithParam<SightDefect> {};

TEST_P(Sight, is_named_in_one_run_of_one_case) {
  const SightDefect& defect = GetParam();
  const Entry entry = entry_named(defect.variant, Backend::ptx);
  const Claim& claim = claim_named(defect.claim);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {  // of which follows the order of threads
    Case c = parse_case(defect.c);
    c.seed = seed;
    const ClaimResult result =
        check_case({entry}, {&claim}, {c}, {.jobs = 1, .first_failure = true}).front();
    ASSERT_TRUE(result.failure) << "seed " << seed << ": nobody noticed " << result.reason();
    EXPECT_STREQ(result.broken().name, defect.claim) << result.reason();
    const Verdict& verdict = result.failure->verdict;
    const std::string all_words = verdict.reason + "\n" + verdict.diagnosis;
    EXPECT_THAT(all_words, HasSubstr(defect.says)) << "seed " << seed;
    const bool is_by_thread = !is_by_host(verdict.reason);
    if (is_by_thread) {
      EXPECT_THAT(verdict.reason, ContainsRegex("thread \\([0-9]+,[0-9]+,0\\) of block \\("));
    }
    EXPECT_THAT(verdict.reason, testing::Not(HasSubstr("0x"))) << "no address is the same twice";
    if (seed == 0) fmt::print("{}\n{}", all_words, verdict.picture);
    // Two places where there are two, each with the text of its line; none of what is no kernel.
    if (is_by_thread) {
      EXPECT_THAT(verdict.picture, ContainsRegex("^[a-z]+ +[^ ]+\\.(cu|h|hpp):[0-9]+: .")) << seed;
    }
    const auto lines = std::count(verdict.picture.begin(), verdict.picture.end(), '\n');
    const int places = std::string_view(defect.claim) == "no_data_race" ? 2 : is_by_thread ? 1 : 0;
    EXPECT_GE(lines, places) << verdict.picture;
  }
}

INSTANTIATE_TEST_SUITE_P(Defect, Sight, testing::ValuesIn(all), [](const auto& info) {
  return fmt::format("{}_by_{}", info.param.variant, info.param.claim);
});

// Other streams, joined as they have to be.
class RightStreams : public testing::TestWithParam<const char*> {};

TEST_P(RightStreams, break_no_claim) {
  const Entry entry = entry_named(GetParam(), Backend::ptx);
  std::vector<const Claim*> all;
  for (const char* name : {"within_bound", "same_bits_twice", "given_stream", "two_streams",
                           "launch_errors", "no_data_race", "no_unset_value", "accesses_inside"})
    all.push_back(&claim_named(name));
  for (const ClaimResult& result : check({entry}, all, {.cases = 20, .jobs = 1})) {
    EXPECT_FALSE(result.failure) << result.claim->name << ": " << result.reason();
    EXPECT_FALSE(result.exempt) << result.claim->name;
    EXPECT_GT(result.cases, 0) << result.claim->name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Defect, RightStreams,
    testing::Values(
        "right_side_stream", "right_pool", "right_pool_in_side_stream", "right_buffer_by_turns",
        "right_host_waits", "right_device_waits", "right_default_stream", "right_two_side_streams",
        "right_copy", "right_early_begin", "right_early_launch", "right_past_read_only_cache",
        "right_read_only_cache", "right_copied_sums", "right_pinned_scalars", "right_finished_copy",
        "right_ready_buffer", "right_own_memory", "right_kept_memory", "right_host_function",
        "right_strips", "right_counter", "right_slots_in_turn", "right_memory_of_a_handle",
        "right_pool_of_lent_memory", "right_blocks_meet", "right_without_memory",
        "right_growing_buffer", "right_growing_pool", "right_shares", "right_ring_of_places",
        "right_lane_fences", "right_locks_of_lanes", "right_last_of_four", "right_arms_that_meet",
        "right_distances", "right_masks", "right_halves", "right_votes", "right_locks_of_launches",
        "right_turns_of_a_launch", "right_boxes_of_a_launch", "right_told_by_function",
        "right_told_by_kernel", "right_default_stream_replaced", "right_stream_of_thread",
        "right_places", "right_parts", "right_order_by_shared_turn", "right_own_sums",
        "right_shared_count", "right_halves_if_short", "right_bands_of_what_is_free",
        "right_where_urgent", "right_event", "right_behind_an_event", "right_sums_where_it_fails",
        "right_set_up_by_a_call", "right_relaxed_for_a_while", "right_asks_on"));

TEST(RingOfEvents, may_be_filled_by_launches_that_fail) {
  const ClaimResult result =
      check_case({entry_named("right_ring_of_events", Backend::ptx)},
                 {&claim_named("launch_errors")}, {parse_case("m=3 n=4 k=5")}, {.jobs = 1})
          .front();
  EXPECT_FALSE(result.failure) << result.reason();
  EXPECT_EQ(result.cases, 1);
}

// Each seed has other turns.
class Meeting : public testing::TestWithParam<const char*> {};

TEST_P(Meeting, shows_in_every_seed) {
  const Entry entry = entry_named(GetParam(), Backend::ptx);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ClaimResult result =
        check({entry}, {&claim_named("two_streams")}, {.seed = seed, .jobs = 1}).front();
    EXPECT_TRUE(result.failure) << "seed " << seed << ", " << result.cases << " cases";
  }
}

INSTANTIATE_TEST_SUITE_P(Defect, Meeting,
                         testing::Values("turns_of_all_launches", "boxes_of_all_launches"));

TEST(LateStore, is_named_in_every_seed) {
  const Entry entry = entry_named("turns_without_a_fence", Backend::ptx);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const ClaimResult result =
        check({entry}, {&claim_named("within_bound")}, {.seed = seed, .jobs = 1}).front();
    ASSERT_TRUE(result.failure) << "seed " << seed << ", " << result.cases << " cases";
    EXPECT_THAT(result.failure->verdict.reason,
                HasSubstr("a __threadfence behind that is missing"));
  }
}

// Of what shows once in a process, since the variant then keeps something else.
void expect_kept(const char* variant, const char* claim, const char* says,
                 const char* text = "m=3 n=4 k=5") {
  const ClaimResult result = check_case({entry_named(variant, Backend::ptx)}, {&claim_named(claim)},
                                        {parse_case(text)}, {.jobs = 1})
                                 .front();
  ASSERT_TRUE(result.failure) << variant;
  EXPECT_STREQ(result.broken().name, claim) << result.reason();
  EXPECT_THAT(result.failure->verdict.reason + "\n" + result.failure->verdict.diagnosis,
              HasSubstr(says));
}

TEST(Kept, after_a_launch_that_failed) {
  expect_kept("notes_size_too_soon", "launch_errors",
              "after a launch for which the device had no memory");
}
TEST(Kept, memory_that_another_launch_uses_is_given_back) {
  expect_kept("gives_back_too_soon", "two_streams", "cudaFreeAsync frees", "m=3 n=4 k=5 seed=1");
}
TEST(Kept, a_million_elements_are_compared) {
  expect_kept("compares_a_million_of_a", "same_bits_twice", "A of an earlier launch");
}
TEST(Kept, three_elements_of_a_row_are_compared) {
  const ClaimResult result = check({entry_named("compares_three_of_a_row", Backend::ptx)},
                                   {&claim_named("same_bits_twice")}, {.jobs = 1})
                                 .front();
  EXPECT_TRUE(result.failure);
}
TEST(Kept, is_right_where_all_is_looked_at) {
  for (const char* right :
       {"right_compares_all_of_a", "right_counts_launches", "right_counts_launches_with_gaps",
        "right_counts_calls", "right_keeps_sizes_apart"}) {
    const ClaimResult result = check({entry_named(right, Backend::ptx)},
                                     {&claim_named("same_bits_twice")}, {.cases = 10, .jobs = 1})
                                   .front();
    EXPECT_EQ(result.status(), ClaimStatus::holds) << right << ": " << result.reason();
  }
}
TEST(Kept, b_is_believed_after_a_thousand_launches) {
  expect_kept("believes_b_after_1000", "same_bits_twice", "B of an earlier launch");
  expect_kept("believes_b_with_gaps_after_1000", "same_bits_twice", "B of an earlier launch");
  expect_kept("spoils_b_with_gaps_after_1000", "same_bits_twice", "B of an earlier launch");
}

TEST(Kept, infinities_are_no_longer_looked_for) {
  expect_kept("trusts_b_after_60_calls", "same_bits_twice", "no longer looks for one");
}
TEST(Kept, a_shape_is_computed_otherwise_after_many_calls) {
  expect_kept("packs_c_after_4000_calls", "same_bits_twice", "launch 4001 in a row", "m=1 n=1 k=5");
}

TEST(Kept, sizes_that_are_packed_into_a_key_leave_their_bits) {
  expect_kept("packs_sizes_into_a_key", "same_bits_twice", "for an earlier problem is taken");
  expect_kept("packs_sizes_as_digits", "same_bits_twice", "for an earlier problem is taken");
}
TEST(Kept, rows_are_not_told_by_their_places) {
  expect_kept("sums_up_rows_of_a", "same_bits_twice", "exchanged");
}
TEST(Kept, sums_are_shared_by_two_launches_of_one_b) {
  expect_kept("sums_belong_to_b", "two_streams", "and nothing orders the two");
}
TEST(Kept, sums_are_shared_by_two_launches_of_one_a) {
  expect_kept("sums_belong_to_a", "two_streams", "and nothing orders the two");
}
TEST(Kept, sums_of_one_stream_are_those_of_the_129th) {
  for (const auto& [name, fails] :
       {std::pair("sums_of_128_streams", true), std::pair("right_sums_of_streams", false)}) {
    const ClaimResult result =
        check({entry_named(name, Backend::ptx)}, {&claim_named("two_streams")}, {.jobs = 1})
            .front();
    EXPECT_EQ(result.failure.has_value(), fails) << name << ": " << result.reason();
  }
}

// One allocation, and no second one.
TEST(WithoutMemory, shows_what_is_taken_for_allocated_with_something_else) {
  const ClaimResult result =
      check_case({entry_named("notes_one_of_two", Backend::ptx)}, {&claim_named("launch_errors")},
                 {parse_case("m=3 n=4 k=5")}, {.jobs = 1})
          .front();
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->verdict.reason,
              HasSubstr("after a launch for which the device had no memory"));
}

// Plans that are found again by less than they depend on.
TEST(KeptPlan, shows_where_one_thing_of_a_problem_changed) {
  const ClaimResult result = check({entry_named("plans_without_k", Backend::ptx)},
                                   {&claim_named("within_bound")}, {.cases = 100, .jobs = 1})
                                 .front();
  EXPECT_TRUE(result.failure) << result.cases;
}

// What depends on the seed, or on what was called before.
TEST(Callers, streams_that_wait_for_the_default_one_wait_for_no_other) {
  expect_kept("blocking_stream_taken_for_default", "given_stream",
              "which the caller's earlier work wrote, and nothing orders the two: they are in "
              "different streams, in a stream of cudaStreamCreate",
              "m=3 n=4 k=5 seed=4");
}
TEST(Callers, the_default_stream_has_two_names) {
  expect_kept("default_stream_captured_by_name", "given_stream",
              "as a null pointer, and not by its name", "m=3 n=4 k=5 seed=2");
}
TEST(Callers, half_of_c_where_the_stream_is_urgent) {
  for (const std::uint64_t seed : {1, 3, 5})
    expect_kept("half_where_urgent", "given_stream", "elements",
                fmt::format("m=20 n=20 k=5 seed={}", seed).c_str());
}
TEST(Callers, what_a_captured_call_has_set_up) {
  expect_kept("set_up_by_a_capture", "graph", "where its first call is captured");
}
// As it was found: the simplest case has no smaller one.
TEST(Callers, another_problem_before_the_graph_is_launched) {
  const ClaimResult result =
      check_case({entry_named("goes_as_far_as_the_last_call", Backend::ptx)},
                 {&claim_named("graph")}, {parse_case("m=20 n=20 k=10 seed=1")}, {.jobs = 1})
          .front();
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->original_verdict.reason,
              HasSubstr("for the same operands, after calls for a smaller problem"));
}
TEST(Callers, zeros_before_the_graph_is_launched) {
  expect_kept("leaves_out_zeros_of_the_last_call", "graph", "elements are wrong",
              "m=20 n=20 k=10 seed=2");
}
TEST(Callers, a_larger_problem_in_the_same_stream) {
  expect_kept("rewrites_what_the_last_call_copies", "two_streams",
              "the host code writes to pinned memory", "m=20 n=20 k=10 seed=3");
  EXPECT_FALSE(check_case({entry_named("right_copy_of_end", Backend::ptx)},
                          {&claim_named("two_streams")}, {parse_case("m=20 n=20 k=10 seed=3")},
                          {.jobs = 1})
                   .front()
                   .failure);
}
TEST(Callers, may_look_in_their_graphs) {
  for (const char* right : {"right_end", "right_zeros"})
    for (const char* c : {"m=20 n=20 k=10 seed=1", "m=20 n=20 k=10 seed=2"})
      EXPECT_FALSE(check_case({entry_named(right, Backend::ptx)}, {&claim_named("graph")},
                              {parse_case(c)}, {.jobs = 1})
                       .front()
                       .failure)
          << right << ": " << c;
}
TEST(Callers, a_hundred_questions) {
  for (const std::uint64_t seed : {1, 3, 5})
    expect_kept("asks_100_times", "two_streams", "",
                fmt::format("m=3 n=4 k=5 seed={}", seed).c_str());
}

class RightGraphs : public testing::TestWithParam<const char*> {};

TEST_P(RightGraphs, break_no_claim) {
  const Entry entry = entry_named(GetParam(), Backend::ptx);
  const ClaimResult result =
      check({entry}, {&claim_named("graph")}, {.cases = 100, .jobs = 1}).front();
  EXPECT_FALSE(result.failure) << result.reason();
  EXPECT_FALSE(result.exempt);
  EXPECT_GE(result.cases, 5);
}

INSTANTIATE_TEST_SUITE_P(
    Defect, RightGraphs,
    testing::Values("right_side_stream", "right_pool", "right_two_side_streams", "right_copy",
                    "right_early_begin", "right_past_read_only_cache", "right_read_only_cache",
                    "right_copied_sums", "right_strips", "right_counter", "right_tells_by_kept",
                    "right_tells_by_kept_note", "right_parts_in_captures", "right_set_up_once",
                    "right_sums_backwards_in_captures", "right_compares_all_of_a",
                    "right_set_up_by_a_call", "right_relaxed_for_a_while", "right_asks_on"));

}  // namespace
