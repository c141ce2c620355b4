// Mistakes that the diagnosis names: special values, addresses, elements, stretches of k.
#include "oracle/diagnosis/diagnosis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "oracle/tests/mistakes.h"
#include "simt/simt.h"

namespace {

using namespace assay;
using namespace mistake_test;

TEST(Diagnosis, names_special_values_that_were_lost) {
  int infinities = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Bench x({.m = 9, .n = 8, .k = 7, .beta = 2, .fill = Fill::special, .seed = seed});
    const auto cause = x.cause([&](auto i, auto j) {
      return std::isfinite(x.right(i, j)) ? x.right(i, j) : 1000.0 + static_cast<double>(i);
    });
    ASSERT_NE(cause.find("lost"), cause.npos) << cause;
    bool any = false;
    const Image result = x.result_of([&](auto i, auto j) {
      any |= std::isinf(x.right(i, j));
      return std::isinf(x.right(i, j)) ? NAN : x.right(i, j);
    });
    if (!any) continue;
    const std::string words = x.diagnose(result);
    ASSERT_NE(words.find("they are NaN, where an infinity of the input must stay one"), words.npos)
        << words;
    ++infinities;
  }
  EXPECT_GT(infinities, 3);
}

TEST(Diagnosis, does_not_take_an_unchanged_C_for_special_values_that_were_lost) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Bench x({.m = 3, .n = 8, .k = 600, .beta = 2, .fill = Fill::special, .seed = seed});
    const std::string words = x.diagnose(x.before[Operand::c]);
    EXPECT_NE(words.find("C is unchanged there"), words.npos) << words;
  }
}

TEST(Diagnosis, names_an_uninitialised_variable) {
  const double pattern = std::bit_cast<float>(0xfefefefeu);
  const Bench x(scaled);
  const auto fault_of = [&](const Mistake& mistake) {
    const Image result = x.result_of(mistake);
    const Judgement judged = judge_bound(result, x.reference, 16);
    return assay::diagnose({x.c, x.variant, x.before, result, x.reference, judged}).finding.fault;
  };
  EXPECT_EQ(fault_of([&](auto i, auto j) { return x.right(i, j) + pattern; }),
            Fault::read_register);
  EXPECT_EQ(
      fault_of([&](auto i, auto j) { return i == 3 ? x.a(i, j % 7) * pattern : x.right(i, j); }),
      Fault::read_register);
}

TEST(Diagnosis, names_the_sign_of_zero) {
  const Bench x({.m = 3, .n = 2, .k = 0});
  const Image result = x.result_of([](auto, auto) { return -0.0; });
  EXPECT_EQ(x.diagnose(result, judge_bits(result, x.reference, replay_fma_chain(x.c, x.before))),
            "every element: only the sign of zero is wrong: they are -0 instead of 0");
}

TEST(Diagnosis, names_one_operand_that_was_rounded) {
  const Bench x({.m = 9, .n = 8, .k = 33, .seed = 4});
  for (bool of_a : {true, false}) {
    EXPECT_EQ(
        x.cause([&](auto i, auto j) {
          double sum = 0;
          for (std::int64_t p = 0; p < x.c.k; ++p) {
            sum += (of_a ? rounded(x.a(i, p), 10, false) : x.a(i, p)) *
                   (of_a ? x.b(p, j) : rounded(x.b(p, j), 10, false));
          }
          return sum;
        }),
        of_a ? "A alone was rounded to TF32 (or FP16)" : "B alone was rounded to TF32 (or FP16)");
  }
}

// A NaN of shared memory came from no index, and an index that leads to nowhere gives no NaN.
TEST(Diagnosis, does_not_take_any_nan_for_an_index_that_overflowed) {
  const Bench x({.m = 1, .n = 1, .k = 3, .ldb = {std::int64_t{1} << 30}});
  for (const std::uint32_t pattern : {simt::unwritten_shared_bits, padding_bits}) {
    volatile float poison = std::bit_cast<float>(pattern);
    const auto cause = x.cause([&](auto i, auto j) { return x.right(i, j) + poison; });
    EXPECT_EQ(cause.find("overflowed"), cause.npos) << cause;
  }
}

// An index of B is the same in every row.
TEST(Diagnosis, does_not_blame_an_index_that_would_make_more_wrong) {
  const Bench x({.m = 2, .n = 1, .k = 5, .lda = {1}, .ldb = {std::int64_t{1} << 30}});
  volatile float poison = std::bit_cast<float>(padding_bits);
  const auto cause = x.cause([&](auto i, auto j) { return x.right(i, j) + (i == 1 ? poison : 0); });
  EXPECT_EQ(cause, "they are NaN, from a gap between rows");
}

