// A verdict for whatever a kernel does: wrong, crashed, hung, refused, and right only where it was
// judged.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "base/errors.h"
#include "oracle/tests/trials.h"

namespace {

using namespace assay;
using namespace oracle_test;

TEST(Trial, of_a_right_kernel_is_right_and_judges_every_element) {
  for (const Case& base :
       {small, scaled, Case{.m = 1, .n = 1, .k = 1}, Case{.m = 17, .n = 1, .k = 40}}) {
    for (Placement placement : placements) {
      for (auto [rule, fill] : {std::pair{Rule::bound, Fill::uniform},
                                {Rule::bound, Fill::special},
                                {Rule::exact, Fill::exact},
                                {Rule::replay, Fill::uniform}}) {
        Case c = base;
        c.fill = fill;
        const Verdict verdict = run("none", c, {.rule = rule, .placement = placement});
        expect_status(TrialStatus::right, verdict, {});
        EXPECT_EQ(verdict.judged, c.m * c.n);
        EXPECT_EQ(verdict.reason + verdict.diagnosis + verdict.picture, "");
        ASSERT_TRUE(verdict.worst);
        EXPECT_LE(verdict.worst->error_gulps, verdict.allowed_gulps);
        EXPECT_EQ(verdict.allowed_gulps, allowed_gulps(Arithmetic::fp32, c.k));
      }
    }
  }
}

TEST(Trial, of_a_right_kernel_is_right_on_every_schedule) {
  for (ThreadOrder order :
       {ThreadOrder::by_seed, ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled}) {
    expect_status(TrialStatus::right, run_trial(planted("none"), scaled, {.order = order}), {});
  }
}

TEST(Trial, answers_the_bits_that_were_left_in_C) {
  Output output;
  const Verdict verdict = run_trial(planted("none"), scaled, {}, {}, &output);
  EXPECT_EQ(verdict.status, TrialStatus::right);
  const auto all = make_operands(scaled, Placement::guarded, {4, 4, 4});
  const auto replay = replay_fma_chain(scaled, all);
  ASSERT_EQ(output.size(), replay.size());
  for (std::size_t i = 0; i < output.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(output[i]), std::bit_cast<std::uint32_t>(replay[i]));
}

TEST(Trial, with_nothing_in_C_is_right_with_nothing_judged) {
  for (const auto& [m, n, k] : {std::array{0, 7, 5}, {9, 0, 5}, {0, 0, 0}}) {
    for (Placement placement : placements) {
      const Verdict verdict = run("none", {.m = m, .n = n, .k = k}, {.placement = placement});
      expect_status(TrialStatus::right, verdict, {});
      EXPECT_EQ(verdict.judged, 0);
      EXPECT_FALSE(verdict.worst);
    }
  }
  const Verdict no_products = run("none", {.m = 9, .n = 7, .k = 0, .beta = 2});
  expect_status(TrialStatus::right, no_products, {});
  EXPECT_EQ(no_products.judged, 63) << "beta * C is left";
}

TEST(Trial, sees_one_wrong_element_by_every_rule) {
  for (auto [rule, fill] : {std::pair{Rule::bound, Fill::uniform},
                            {Rule::exact, Fill::exact},
                            {Rule::replay, Fill::uniform}}) {
    Case c = scaled;
    c.fill = fill;
    const Verdict verdict = run("one_element_off", c, {.rule = rule});
    expect_status(TrialStatus::wrong, verdict, {"1 of 63 elements", "row 8, column 6"});
    EXPECT_EQ(verdict.judged, 63);
    ASSERT_TRUE(verdict.worst);
    EXPECT_EQ(verdict.worst->row, 8);
    EXPECT_EQ(verdict.worst->column, 6);
    expect_words(verdict.diagnosis, {"the last 1 of 9 rows", "the last 1 of 7 columns"});
    EXPECT_EQ(std::count(verdict.picture.begin(), verdict.picture.end(), '#'), 1);
    EXPECT_TRUE(verdict.picture.ends_with("......#\n")) << verdict.picture;
  }
}

// As a GPU does in atomic additions. Of a variant that gives the same bits every time, there are
// none.
TEST(Trial, lets_denormals_be_zero_only_where_sums_may_meet_in_atomic_operations) {
  Entry flushes = on_host([](const Gemm& g, cudaStream_t) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        const float product = g.a[i * g.lda] * g.b[j];
        g.c[i * g.ldc + j] = std::fpclassify(product) == FP_SUBNORMAL ? 0 : g.alpha * product;
      }
    }
    return cudaSuccess;
  });
  const auto statuses = [&](float alpha) {
    std::set<TrialStatus> all;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Case c{.m = 8, .n = 8, .k = 1, .alpha = alpha, .fill = Fill::scaled, .seed = seed};
      all.insert(run_trial(flushes, c).status);
    }
    return all;
  };
  EXPECT_TRUE(statuses(1).contains(TrialStatus::wrong));
  flushes.variant.deterministic = false;
  for (const float alpha : {1.0f, 0.01f, -256.0f})
    EXPECT_EQ(statuses(alpha), std::set{TrialStatus::right}) << alpha;
}

