// The memory of a trial: what a kernel touched that it may not, and what it must be able to reach.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/errors.h"
#include "oracle/tests/trials.h"

namespace {

using namespace assay;
using namespace oracle_test;

TEST(TrialMemory, sees_C_read_although_beta_is_0) {
  const Verdict verdict = run("reads_c_always", small);
  expect_status(TrialStatus::wrong, verdict, {"63 of 63"});
  expect_words(verdict.diagnosis, {"NaN", "beta is 0"});
  expect_status(TrialStatus::right, run("reads_c_always", scaled), {});
}

TEST(TrialMemory, sees_what_a_launch_may_not_write) {
  for (const Case& c : {scaled, small}) {
    const Plan plan{.rule = c.beta == 0 ? Rule::replay : Rule::bound};
    expect_status(TrialStatus::wrong, run("writes_a", c, plan), {"wrote to A", "row 0, column 4"});
    expect_status(TrialStatus::wrong, run("writes_b", c, plan), {"wrote to B", "row 0, column 0"});
    expect_status(TrialStatus::wrong, run("writes_past_c", c, plan), {"the 1st float past", "C"});
    expect_status(TrialStatus::wrong, run("writes_before_c", c, plan),
                  {"the 1st float before", "C"});
  }
  expect_status(TrialStatus::wrong, run("writes_gap", scaled), {"between the rows of C", "n = 7"});
}

TEST(TrialMemory, sees_a_row_too_many_whatever_the_gap) {
  for (std::int64_t gap : {0, 1, 63, 64, 65, 1000}) {
    Case c = small;
    c.ldc = {gap};
    EXPECT_NE(status_of("writes_row_too_many", c), "right") << "with a gap of " << gap << " floats";
  }
}

TEST(TrialMemory, sees_a_write_beyond_the_guard) {
  EXPECT_NE(status_of("writes_far_past_c", small), "right");
  EXPECT_EQ(status_of("none", small), "right") << "and the next trial knows nothing of it";
}

TEST(TrialMemory, does_not_depend_on_the_trial_before) {
  const auto before = status_of("reads_far_past_a", small);
  EXPECT_EQ(status_of("none", {.m = 64, .n = 64, .k = 64}), "right");
  const auto after_larger = status_of("reads_far_past_a", small);
  EXPECT_EQ(after_larger, before) << "memory of the larger trial was read";
  EXPECT_NE(after_larger, "right") << "no operand lies there";
}

TEST(TrialMemory, sees_poison_that_was_used) {
  const Verdict verdict = run("uses_past_b", small);
  expect_status(TrialStatus::wrong, verdict, {"1 of 63"});
  expect_words(verdict.diagnosis, {"NaN", "outside the matrices"});
}

TEST(TrialMemory, sees_unwritten_shared_memory_that_hides_nan) {
  const Plan plan{.rule = Rule::replay};
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Case c = scaled;
    c.m = c.n = 32, c.seed = seed;
    EXPECT_EQ(status_of("none", c), "right") << seed;
    const Verdict verdict = run("takes_the_greatest", c, plan);
    EXPECT_EQ(is_failure(verdict), has_ordinary_shared(c)) << seed;
    if (!is_failure(verdict)) continue;
    ++wrong;
    EXPECT_EQ(verdict.finding.fault, assay::Fault::read_shared);
    expect_words(verdict.diagnosis, {"shared memory is read before it is written"});
  }
  EXPECT_EQ(wrong, 4) << "of every five seeds one";
}

TEST(TrialMemory, does_not_take_another_fault_for_unwritten_shared_memory) {
  Case c = scaled;
  c.seed = 2;
  ASSERT_TRUE(has_ordinary_shared(c));
  const Verdict verdict = run("one_element_off", c);
  expect_status(TrialStatus::wrong, verdict, {"1 of 63"});
  EXPECT_NE(verdict.finding.fault, assay::Fault::read_shared);
}

TEST(TrialMemory, sees_a_read_that_changes_nothing_at_a_fence) {
  const Plan at_end{.placement = Placement::ends_at_fence};
  const Plan at_beginning{.placement = Placement::begins_at_fence};
  for (const Case& c : {small, scaled}) {
    expect_status(TrialStatus::right, run("reads_past_a", c), {});
    expect_status(TrialStatus::crashed, run("reads_past_a", c, at_end),
                  {"the 1st float past the last element of A"});
    expect_status(TrialStatus::right, run("reads_before_b", c), {});
    expect_status(TrialStatus::crashed, run("reads_before_b", c, at_beginning),
                  {"the 1st float before the first element of B"});
    expect_status(TrialStatus::crashed, run("writes_past_c", c, at_end),
                  {"the 1st float past the last element of C"});
    expect_status(TrialStatus::crashed, run("writes_before_c", c, at_beginning),
                  {"the 1st float before the first element of C"});
  }
}

