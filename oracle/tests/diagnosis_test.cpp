// Every mistake that a diagnosis can name, made on purpose; and errors that are none of them.
#include "oracle/diagnosis/diagnosis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "oracle/tests/mistakes.h"

namespace {

using namespace assay;
using namespace mistake_test;

TEST(Diagnosis, names_a_mistake_with_the_scalars) {
  const Bench x(scaled);
  const double alpha = 1.5, beta = -0.5;
  const std::vector<std::pair<const char*, Mistake>> mistakes = {
      {"beta * C is missing", [&](auto i, auto j) { return alpha * x.sum(i, j); }},
      {"C was added without beta",
       [&](auto i, auto j) { return alpha * x.sum(i, j) + x.old(i, j); }},
      {"beta was applied twice",
       [&](auto i, auto j) { return alpha * x.sum(i, j) + beta * beta * x.old(i, j); }},
      {"beta * C was added twice",
       [&](auto i, auto j) { return alpha * x.sum(i, j) + 2 * beta * x.old(i, j); }},
      {"alpha is missing", [&](auto i, auto j) { return x.sum(i, j) + beta * x.old(i, j); }},
      {"alpha was applied twice",
       [&](auto i, auto j) { return alpha * alpha * x.sum(i, j) + beta * x.old(i, j); }},
      {"alpha was applied to beta * C too",
       [&](auto i, auto j) { return alpha * (x.sum(i, j) + beta * x.old(i, j)); }},
      {"alpha * A * B is missing", [&](auto i, auto j) { return beta * x.old(i, j); }},
      {"alpha * A * B was added twice",
       [&](auto i, auto j) { return 2 * alpha * x.sum(i, j) + beta * x.old(i, j); }},
      {"C is unchanged there", [&](auto i, auto j) { return x.old(i, j); }}};
  for (const auto& [words, mistake] : mistakes)
    EXPECT_EQ(x.diagnose(mistake), std::string("every element: ") + words);
}

TEST(Diagnosis, does_not_take_zeros_for_an_old_C_that_is_not_read) {
  const Bench x(parse_case("m=5 n=8 k=3 alpha=1.5 fill=small_ints seed=1"));
  EXPECT_EQ(x.diagnose([](auto, auto) { return 0.0; }), "every element: alpha * A * B is missing");
}

TEST(Diagnosis, names_a_mistake_with_the_scalars_of_a_part_of_C) {
  const Bench x(scaled);
  EXPECT_EQ(x.diagnose([&](auto i, auto j) {
    return j == 7 ? 1.5 * x.sum(i, j) + x.old(i, j) : x.right(i, j);
  }),
            "every element of the last 1 of 8 columns: C was added without beta");
  EXPECT_EQ(x.diagnose([&](auto i, auto j) { return i == 0 ? x.old(i, j) : x.right(i, j); }),
            "every element of row 0: C is unchanged there");
}

TEST(Diagnosis, names_elements_that_were_never_written) {
  const Bench x(plain);
  Image result = x.result_of([&](auto i, auto j) { return x.right(i, j); });
  for (int j = 0; j < 8; ++j) result.row(8)[j] = std::bit_cast<float>(unwritten_bits);
  EXPECT_EQ(x.diagnose(result), "every element of the last 1 of 9 rows: they were never written");
  EXPECT_EQ(x.diagnose(x.before[Operand::c]), "every element: they were never written");
}

TEST(Diagnosis, names_what_a_nan_was_made_from) {
  const Bench x({.m = 5, .n = 8, .k = 7, .ldb = {2}});
  const std::vector<std::pair<std::uint32_t, std::string>> patterns = {
      {guard_bits, "outside the matrices"}, {padding_bits, "gap"}, {unwritten_bits, "beta is 0"}};
  for (const auto& [pattern, words] : patterns) {
    volatile float poison = std::bit_cast<float>(pattern);
    const auto cause = x.cause([&](auto i, auto j) { return x.right(i, j) + poison; });
    EXPECT_NE(cause.find("NaN"), cause.npos) << cause;
    EXPECT_NE(cause.find(words), cause.npos) << cause;
  }
  const auto other = x.cause([](auto, auto) { return NAN; });
  EXPECT_NE(other.find("NaN"), other.npos);
  EXPECT_EQ(other.find("from"), other.npos) << "nobody knows: " << other;
}

TEST(Diagnosis, does_not_speak_for_all_where_only_some_are_nan) {
  const Bench x(plain);
  const auto cause =
      x.cause([&](auto i, auto j) { return j % 2 == 0 ? NAN : x.right(i, j) + 0.37 * (1 + i); });
  EXPECT_EQ(cause, "");
}

TEST(Diagnosis, names_a_missing_tail_of_k) {
  const Bench tiled({.m = 9, .n = 8, .k = 37, .alpha = 2, .beta = 1}, {16, 16, 16});
  EXPECT_EQ(tiled.cause(without(tiled, 32, 37)),
            "the contribution of k = 32 to 36, the last is missing");
  const Bench untiled({.m = 9, .n = 8, .k = 10});
  EXPECT_EQ(untiled.cause(without(untiled, 6, 10)),
            "the contribution of k = 6 to 9, the last is missing");
  const Bench one({.m = 9, .n = 8, .k = 33}, {16, 16, 16});
  EXPECT_EQ(one.cause(without(one, 32, 33)), "the contribution of k = 32 is missing");
}

TEST(Diagnosis, names_each_single_k_that_is_missing) {
  const Bench x({.m = 12, .n = 10, .k = 21, .alpha = -1}, {16, 16, 8});
  for (std::int64_t p = 0; p < 21; ++p) {
    EXPECT_EQ(x.cause(without(x, p, p + 1)),
              fmt::format("the contribution of k = {} is missing", p));
  }
}

TEST(Diagnosis, names_a_slice_of_k_that_is_missing_or_doubled) {
  const Bench x({.m = 9, .n = 8, .k = 27, .beta = 3}, {16, 16, 8});
  EXPECT_EQ(x.cause(without(x, 0, 8)), "the contribution of k = 0 to 7 is missing");
  EXPECT_EQ(x.cause(without(x, 8, 16)), "the contribution of k = 8 to 15 is missing");
  EXPECT_EQ(x.cause(without(x, 8, 16, +1)), "the contribution of k = 8 to 15 was added twice");
  EXPECT_EQ(x.cause(without(x, 24, 27, +1)),
            "the contribution of k = 24 to 26, the last was added twice");
  EXPECT_EQ(x.cause(without(x, 5, 6, +1)), "the contribution of k = 5 was added twice");
}

// A and B walked with other distances between their rows.
Mistake walked(const Bench& x, std::int64_t lda, std::int64_t ldb) {
  return [&x, lda, ldb](auto i, auto j) {
    double sum = 0;
    for (std::int64_t p = 0; p < x.c.k; ++p)
      sum += x.at(Operand::a, i * lda + p) * x.at(Operand::b, p * ldb + j);
    return x.c.alpha * sum + (x.c.beta == 0 ? 0 : x.c.beta * x.old(i, j));
  };
}

TEST(Diagnosis, names_a_distance_taken_for_another) {
  const Bench deep({.m = 6, .n = 5, .k = 9, .alpha = 2, .beta = 1});  // lda 9, ldb and ldc 5
  EXPECT_EQ(deep.cause(walked(deep, 5, 5)), "A was read with ldb or ldc for lda");
  EXPECT_EQ(deep.cause(walked(deep, 6, 5)), "A was read with m for lda");
  const Bench wide({.m = 6, .n = 9, .k = 5});
  EXPECT_EQ(wide.cause(walked(wide, 5, 5)), "B was read with lda for ldb");
  EXPECT_EQ(wide.cause(walked(wide, 5, 6)), "B was read with m for ldb");
  const Bench column({.m = 6, .n = 5, .k = 1, .lda = {4}, .ldb = {2}});
  EXPECT_EQ(column.cause(walked(column, 1, 7)), "A was read with k for lda");
  const Bench gaps({.m = 6, .n = 5, .k = 12, .ldb = {1}, .ldc = {2}});
  EXPECT_EQ(gaps.cause(walked(gaps, 5, 6)), "A was read with n for lda");
  EXPECT_EQ(gaps.cause(walked(gaps, 7, 6)), "A was read with ldc for lda");
  const Bench more({.m = 6, .n = 9, .k = 5, .lda = {1}, .ldc = {2}});
  EXPECT_EQ(more.cause(walked(more, 6, 5)), "B was read with k for ldb");
}

TEST(Diagnosis, names_a_gap_that_was_taken_for_elements) {
  const Bench a({.m = 6, .n = 5, .k = 9, .lda = {2}});
  const auto of_a = a.cause(walked(a, 9, 5));
  EXPECT_NE(of_a.find("gap between rows"), of_a.npos) << of_a;
  const Bench b({.m = 6, .n = 5, .k = 9, .ldb = {3}});
  const auto of_b = b.cause(walked(b, 9, 5));
  EXPECT_NE(of_b.find("gap between rows"), of_b.npos) << of_b;
}

TEST(Diagnosis, names_a_distance_that_leads_out_of_the_matrix) {
  const Bench b({.m = 6, .n = 5, .k = 9});
  const auto of_b = b.cause(walked(b, 9, 9));  // every column of B ends in the guard
  EXPECT_NE(of_b.find("outside the matrices"), of_b.npos) << of_b;
  const Bench a({.m = 9, .n = 7, .k = 5});  // the first rows of A are elsewhere, the last outside
  EXPECT_EQ(a.cause(walked(a, 7, 7)), "A was read with ldb or ldc for lda");
}

TEST(Diagnosis, names_inputs_that_were_rounded) {
  for (const auto fill : {Fill::uniform, Fill::exact}) {
    const Bench x({.m = 9, .n = 8, .k = 33, .alpha = 2, .beta = 1, .fill = fill, .seed = 4},
                  {16, 16, 8});
    for (bool truncated : {false, true}) {
      for (const auto& [kept, words] : {std::pair{10, "the inputs were rounded to TF32 (or FP16)"},
                                        {7, "the inputs were rounded to BF16"}}) {
        EXPECT_EQ(x.cause([&, kept = kept](auto i, auto j) {
          double sum = 0;
          for (std::int64_t p = 0; p < x.c.k; ++p)
            sum += rounded(x.a(i, p), kept, truncated) * rounded(x.b(p, j), kept, truncated);
          return x.c.alpha * sum + x.c.beta * x.old(i, j);
        }),
                  words);
      }
    }
  }
}

TEST(Diagnosis, names_another_order_where_bits_differ_within_the_bound) {
  const Bench x({.m = 9, .n = 8, .k = 33});
  Image reversed = x.before[Operand::c];
  for (std::int64_t i = 0; i < 9; ++i) {
    for (std::int64_t j = 0; j < 8; ++j) {
      float sum = 0;
      for (std::int64_t p = 32; p >= 0; --p)
        sum = std::fmaf(static_cast<float>(x.a(i, p)), static_cast<float>(x.b(p, j)), sum);
      reversed.row(i)[j] = sum;
    }
  }
  const auto judged = judge_bits(reversed, x.reference, replay_fma_chain(x.c, x.before));
  const auto words = x.diagnose(reversed, judged);
  EXPECT_NE(words.find("another order"), words.npos) << words;
}

TEST(Diagnosis, blames_no_order_for_a_wrong_sum_that_is_exact_in_every_order) {
  const Bench x({.m = 3, .n = 3, .k = 777, .fill = Fill::exact});
  const Image result = x.result_of([&](auto i, auto j) { return x.right(i, j) + (i == 1); });
  const auto words = x.diagnose(result, judge_exact(result, x.reference));
  EXPECT_EQ(words.find("order"), words.npos) << words;
}

TEST(Diagnosis, names_no_mistake_for_unrelated_errors) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> error(-2, 2);
  for (const Case& base : {scaled, plain, Case{.m = 20, .n = 20, .k = 200, .beta = 1}}) {
    for (int trial = 0; trial < 20; ++trial) {
      Case c = base;
      c.seed = random();
      const Bench x(c, {16, 16, 16});
      EXPECT_EQ(x.cause([&](auto i, auto j) { return x.right(i, j) + error(random); }), "");
      EXPECT_EQ(x.cause([&](auto i, auto j) {
        return x.right(i, j) + (i == 2 && j < 3 ? error(random) : 0);
      }),
                "")
          << "three wrong elements";
    }
  }
}