// It is judged some rows at a time.
TEST(Trial, sees_one_wrong_element_anywhere_in_a_large_result) {
  static std::int64_t wrong_row;  // none if negative
  static float added;
  const auto sums_one_product = on_host([](const Gemm& g, cudaStream_t) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        float* const c = &g.c[i * g.ldc + j];
        *c = std::fmaf(g.alpha, g.a[i * g.lda] * g.b[j], g.beta * *c);
        if (i == wrong_row && j == g.n - 1) *c += added;
      }
    }
    return cudaSuccess;
  });
  const Case large{
      .m = 1025, .n = 1031, .k = 1, .alpha = 1.5, .beta = -0.5, .lda = {2}, .ldc = {3}};
  wrong_row = -1;
  const Verdict right = run_trial(sums_one_product, large, {});
  expect_status(TrialStatus::right, right, {});
  EXPECT_EQ(right.judged, large.m * large.n);
  const Operands before = make_operands(large, Placement::guarded, {4, 4, 4});
  Image computed = before[Operand::c];
  const Gemm gemm =
      gemm_of(large, before[Operand::a].row(0), before[Operand::b].row(0), computed.row(0));
  ASSERT_EQ(sums_one_product.variant.launch(gemm, nullptr), cudaSuccess);
  const Judgement at_once = judge_bound(computed, make_reference(large, before), 3);
  ASSERT_TRUE(right.worst);
  EXPECT_EQ(right.worst->row, at_once.worst.row);
  EXPECT_EQ(right.worst->column, at_once.worst.column);
  EXPECT_EQ(right.worst->error_gulps, at_once.worst.error_gulps);
  for (float error : {1e-3f, std::numeric_limits<float>::quiet_NaN()}) {
    added = error;
    for (std::int64_t row : {0, 253, 254, 255, 1024}) {
      wrong_row = row;
      expect_status(TrialStatus::wrong, run_trial(sums_one_product, large, {}),
                    {fmt::format("1 of {} elements", large.m * large.n),
                     fmt::format("row {}, column 1030", row)});
    }
  }
}

TEST(Trial, judges_to_the_bit_only_where_asked) {
  Case c = scaled;
  c.k = 60;
  const auto host_reversed = on_host([](const Gemm& g, cudaStream_t) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        float sum = 0;
        for (std::int64_t p = g.k - 1; p >= 0; --p)
          sum = std::fmaf(g.a[i * g.lda + p], g.b[p * g.ldb + j], sum);
        g.c[i * g.ldc + j] = std::fmaf(g.beta, g.c[i * g.ldc + j], g.alpha * sum);
      }
    }
    return cudaSuccess;
  });
  expect_status(TrialStatus::right, run_trial(host_reversed, c, {}), {});
  expect_status(TrialStatus::wrong, run_trial(host_reversed, c, {.rule = Rule::replay}),
                {"fma chain"});
}