TEST(TrialMemory, sees_inputs_touched_that_have_no_part_in_the_result) {
  for (const auto& [alpha, k] : {std::pair{0.0f, 5}, {1.5f, 0}}) {
    Case c = scaled;
    c.alpha = alpha, c.k = k;
    SCOPED_TRACE(to_string(c));
    expect_status(TrialStatus::right, run("none", c, {.hide_inputs = true}), {});
    EXPECT_EQ(run("none", c, {.hide_inputs = true}).judged, 63);
    expect_status(TrialStatus::crashed, run("reads_a_always", c, {.hide_inputs = true}), {});
  }
  Case visible = scaled;
  visible.alpha = 0;
  expect_status(TrialStatus::right, run("reads_a_always", visible), {});
}

TEST(TrialMemory, names_the_input_that_was_touched) {
  for (const auto& [alpha, k] : {std::pair{0.0f, 5}, {1.5f, 0}}) {
    Case c = scaled;
    c.alpha = alpha, c.k = k;
    SCOPED_TRACE(to_string(c));
    expect_words(run("reads_a_always", c, {.hide_inputs = true}).reason,
                 {"A, which this problem must not touch"});
  }
}

TEST(TrialMemory, reaches_rows_that_are_further_apart_than_memory_is_large) {
  for (const char* gap : {"lda=+4294967296", "ldb=+4294967296", "ldc=+4294967296",
                          "lda=+70000 ldb=+70000 ldc=+70000 beta=1"}) {
    const Case c = parse_case(std::string("m=4 n=3 k=5 ") + gap);
    for (Placement placement : placements)
      expect_status(TrialStatus::right, run("none", c, {.placement = placement}), {});
  }
  const Case wide = parse_case("m=4 n=3 k=5 ldc=+4294967296");
  EXPECT_NE(status_of("writes_row_too_many", wide), "right");
  expect_status(TrialStatus::wrong, run("writes_gap", wide), {"between the rows of C", "row 0"});
}

TEST(Machine, places_far_off_what_half_an_address_does_not_tell_apart) {
  for (Backend backend : {Backend::simt, Backend::host}) {
    Machine& machine = machine_of(backend, {});
    std::set<std::uint32_t> lower;
    std::set<std::uint64_t> whole;
    for (Placement placement : {Placement::guarded, Placement::far_off, Placement::guarded}) {
      const Operands all = make_operands(scaled, placement, {4, 4, 4});
      const auto address =
          reinterpret_cast<std::uint64_t>(machine.place(Operand::b, all[Operand::b], placement));
      lower.insert(static_cast<std::uint32_t>(address));
      whole.insert(address);
    }
    EXPECT_EQ(lower.size(), 1u);
    EXPECT_EQ(whole.size(), 2u);
  }
}

TEST(Machine, places_operands_farther_apart_than_32_bits_count_pieces_of_16_bytes) {
  for (Backend backend : {Backend::simt, Backend::host}) {
    Machine& machine = machine_of(backend, {});
    const Operands all = make_operands(scaled, Placement::guarded, {4, 4, 4});
    std::vector<std::uint64_t> addresses;
    for (Operand o : operands)
      addresses.push_back(
          reinterpret_cast<std::uint64_t>(machine.place(o, all[o], Placement::guarded)) / 16);
    std::sort(addresses.begin(), addresses.end());
    EXPECT_GT(addresses[1] - addresses[0], std::uint64_t{1} << 32);
    EXPECT_GT(addresses[2] - addresses[1], std::uint64_t{1} << 32);
  }
}

TEST(Machine, holds_what_was_placed_where_it_was_asked_to) {
  const std::array<int, 3> alignment = {16, 8, 4};
  for (Backend backend : {Backend::simt, Backend::host}) {
    Machine& machine = machine_of(backend, {});
    for (Placement placement : placements) {
      const Operands all = make_operands(scaled, placement, alignment);
      for (Operand o : operands) {
        const auto index = static_cast<std::size_t>(o);
        const float* first = machine.place(o, all[o], placement);
        const auto address = reinterpret_cast<std::uintptr_t>(first);
        const bool offset_counts = placement == Placement::guarded ||
                                   placement == Placement::elsewhere ||
                                   placement == Placement::far_off;
        if (offset_counts) {
          EXPECT_EQ(address % 16, 4u * static_cast<unsigned>(scaled.offset.floats[index]));
        } else {
          EXPECT_EQ(address % static_cast<unsigned>(alignment[index]), 0u);
        }
        EXPECT_EQ(*first, all[o].row(0)[0]);
        Image back = all[o];
        std::fill(back.floats.begin(), back.floats.end(), 0.0f);
        machine.fetch(o, back);
        for (std::size_t i = 0; i < back.floats.size(); ++i)
          ASSERT_EQ(std::bit_cast<std::uint32_t>(back.floats[i]),
                    std::bit_cast<std::uint32_t>(all[o].floats[i]));
      }
    }
  }
}

