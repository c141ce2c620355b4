// The spread of errors tells right kernels from wrong arithmetics, and says where it does not.
#include "properties/power/error_spread.h"

#include <gtest/gtest.h>

#include <cmath>

#include "properties/tests/planted.h"

namespace {

using namespace assay;
using namespace assay_test;

const auto no_progress = [](double) {};

SpreadOverK source(const char* name, std::optional<Emulation> emulation, double worst) {
  return {.name = name,
          .backend = "host",
          .emulation = emulation,
          .spreads = {{.k = 64, .elements = 10, .worst = worst, .allowed = 16}}};
}

TEST(ErrorSpread, lies_inside_the_bound_for_a_right_kernel_and_outside_for_tf32) {
  const auto all = error_spreads(
      {.entries = {host_entry(multiply)}, .fills = {Fill::uniform}, .seed = 3}, no_progress);
  ASSERT_EQ(all.size(), 1 + emulations.size());
  for (const SpreadOverK& one : all) {
    EXPECT_EQ(one.why_not, "");
    ASSERT_EQ(one.spreads.size(), spread_sizes.size());
    for (const ErrorSpread& spread : one.spreads) {
      EXPECT_EQ(spread.elements, 2 * 61 * 67);
      EXPECT_LE(spread.median, spread.p99);
      EXPECT_LE(spread.p99, spread.p999);
      EXPECT_LE(spread.p999, spread.worst);
    }
  }
  const Separation separation = separation_of(all);
  EXPECT_TRUE(separation.outside.empty());
  EXPECT_LT(separation.nearest, 1);
  EXPECT_GT(separation.tf32_times, 20);
  EXPECT_TRUE(separation.bf16x9_is_inside);
}

TEST(ErrorSpread, of_a_launch_that_fails_stops_with_the_reason) {
  const Entry failing = host_entry([](const Gemm&, cudaStream_t) { return cudaErrorLaunchFailure; });
  const auto all = error_spreads({.entries = {failing}, .fills = {Fill::uniform}}, no_progress);
  EXPECT_NE(all.back().why_not.find("crashed"), std::string::npos) << all.back().why_not;
  EXPECT_TRUE(all.back().spreads.empty());
  EXPECT_EQ(separation_of(all).outside.size(), 1u) << "what was not measured is not inside";
}

TEST(ErrorSpread, never_takes_a_wrong_kernel_or_nan_for_right) {
  const auto wrong = [](const Gemm& g, cudaStream_t) {
    for (std::int64_t i = 0; i < g.m; ++i)
      for (std::int64_t j = 0; j < g.n; ++j) g.c[i * g.ldc + j] = std::nanf("");
    return cudaSuccess;
  };
  const auto all =
      error_spreads({.entries = {host_entry(wrong)}, .fills = {Fill::uniform}}, no_progress);
  EXPECT_EQ(separation_of(all).outside.size(), 1u);
  EXPECT_EQ(separation_of({source("wrong", {}, 17)}).outside.size(), 1u);
  EXPECT_EQ(separation_of({source("nan", {}, std::nan(""))}).outside.size(), 1u);
  EXPECT_TRUE(separation_of({source("right", {}, 15)}).outside.empty());
}

TEST(ErrorSpread, says_how_far_the_bound_sees) {
  const Separation s =
      separation_of({source("TF32", Emulation::tf32, 160), source("BF16x3", Emulation::bf16x3, 17),
                     source("BF16x9", Emulation::bf16x9, 17), source("right", {}, 4)});
  EXPECT_EQ(s.tf32_times, 10);
  EXPECT_EQ(s.bf16x3_up_to, 64);
  EXPECT_FALSE(s.bf16x9_is_inside);
  EXPECT_EQ(s.nearest, 0.25);
  EXPECT_EQ(separation_of({source("BF16x3", Emulation::bf16x3, 15)}).bf16x3_up_to, 0);
}

}  // namespace
