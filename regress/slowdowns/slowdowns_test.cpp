// Every slowdown of the catalogue is still an edit of its stage, and leaves it right: as right as
// the stage itself, to the bit where that declares its order. What it costs is for the gates to
// see.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "oracle/gpus.h"
#include "oracle/machine.h"
#include "oracle/operands.h"
#include "oracle/tests/run_tests.h"
#include "oracle/trial.h"
#include "regress/problems.h"
#include "regress/slowdowns/slowdowns.h"
#include "simt/simt.h"

namespace {

using namespace assay;

struct Planted {
  Backend backend;
  Slowdown slowdown;
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.slowdown.name; }

std::vector<Planted> planted_ones() {
  std::vector<Planted> all;
  for (const Slowdown& slowdown : slowdowns) {
#if defined(ASSAY_PTX)
    all.push_back({slowdown.backend, slowdown});
#else
    if (slowdown.backend != Backend::ptx) all.push_back({slowdown.backend, slowdown});
#endif
#if defined(ASSAY_CUDA)
    all.push_back({Backend::cuda, slowdown});
#endif
  }
  return all;
}

// One element, edges in all directions, whole tiles, packed and with gaps, with and without C, and
// nothing to multiply. Rows of A and B are multiples of 4 apart, which every stage accepts.
constexpr std::array cases = {
    "m=1 n=1 k=1 lda=+3 ldb=+3 seed=1",
    "m=131 n=67 k=37 alpha=1.5 lda=+3 ldb=+1 ldc=+2 offset=0,0,1 seed=2",
    "m=37 n=150 k=34 alpha=-0.5 beta=2 lda=+2 ldb=+6 ldc=+1 offset=0,0,3 seed=3",
    "m=128 n=128 k=32 beta=-1 seed=4",
    "m=260 n=132 k=20 seed=5",
    "m=70 n=65 k=69 beta=1 lda=+3 ldb=+3 fill=exact seed=6",
    "m=33 n=40 k=0 beta=0.5 seed=7",
    "m=33 n=40 k=12 alpha=0 seed=8",
};
constexpr std::array placements = {Placement::guarded, Placement::ends_at_fence,
                                   Placement::begins_at_fence};
constexpr std::array orders = {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled};

Rule strictest(const Variant& variant, const Case& c) {
  if (c.fill == Fill::exact) return Rule::exact;
  return variant.order == Order::one_fma_chain ? Rule::replay : Rule::bound;
}

class Catalogue : public testing::TestWithParam<Planted> {};

TEST_P(Catalogue, is_right) {
  const auto& [backend, slowdown] = GetParam();
  ASSERT_STREQ(slowdown.gone, "") << slowdown.file << " no longer has this text; where did it go?";
  if (const std::string why = unavailable(backend); !why.empty())
    return assay_test::skip_without_gpu(why);
  const Entry entry = entry_named(slowdown.name, backend);
  for (const char* text : cases) {
    const Case c = parse_case(text);
    // A GPU chooses the order of its threads.
    for (std::size_t i = 0; i < (backend == Backend::cuda ? 1 : orders.size()); ++i) {
      const Verdict verdict = run_trial(
          entry, c,
          {.rule = strictest(entry.variant, c), .placement = placements[i], .order = orders[i]});
      ASSERT_EQ(verdict.status, TrialStatus::right) << text << '\n'
                                                    << verdict.reason << '\n'
                                                    << verdict.diagnosis;
      ASSERT_EQ(verdict.judged, c.m * c.n) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Slowdown, Catalogue, testing::ValuesIn(planted_ones()),
                         [](const auto& info) {
                           return fmt::format("{}_{}", to_string(info.param.backend),
                                              info.param.slowdown.name);
                         });

// How many kernels, copies and memsets a launch asks for, of any size, without running them.
int operations(const char* variant, const Case& c) {
  const Entry entry = entry_named(variant, Backend::simt);
  const auto at = [&](std::uintptr_t operand) {
    return reinterpret_cast<float*>(operand << 42) + c.offset.floats[operand - 1];
  };
  const Gemm gemm = gemm_of(c, at(1), at(2), at(3));
  return simt::observe({.runs_nothing = true},
                       [&] { EXPECT_EQ(entry.variant.launch(gemm, nullptr), cudaSuccess); })
      .operations;
}

// What each problem of the gate is there for: work that no other problem meets.
TEST(Slowdowns, of_one_kind_of_problem_are_met_by_the_one_problem_of_that_kind) {
  std::set<std::string> met;
  for (const Slowdown& slowdown : slowdowns) {
    if (*slowdown.only == '\0') continue;
    std::vector<std::string> at;  // the problems for which it asks for more than its stage, for one
    for (const Case& problem : gate_problems()) {
      if (not_timed(entry_named(slowdown.name, Backend::simt).variant, problem).empty() &&
          operations(slowdown.name, problem) > 1)
        at.push_back(to_string(problem));
    }
    EXPECT_EQ(at, std::vector<std::string>{slowdown.only}) << slowdown.name;
    met.insert(at.begin(), at.end());
  }
  for (std::size_t i = 10; i < gate_problems().size(); ++i) {
    const std::string problem = to_string(gate_problems()[i]);
    EXPECT_TRUE(met.contains(problem)) << "no slowdown shows what " << problem << " is there for";
  }
}

TEST(Slowdowns, are_many_and_differ) {
  std::set<std::string> names, stages;
  for (const Slowdown& slowdown : slowdowns) {
    names.insert(slowdown.name);
    stages.insert(slowdown.variant);
    EXPECT_NE(std::string(slowdown.what), "") << slowdown.name;
  }
  EXPECT_EQ(names.size(), std::size(slowdowns));
  EXPECT_GE(names.size(), 12u);
  EXPECT_GE(stages.size(), 6u);
}

}  // namespace

int main(int argc, char** argv) {
  assay::keep_to_assigned_gpu();
  testing::InitGoogleTest(&argc, argv);
  return assay_test::run_tests();
}