// Whether a system call may, which does not fault.
bool can_read(const float* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool can = write(ends[1], address, sizeof *address) == sizeof *address;
  close(ends[0]), close(ends[1]);
  return can;
}

TEST(Machine, closes_rows_of_the_trial_before) {
  constexpr Operand a = Operand::a;
  const Case wide = parse_case("m=4 n=3 k=5 lda=+70000"), narrow = parse_case("m=4 n=3 k=5");
  const Operands before = make_operands(wide, Placement::guarded, {4, 4, 4}),
                 after = make_operands(narrow, Placement::guarded, {4, 4, 4});
  for (Backend backend : {Backend::simt, Backend::host}) {
    Machine& machine = machine_of(backend, {});
    const float* const rows = machine.place(a, before[a], Placement::guarded);
    const auto row = [&](int i) { return rows + i * before[a].ld; };
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(can_read(row(i))) << i;
    EXPECT_FALSE(can_read(row(1) - 4096)) << "between two rows";
    EXPECT_TRUE(can_read(machine.place(a, after[a], Placement::guarded)));
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(can_read(row(i))) << i;
  }
}

// Where the lower half of an address begins anew, who counts in that alone goes astray.
TEST(Machine, places_matrices_across_a_multiple_of_4_GiB) {
  const Operands all =
      make_operands(parse_case("m=40 n=40 k=40"), Placement::ends_at_fence, {4, 4, 4});
  for (Backend backend : {Backend::simt, Backend::host}) {
    for (Operand o : {Operand::a, Operand::b, Operand::c}) {
      const float* const first = machine_of(backend, {}).place(o, all[o], Placement::ends_at_fence);
      const auto turn_of = [](const float* element) {
        return reinterpret_cast<std::uintptr_t>(element) >> 32;
      };
      EXPECT_NE(turn_of(first), turn_of(first + 40 * 40 - 1)) << "operand " << static_cast<int>(o);
    }
  }
}

// With a shuffle or a barrier for each of its threads an element takes some 40 us.
TEST(TimeLimit, lets_a_block_compute_many_elements_one_by_one) {
  const Case many = parse_case("m=262144 n=1 k=1");
  EXPECT_GE(time_limit(many).cpu_seconds, 2 * 40e-6 * 262144);
  EXPECT_LE(time_limit(parse_case("m=16777216 n=1 k=1")).cpu_seconds, 70);
  EXPECT_LE(time_limit(parse_case("m=5 n=6 k=7")).cpu_seconds, 1.1);
}

// A tile of 64 x 64 of products of three parts took 2.8 s where two of its elements are asked for.
TEST(TimeLimit, lets_whole_tiles_be_computed) {
  const Case few = parse_case("m=2 n=1 k=65612");
  EXPECT_LE(time_limit(few).cpu_seconds, 1.1);
  EXPECT_GE(time_limit(few, {64, 64, 32}).cpu_seconds, 4 * 2.8);
  EXPECT_LE(time_limit(few, {256, 256, 32}).cpu_seconds, 35);
  EXPECT_LE(time_limit(parse_case("m=5 n=6 k=7"), {64, 64, 32}).cpu_seconds, 1.1);
}

// Twelve blocks of 256 threads, each of which asks for its barrier twice in a slice, took 2.3 s.
TEST(TimeLimit, lets_threads_ask_in_a_loop_whether_all_have_come) {
  const TimeLimit limit = time_limit(parse_case("m=64 n=48 k=2057"));
  EXPECT_GE(limit.cpu_seconds + 12 * 256 * limit.cpu_seconds_per_thread, 3 * 2.3);
}

TEST(Machine, is_missing_with_a_reason) {
  EXPECT_EQ(unavailable(Backend::simt), "");
  EXPECT_EQ(unavailable(Backend::host), "");
  const std::string why = unavailable(Backend::cuda);
  if (why.empty()) GTEST_SKIP() << "there is a GPU";
  EXPECT_THROW(machine_of(Backend::cuda, {}), BadInput) << why;
}

}  // namespace
