// The workspace of a launch: that it is there, what it holds, and what happens beside it.
#include <cmath>

#include "oracle/tests/trials.h"

namespace {

using namespace assay;
using namespace oracle_test;

using InWorkspace = Launch::InWorkspace;
constexpr std::int64_t floats = 5, bytes = floats * 4;

// A right product of one element, whose launch does something to its workspace.
Entry entry_of(InWorkspace launch, std::int64_t (*workspace)(const Gemm&)) {
  return {{.name = "host", .idea = "", .launch = launch, .workspace = workspace}, Backend::host};
}
Verdict run_in_workspace(InWorkspace launch, const Plan& plan = {}) {
  const Entry entry = entry_of(launch, [](const Gemm&) { return bytes; });
  return run_trial(entry, {.m = 1, .n = 1, .k = 1}, plan);
}
cudaError_t multiply(const Gemm& g) {
  *g.c = blend(g, depth(g) == 0 ? 0 : *g.a * *g.b, g.c);
  return cudaSuccess;
}
float* floats_at(void* workspace) { return static_cast<float*>(workspace); }

float seen = 0;  // at the beginning of the last workspace

// More than a quarter of the memory: that is no fault of a variant whose operands are large, too.
TEST(TrialWorkspace, may_be_more_than_this_computer_has) {
  static const auto too_many = static_cast<std::int64_t>(memory_of_this_computer() / 3);
  const Variant variant{
      .name = "host",
      .idea = "",
      .launch = InWorkspace([](const Gemm&, cudaStream_t, void*) { return cudaSuccess; }),
      .workspace = [](const Gemm&) { return too_many; }};
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(too_many) / 32));
  Image none;
  for (const Case& c : {Case{.m = side, .n = side, .k = 1}, Case{.m = 1, .n = 1, .k = 1}}) {
    Given given{gemm_of(c, nullptr, nullptr, nullptr)};
    const LaunchFailure lack =
        place_workspace(machine_of(Backend::host, {}), variant, c, {}, given, none);
    ASSERT_TRUE(lack);
    EXPECT_EQ(lack->status, c.m == 1 ? TrialStatus::crashed : TrialStatus::refused);
  }
}

TEST(TrialWorkspace, can_be_written_to_its_last_float_and_holds_no_zero_at_first) {
  for (const Placement placement : placements) {
    const auto launch = [](const Gemm& g, cudaStream_t, void* workspace) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(workspace) % 256, 0u);
      for (int i = 0; i < floats; ++i) EXPECT_NE(floats_at(workspace)[i], 0.0f);
      for (int i = 0; i < floats; ++i) floats_at(workspace)[i] = 0;
      return multiply(g);
    };
    expect_status(TrialStatus::right, run_in_workspace(launch, {.placement = placement}), {});
  }
}

TEST(TrialWorkspace, is_null_where_none_is_asked_for) {
  const Entry entry = entry_of(
      [](const Gemm& g, cudaStream_t, void* workspace) {
        EXPECT_EQ(workspace, nullptr);
        return multiply(g);
      },
      [](const Gemm&) { return std::int64_t{0}; });
  expect_status(TrialStatus::right, run_trial(entry, {.m = 1, .n = 1, .k = 1}), {});
}

TEST(TrialWorkspace, is_guarded_on_both_sides) {
  expect_status(TrialStatus::wrong,
                run_in_workspace([](const Gemm& g, cudaStream_t, void* workspace) {
                  floats_at(workspace)[floats] = 1;
                  return multiply(g);
                }),
                {"wrote to the 1st float past the last element of the workspace"});
  expect_status(TrialStatus::wrong,
                run_in_workspace([](const Gemm& g, cudaStream_t, void* workspace) {
                  floats_at(workspace)[-1] = 1;
                  return multiply(g);
                }),
                {"wrote to the 1st float before the first element of the workspace"});
}

TEST(TrialWorkspace, that_was_not_written_shows_in_what_is_made_of_it) {
  const Verdict verdict = run_in_workspace([](const Gemm& g, cudaStream_t, void* workspace) {
    multiply(g);
    *g.c += *floats_at(workspace);
    return cudaSuccess;
  });
  expect_status(TrialStatus::wrong, verdict, {"1 of 1"});
  expect_words(verdict.diagnosis, {"workspace that this launch has not written"});
}

TEST(TrialWorkspace, is_poisoned_anew_or_is_as_the_launch_before_left_it) {
  const auto launch = [](const Gemm& g, cudaStream_t, void* workspace) {
    seen = *floats_at(workspace);
    *floats_at(workspace) = 7;
    return multiply(g);
  };
  run_in_workspace(launch);
  EXPECT_TRUE(std::isnan(seen));
  expect_status(TrialStatus::right, run_in_workspace(launch, {.keeps_workspace = true}), {});
  EXPECT_EQ(seen, 7);
  run_in_workspace(launch);
  EXPECT_TRUE(std::isnan(seen));
  const Entry larger = entry_of(launch, [](const Gemm&) { return bytes + 4; });
  run_trial(larger, {.m = 1, .n = 1, .k = 1}, {.keeps_workspace = true});
  EXPECT_TRUE(std::isnan(seen)) << "the launch before had less";
}

TEST(TrialWorkspace, is_aligned_wherever_it_is_to_be_kept_and_is_not_there) {
  static std::uintptr_t address = 0;
  const auto launch = [](const Gemm& g, cudaStream_t, void* workspace) {
    address = reinterpret_cast<std::uintptr_t>(workspace);
    return multiply(g);
  };
  const Entry larger = entry_of(launch, [](const Gemm&) { return bytes + 4; });
  for (const Placement placement :
       {Placement::guarded, Placement::begins_at_fence, Placement::ends_at_fence}) {
    run_in_workspace(launch);
    run_trial(larger, {.m = 1, .n = 1, .k = 1}, {.placement = placement, .keeps_workspace = true});
    EXPECT_EQ(address % 256, 0) << static_cast<int>(placement);
  }
}

TEST(TrialWorkspace, that_cannot_be_had_is_an_error_of_the_launch) {
  const auto expect_refused = [](std::int64_t (*workspace)(const Gemm&)) {
    const Entry entry = entry_of(
        [](const Gemm&, cudaStream_t, void*) {
          ADD_FAILURE() << "launched";
          return cudaSuccess;
        },
        workspace);
    expect_status(TrialStatus::crashed, run_trial(entry, {.m = 1, .n = 1, .k = 1}),
                  {"bytes of workspace"});
  };
  expect_refused([](const Gemm&) { return std::int64_t{1} << 60; });
  expect_refused([](const Gemm&) { return std::int64_t{-4}; });
}

}  // namespace