TEST(Diagnosis, names_no_mistake_for_one_wrong_element_by_chance) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> error(-2, 2);
  for (const auto& [k, trials] : {std::pair{7, 100}, {50, 100}, {777, 40}}) {
    int named = 0;
    std::string example;
    for (int trial = 0; trial < trials; ++trial) {
      const Bench x({.m = 6, .n = 5, .k = k, .alpha = 1.5, .beta = -0.5, .seed = random()},
                    {16, 16, 16});
      const double off = error(random);
      const auto cause =
          x.cause([&](auto i, auto j) { return x.right(i, j) + (i == 2 && j == 3 ? off : 0); });
      if (!cause.empty()) ++named, example = cause;
    }
    EXPECT_LE(named, trials / 20) << "of " << trials << " at k = " << k << ", such as: " << example;
  }
}

TEST(Diagnosis, names_no_mistake_for_infinities) {
  for (double infinity : {HUGE_VAL, -HUGE_VAL}) {
    const Bench x(scaled);
    EXPECT_EQ(x.cause([&](auto, auto) { return infinity; }), "");
    EXPECT_EQ(x.cause([&](auto i, auto j) { return i > 2 ? infinity : x.right(i, j); }), "");
    EXPECT_EQ(x.cause([&](auto i, auto j) { return i > 2 ? infinity : x.right(i, j) + 1.25 + j; }),
              "");
  }
}

}  // namespace