TEST(Diagnosis, takes_no_coincidence_of_small_integers_for_a_mistake) {
  int mistaken = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Bench x({.m = 1, .n = 1, .k = 2, .beta = 2, .fill = Fill::small_ints, .seed = seed});
    if (x.old(0, 0) == 0) continue;
    EXPECT_EQ(x.diagnose([&](auto i, auto j) { return x.sum(i, j); }), "every element");
    ++mistaken;
  }
  EXPECT_GT(mistaken, 5);
}

TEST(Diagnosis, names_a_scalar_that_was_rounded) {
  const Bench x({.m = 3, .n = 2, .k = 3, .alpha = 0.4194194f, .beta = 0.3f});
  EXPECT_EQ(x.cause([&](auto i, auto j) {
    return rounded(x.c.alpha, 10, false) * x.sum(i, j) + x.c.beta * x.old(i, j);
  }),
            "alpha was rounded to TF32 (or FP16)");
  EXPECT_EQ(x.cause([&](auto i, auto j) {
    return x.c.alpha * x.sum(i, j) + rounded(x.c.beta, 7, false) * x.old(i, j);
  }),
            "beta was rounded to BF16");
}

TEST(Diagnosis, says_how_many_bits_are_right_where_something_is_rounded) {
  for (const std::int64_t k : {1, 30}) {
    const Bench x({.m = 3, .n = 2, .k = k});
    EXPECT_NE(x.cause([&](auto i, auto j) {
                 return rounded(x.right(i, j), 13, true);
               }).find("something is rounded: they are right to about 1"),
              std::string::npos);
  }
}

TEST(Diagnosis, names_an_input_beyond_the_range_of_halves) {
  const Bench x({.m = 9, .n = 8, .k = 5, .fill = Fill::scaled, .seed = 3});
  const auto wide = [&](auto i, auto j) {
    bool any = false;
    for (std::int64_t p = 0; p < 5; ++p)
      any |= std::abs(x.a(i, p)) > 65504 || std::abs(x.b(p, j)) > 65504;
    return any;
  };
  EXPECT_EQ(x.cause([&](auto i, auto j) { return wide(i, j) ? NAN : x.right(i, j); }),
            "they are NaN: an input beyond 65504 overflowed, as FP16 does");
}

TEST(Diagnosis, names_an_overflow_by_a_scalar_too_many) {
  const Bench x({.m = 3, .n = 2, .k = 3, .alpha = 1e25f, .fill = Fill::small_ints});
  EXPECT_EQ(x.cause([&](auto, auto) { return NAN; }),
            "they are NaN: an intermediate result overflowed");
}

TEST(Diagnosis, says_what_is_to_come_where_nothing_is_multiplied) {
  const Bench x({.m = 3, .n = 2, .k = 3, .alpha = 0});
  EXPECT_EQ(
      x.diagnose(x.before[Operand::c]),
      "every element: they were never written: with alpha = 0, C is still to become beta * C");
}

// A and B read where `of_a` and `of_b` say, as distances from element (0, 0).
using Distance = std::function<std::int64_t(std::int64_t, std::int64_t)>;
Mistake reading(const Bench& x, const Distance& of_a, const Distance& of_b) {
  return [&x, of_a, of_b](auto i, auto j) {
    double sum = 0;
    for (std::int64_t p = 0; p < x.c.k; ++p)
      sum += x.at(Operand::a, of_a(i, p)) * x.at(Operand::b, of_b(p, j));
    return sum;
  };
}

TEST(Diagnosis, names_an_operand_that_was_transposed_or_shifted) {
  const Bench x({.m = 6, .n = 6, .k = 6, .lda = {1}, .ldb = {2}});  // lda 7, ldb 8
  const auto rows = [](std::int64_t ld) { return [ld](auto i, auto j) { return i * ld + j; }; };
  const auto columns = [](std::int64_t ld) { return [ld](auto i, auto j) { return j * ld + i; }; };
  EXPECT_EQ(x.cause(reading(x, columns(7), rows(8))), "A was read as its transpose");
  EXPECT_EQ(x.cause(reading(x, rows(7), columns(8))), "B was read as its transpose");
  EXPECT_EQ(x.cause(reading(x, columns(7), columns(8))), "A and B were read as their transposes");
  const Bench packed({.m = 4, .n = 5, .k = 6});
  EXPECT_EQ(packed.cause(reading(packed, columns(4), rows(5))), "A was read as its transpose");
  EXPECT_EQ(packed.cause(reading(
                packed, [](auto i, auto p) { return i * 6 + p - 1; }, rows(5))),
            "A was read one column too far left");
  const Bench wide({.m = 3, .n = 6, .k = 4});
  EXPECT_EQ(wide.cause(reading(wide, rows(6), rows(4))), "lda and ldb were swapped");
}