TEST(Trial, of_a_kernel_that_was_never_launched_is_never_right) {
  for (float beta : {0.0f, 1.0f, 0.5f}) {
    Case c = small;
    c.beta = beta;
    for (Rule rule : {Rule::bound, Rule::replay}) {
      const Verdict verdict = run("launches_nothing", c, {.rule = rule});
      expect_status(TrialStatus::wrong, verdict, {"of 63 elements"});
      expect_words(verdict.diagnosis, {beta == 0 ? "never written" : "unchanged"});
      if (beta == 0) expect_words(verdict.reason, {"63 of 63", "what was there before"});
    }
  }
  Case identity = small;
  identity.alpha = 0, identity.beta = 1;
  expect_status(TrialStatus::right, run("launches_nothing", identity), {});
}

TEST(Trial, names_a_crash) {
  Case c = small;
  c.offset = {{1, 0, 0}};
  expect_status(TrialStatus::crashed, run("loads_float4_of_a", c), {"misaligned"});
  expect_status(TrialStatus::right, run("loads_float4_of_a", small), {});
  expect_status(TrialStatus::crashed, run("waits_at_two_barriers", c), {"barrier"});
  for (const Verdict& verdict : {run("waits_at_two_barriers", c), run("loads_float4_of_a", c)}) {
    EXPECT_EQ(verdict.judged, 0);
    EXPECT_FALSE(verdict.worst);
  }
}

TEST(Trial, remarks_on_what_is_right_but_worth_knowing) {
  const Verdict verdict = run("leaves_before_barrier", {.m = 1, .n = 3, .k = 2});
  expect_status(TrialStatus::right, verdict, {});
  expect_words(verdict.remark, {"61 of 64 threads returned before the barrier", "sm_70"});
  EXPECT_EQ(run("none", small).remark, "");
}

// On a GPU the host cannot reach operands.
TEST(Trial, names_what_the_host_does_instead_of_a_kernel) {
  expect_status(TrialStatus::crashed, run("launches_after_a_look", small),
                {"host access: launch() itself read memory", ": A"});
  expect_status(TrialStatus::crashed, run("computes_on_host", small), {"launch() itself read"});
  expect_status(TrialStatus::wrong, run("computes_on_host_through_copies", small),
                {"C was changed, but no kernel was launched: the host computed it"});
  Case none = small;
  none.k = 0;
  expect_status(TrialStatus::right, run("computes_on_host_through_copies", none), {});
  expect_status(TrialStatus::right, run("none", small), {});
}

TEST(Trial, names_a_launch_that_failed_even_if_nobody_else_does) {
  expect_status(TrialStatus::crashed, run("too_many_threads", small), {"2048 threads"});
  expect_status(TrialStatus::crashed, run("swallows_the_error", small), {"2048 threads"});
  expect_status(TrialStatus::crashed, run("launches_no_blocks", small), {"no blocks"});
  expect_status(TrialStatus::crashed, run("returns_error", small), {"cudaErrorInvalidValue"});
  const auto host = on_host([](const Gemm&, cudaStream_t) { return cudaErrorInvalidValue; });
  expect_status(TrialStatus::crashed, run_trial(host, small, {}), {"cudaErrorInvalidValue"});
}

TEST(Trial, ends_a_kernel_that_does_not) {
  const Verdict verdict = run("loops_forever", {.m = 1, .n = 1, .k = 1});
  expect_status(TrialStatus::hung, verdict, {"never ends"});
  EXPECT_EQ(verdict.judged, 0);
  expect_status(TrialStatus::right, run("none", small), {});
}

TEST(Trial, sees_a_race_in_some_order_of_threads) {
  expect_status(TrialStatus::right, run("races", small, {.order = ThreadOrder::forward}), {});
  const Verdict verdict = run("races", small, {.order = ThreadOrder::reverse});
  expect_status(TrialStatus::wrong, verdict, {"of 63"});
  expect_words(verdict.diagnosis, {"NaN"});
}

TEST(Trial, goes_on_after_every_fault) {
  for (const char* name : {"reads_before_b", "waits_at_two_barriers", "swallows_the_error",
                           "writes_a", "writes_before_c"}) {
    EXPECT_NE(status_of(name, small, {.placement = Placement::begins_at_fence}), "right");
    expect_status(TrialStatus::right, run("none", scaled), {});
  }
}