TEST(Diagnosis, names_elements_that_hold_what_belongs_to_others) {
  const Bench x({.m = 6, .n = 8, .k = 5});
  EXPECT_EQ(
      x.diagnose([&](auto i, auto j) { return x.right(i, j < 4 ? j + 4 : j); }),
      "every element of columns 0 to 3: they hold the value of the element 4 columns to the right");
  EXPECT_EQ(
      x.diagnose([&](auto i, auto j) { return x.right(i > 1 ? i - 2 : i, j); }),
      "every element of the last 4 of 6 rows: they hold the value of the element 2 rows above");
  const auto mixed =
      x.cause([&](auto i, auto j) { return i == 0 ? x.right(5 - j % 3, 7 - j) : x.right(i, j); });
  EXPECT_EQ(
      mixed,
      "they hold the value of the element elsewhere: row 0, column 0 that of row 5, column 7");
  const Bench beta({.m = 6, .n = 8, .k = 5, .beta = -0.5});
  EXPECT_EQ(beta.cause([&](auto i, auto j) {
    return beta.right(i, j) + (j > 3 ? beta.sum(i, j - 4) : 0);
  }),
            "sums were not reset: they also hold the sum of the element 4 columns to the left");
  const Bench square({.m = 6, .n = 6, .k = 5});
  EXPECT_EQ(square.cause([&](auto i, auto j) { return square.right(j, i); }),
            "C was written as its transpose");
}

TEST(Diagnosis, names_any_stretch_of_k_and_every_so_many) {
  const Bench x({.m = 9, .n = 8, .k = 60}, {16, 16, 16});
  EXPECT_EQ(x.cause(without(x, 7, 31)), "the contribution of k = 7 to 30 is missing");
  EXPECT_EQ(x.cause(without(x, 0, 30, +1)), "the contribution of k = 0 to 29 was added twice");
  EXPECT_EQ(x.cause([&](auto i, auto j) {
    double sum = 0;
    for (std::int64_t p = 0; p < 60; ++p) sum += p % 4 == 3 ? 0 : x.a(i, p) * x.b(p, j);
    return sum;
  }),
            "the contribution of k = 3 of every 4 is missing");
}

TEST(Diagnosis, names_a_sum_that_goes_past_the_last_k) {
  Bench x({.m = 9, .n = 8, .k = 10, .lda = {4}, .ldb = {1}}, {16, 16, 4});
  for (Operand o : {Operand::a, Operand::b}) {
    for (float& value : x.before[o].floats) {  // gaps and guards that are ordinary numbers
      if (std::isnan(value)) value = 0.75f;
    }
  }
  EXPECT_EQ(x.cause([&](auto i, auto j) {
    double sum = x.sum(i, j);
    for (std::int64_t p = 10; p < 12; ++p)
      sum += x.at(Operand::a, i * 14 + p) * x.at(Operand::b, p * 9 + j);
    return sum;
  }),
            "the sum goes past the last k, to k = 11");
}

TEST(Diagnosis, names_an_index_that_overflowed) {
  const Bench x({.m = 5, .n = 3, .k = 5, .ldb = {std::int64_t{1} << 30}});
  const std::int64_t ld = 3 + (std::int64_t{1} << 30);
  const Image result = x.result_of([&](auto i, auto j) {
    double sum = 0;
    for (std::int64_t p = 0; p < 5; ++p) {
      const std::int64_t index = static_cast<std::uint32_t>(p * ld + j);
      const std::int64_t row = index / ld, column = index % ld;
      sum += x.a(i, p) * x.at(Operand::b, row * x.before[Operand::b].stride + column);
    }
    return sum;
  });
  const Judgement judged = judge_bound(result, x.reference, 16);
  const auto found = assay::diagnose({x.c, x.variant, x.before, result, x.reference, judged});
  EXPECT_EQ(found.words.substr(found.words.find(": ") + 2), "an index of B overflowed 32 bits");
  EXPECT_EQ(found.finding, (Finding{Fault::index_overflow, Operand::b}));
}

}  // namespace