TEST(Trial, refuses_what_a_variant_does_not_accept) {
  const auto refused = [&](const Needs& needs, const Case& c, const std::string& why) {
    expect_status(TrialStatus::refused, run_trial(with_needs("loops_forever", needs), c, {}),
                  {why});
  };
  refused({.m_multiple = 4}, small, "m = 9 is not a multiple of 4");
  refused({.n_multiple = 4}, small, "n = 7 is not a multiple of 4");
  refused({.k_multiple = 2}, small, "k = 5 is not a multiple of 2");
  refused({.lda_multiple = 4}, small, "lda = 5 is not a multiple of 4");
  refused({.ldb_multiple = 4}, small, "ldb = 7 is not a multiple of 4");
  refused({.ldc_multiple = 2}, scaled, "ldc = 9 is not a multiple of 2");
  refused({.a_alignment = 16}, scaled, "A begins 4 bytes past a multiple of 16");
  refused({.b_alignment = 16}, scaled, "B begins 8 bytes past a multiple of 16");
  refused({.c_alignment = 16}, scaled, "C begins 12 bytes past a multiple of 16");
  refused({.packed = true}, scaled, "not packed");
  refused({.alpha_one = true}, scaled, "alpha = 1.5 is not 1");
  refused({.beta_zero = true}, scaled, "beta = -0.5 is not 0");
}

TEST(Trial, runs_what_a_variant_accepts) {
  const Needs all{.m_multiple = 3,
                  .n_multiple = 7,
                  .k_multiple = 5,
                  .lda_multiple = 5,
                  .ldb_multiple = 7,
                  .ldc_multiple = 7,
                  .a_alignment = 16,
                  .b_alignment = 16,
                  .c_alignment = 16,
                  .packed = true,
                  .alpha_one = true,
                  .beta_zero = true};
  for (Placement placement : placements)
    expect_status(TrialStatus::right,
                  run_trial(with_needs("none", all), small, {.placement = placement}), {});
}

TEST(Trial, proposes_the_need_that_would_keep_a_problem_away) {
  const auto proposed = [](Gemm g) {
    g.lda = g.k, g.ldb = g.ldc = g.n;
    return launch_returned("cudaErrorInvalidValue", g)->diagnosis;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(proposed({.m = 3, .n = 5, .k = 0}), "k_least = 1"));
  EXPECT_TRUE(has(proposed({.m = 3, .n = 70000, .k = 2, .alpha = 1.5f}), "n_most = 65536"));
  EXPECT_TRUE(has(proposed({.m = 3, .n = 5, .k = 2, .alpha = 1.5f}), "alpha_one = true"));
}

TEST(Trial, launches_what_is_refused_where_needs_are_ignored) {
  Case c = small;
  c.offset = {{1, 0, 0}};
  const Entry needy = with_needs("loads_float4_of_a", {.k_multiple = 4, .a_alignment = 16});
  expect_status(TrialStatus::refused, run_trial(needy, c, {}), {});
  expect_status(TrialStatus::crashed, run_trial(needy, c, {.ignore_needs = true}), {"misaligned"});
  const Entry modest = with_needs("none", {.k_multiple = 4});
  expect_status(TrialStatus::right, run_trial(modest, small, {.ignore_needs = true}), {});
}

TEST(Trial, refuses_a_malformed_problem_before_anything_is_launched) {
  const std::vector<std::pair<Spoil, std::string>> ways = {
      {Spoil::negative_m, "m = -1 is negative"},
      {Spoil::negative_n, "n = -1 is negative"},
      {Spoil::negative_k, "k = -1 is negative"},
      {Spoil::short_lda, "lda = 4 is less than a row of 5"},
      {Spoil::short_ldb, "ldb = 6 is less than a row of 7"},
      {Spoil::short_ldc, "ldc = 6 is less than a row of 7"}};
  for (const auto& [spoil, words] : ways) {
    for (const char* name : {"loops_forever", "returns_error"})
      expect_status(TrialStatus::refused, run(name, small, {.spoil = spoil}), {words});
  }
}

TEST(Trial, refuses_a_case_that_no_memory_holds) {
  for (const char* text : {"m=1099511627776 n=1099511627776 k=1", "m=1048576 n=1048576 k=1",
                           "m=9 n=2 k=1 ldc=+1099511627776"}) {
    EXPECT_THROW(run("none", parse_case(text)), BadInput) << text;
  }
}

}  // namespace
