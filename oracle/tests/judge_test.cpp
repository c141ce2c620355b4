// Every comparison against what it must not let pass: NaN first of all.
#include "oracle/judge.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace {

using namespace assay;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max();

// One row of C.
Image row_of(std::vector<float> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {.rows = 1, .columns = n, .ld = n, .stride = n, .floats = std::move(values)};
}
Reference wanting(std::vector<double> values, double gauge = 1) {
  Reference reference{1, static_cast<std::int64_t>(values.size()), std::move(values), {}};
  reference.gauge.assign(reference.c.size(), gauge);
  return reference;
}

bool bound_accepts(float got, double wanted, double gauge = 1, double allowed = 16) {
  return judge_bound(row_of({got}), wanting({wanted}, gauge), allowed).wrong == 0;
}
bool exact_accepts(float got, double wanted) {
  return judge_exact(row_of({got}), wanting({wanted})).wrong == 0;
}
bool bits_accept(float got, float wanted) {
  return judge_bits(row_of({got}), wanting({wanted}), {wanted}).wrong == 0;
}

TEST(Judge, lets_no_nan_pass) {
  for (float payload :
       {nan, -nan, std::bit_cast<float>(unwritten_bits), std::bit_cast<float>(guard_bits)}) {
    for (float wanted : {0.0f, 1.0f, -1e30f, infinity, -infinity}) {
      EXPECT_FALSE(bound_accepts(payload, wanted));
      EXPECT_FALSE(bound_accepts(payload, wanted, 0));
      EXPECT_FALSE(bound_accepts(payload, wanted, infinity)) << "however large the gauge";
      EXPECT_FALSE(bound_accepts(payload, wanted, nan));
      EXPECT_FALSE(bound_accepts(payload, wanted, 1, infinity)) << "however much is allowed";
      EXPECT_FALSE(exact_accepts(payload, wanted));
      EXPECT_FALSE(bits_accept(payload, wanted));
    }
  }
}

TEST(Judge, wants_nan_where_the_reference_has_it) {
  EXPECT_TRUE(bound_accepts(nan, nan, nan));
  EXPECT_TRUE(bound_accepts(std::bit_cast<float>(guard_bits), nan)) << "whichever NaN it is";
  for (float got : {0.0f, 1.0f, infinity, -infinity}) {
    EXPECT_FALSE(bound_accepts(got, nan, nan));
    EXPECT_FALSE(bound_accepts(got, nan, infinity));
    EXPECT_FALSE(exact_accepts(got, nan));
    EXPECT_FALSE(bits_accept(got, nan));
  }
}

TEST(Judge, wants_an_infinity_with_its_sign) {
  for (double wanted : {double{infinity}, 1e300, 2.0 * largest}) {
    EXPECT_TRUE(bound_accepts(infinity, wanted, wanted));
    EXPECT_TRUE(bound_accepts(-infinity, -wanted, wanted));
    EXPECT_FALSE(bound_accepts(-infinity, wanted, wanted));
    EXPECT_FALSE(bound_accepts(infinity, -wanted, wanted));
    EXPECT_FALSE(bound_accepts(largest, wanted, wanted)) << wanted;
    EXPECT_FALSE(bound_accepts(0, wanted, wanted));
  }
  for (float wanted : {0.0f, 1.0f, largest}) {
    EXPECT_FALSE(bound_accepts(infinity, wanted, wanted));
    EXPECT_FALSE(exact_accepts(infinity, wanted));
    EXPECT_FALSE(bits_accept(infinity, wanted));
  }
  EXPECT_TRUE(exact_accepts(infinity, infinity));
  EXPECT_TRUE(bits_accept(infinity, infinity));
  EXPECT_FALSE(bits_accept(-infinity, infinity));
}

TEST(Judge, draws_the_line_at_so_many_gulps) {
  for (double gauge : {1.0, 1e-3, 5e4}) {
    for (double allowed : {2.0, 16.0}) {
      const double gulp = unit_roundoff * gauge;
      for (double sign : {-1.0, 1.0}) {
        // What was got is the number itself: the error is put into what was wanted.
        EXPECT_TRUE(bound_accepts(1, 1 + sign * allowed * 0.999 * gulp, gauge, allowed));
        EXPECT_FALSE(bound_accepts(1, 1 + sign * allowed * 1.001 * gulp, gauge, allowed));
      }
    }
  }
}

TEST(Judge, measures_in_gulps) {
  const Reference reference = wanting({1 - 3 * unit_roundoff * 8}, 8);
  EXPECT_DOUBLE_EQ(judge_bound(row_of({1}), reference, 16).worst.error_gulps, 3);
  EXPECT_DOUBLE_EQ(judge_exact(row_of({1}), reference).worst.error_gulps, 3);
  EXPECT_EQ(judge_exact(row_of({1}), wanting({1})).worst.error_gulps, 0);
}

TEST(Judge, allows_nothing_where_the_gauge_is_0) {
  EXPECT_TRUE(bound_accepts(0.0f, 0, 0));
  EXPECT_TRUE(bound_accepts(-0.0f, 0, 0));
  for (float got : {1e-40f, -1e-40f, 1e-30f, 1.0f, -largest, infinity}) {
    EXPECT_FALSE(bound_accepts(got, 0, 0)) << got;
    EXPECT_EQ(judge_bound(row_of({got}), wanting({0}, 0), 16).worst.error_gulps, HUGE_VAL);
  }
}

TEST(Judge, lets_a_result_underflow) {
  EXPECT_TRUE(bound_accepts(0, 1e-46, 1e-46)) << "nearer to 0 than to the smallest number";
  EXPECT_FALSE(bound_accepts(0, 1e-40, 1e-40));
}

TEST(Judge, wants_exact_to_be_exact) {
  EXPECT_TRUE(exact_accepts(16777215, 16777215));
  EXPECT_FALSE(exact_accepts(16777216, 16777215));
  EXPECT_FALSE(exact_accepts(1, 1 + 1e-12)) << "compared in FP64";
  EXPECT_TRUE(exact_accepts(-0.0f, 0)) << "0 is 0";
}

TEST(Judge, tells_minus_0_from_0_in_bits) {
  EXPECT_FALSE(bits_accept(-0.0f, 0.0f));
  EXPECT_FALSE(bits_accept(0.0f, -0.0f));
  EXPECT_TRUE(bits_accept(-0.0f, -0.0f));
  EXPECT_FALSE(bits_accept(std::nextafter(1.0f, 2.0f), 1.0f));
  const Judgement judged = judge_bits(row_of({1, -0.0f}), wanting({1, 0}), {1, 0.0f});
  EXPECT_EQ(judged.wrong, 1);
  EXPECT_EQ(judged.worst.column, 1) << "it is wrong, though it is off by nothing";
}

TEST(Judge, takes_each_nan_for_itself_in_bits) {
  EXPECT_TRUE(bits_accept(nan, nan));
  EXPECT_FALSE(bits_accept(std::bit_cast<float>(guard_bits), nan));
}

// A large matrix with gaps between its rows and an offset.
struct Large {
  static constexpr std::int64_t m = 301, n = 257, ld = 260, first = 67;
  Image c{.rows = m,
          .columns = n,
          .ld = ld,
          .first = first,
          .stride = ld,
          .floats = std::vector<float>(first + m * ld, nan)};
  Reference reference{m, n, std::vector<double>(m* n), std::vector<double>(m* n, 1.0)};
  std::vector<float> wanted = std::vector<float>(m * n);

  Large() {
    for (std::int64_t i = 0; i < m * n; ++i) {
      const auto value = static_cast<float>(i % 1009) / 1009;
      reference.c[static_cast<std::size_t>(i)] = wanted[static_cast<std::size_t>(i)] = value;
      c.row(i / n)[i % n] = value;
    }
  }
  std::vector<Judgement> judge_by_all() const {
    return {judge_bound(c, reference, 16), judge_exact(c, reference),
            judge_bits(c, reference, wanted)};
  }
};

TEST(Judge, finds_a_single_wrong_element_wherever_it_is) {
  Large large;
  for (const Judgement& judged : large.judge_by_all()) {
    EXPECT_EQ(judged.wrong, 0);
    EXPECT_EQ(judged.judged, Large::m * Large::n);
    EXPECT_TRUE(judged.wrong_mask.empty());
  }
  constexpr std::int64_t bottom = Large::m - 1, right = Large::n - 1;
  for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0},
                                                                               {0, right},
                                                                               {bottom, 0},
                                                                               {bottom, right},
                                                                               {0, 1},
                                                                               {1, 0},
                                                                               {150, 128},
                                                                               {299, 255}}) {
    float& element = large.c.row(i)[j];
    const float right_one = element;
    for (float wrong : {right_one + 1e-4f, nan, infinity}) {
      element = wrong;
      for (const Judgement& judged : large.judge_by_all()) {
        EXPECT_EQ(judged.wrong, 1);
        EXPECT_EQ(judged.judged, Large::m * Large::n);
        EXPECT_EQ(judged.worst.row, i);
        EXPECT_EQ(judged.worst.column, j);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(judged.worst.got),
                  std::bit_cast<std::uint32_t>(wrong));
        EXPECT_EQ(judged.worst.wanted, double{right_one});
        ASSERT_EQ(judged.wrong_mask.size(), large.wanted.size());
        EXPECT_EQ(judged.wrong_mask[static_cast<std::size_t>(i * Large::n + j)], 1);
        EXPECT_EQ(std::accumulate(judged.wrong_mask.begin(), judged.wrong_mask.end(), 0), 1);
      }
    }
    element = right_one;
  }
}

TEST(Judge, marks_every_wrong_element_in_the_mask) {
  Image c{.rows = 3,
          .columns = 4,
          .ld = 5,
          .first = 2,
          .stride = 5,
          .floats = std::vector<float>(20, nan)};
  Reference reference{3, 4, std::vector<double>(12), std::vector<double>(12, 1.0)};
  const std::vector<std::uint8_t> mask = {0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1};
  for (std::int64_t i = 0; i < 12; ++i)
    c.row(i / 4)[i % 4] = static_cast<float>(mask[static_cast<std::size_t>(i)]);
  for (const Judgement& judged : {judge_bound(c, reference, 16), judge_exact(c, reference),
                                  judge_bits(c, reference, std::vector<float>(12))}) {
    EXPECT_EQ(judged.wrong_mask, mask);
    EXPECT_EQ(judged.wrong, 4);
  }
}

TEST(Judge, names_a_wrong_element_as_the_worst_before_a_larger_error_that_is_right) {
  // In column 1 the gauge is large: its error is small in gulps and the bits are not the same.
  Reference reference = wanting({1, 1, 1, 1});
  const std::vector<float> wanted = {1, 1, 1, std::nextafter(1.0f, 2.0f)};
  const Image c = row_of({1, 1, 1, 1});
  reference.c[1] = 1 + 9 * unit_roundoff;  // right to the bit, yet far from the reference
  const Judgement judged = judge_bits(c, reference, wanted);
  EXPECT_EQ(judged.wrong, 1);
  EXPECT_EQ(judged.worst.column, 3);

  reference.c[2] = 1 + 12 * unit_roundoff;
  EXPECT_EQ(judge_bound(c, reference, 16).worst.column, 2) << "all right: the largest error";
}

TEST(Judge, names_the_largest_of_the_wrong) {
  const Reference reference = wanting({1, 1, 1, 1, 1});
  EXPECT_EQ(judge_bound(row_of({1, 2, 4, 3, 1}), reference, 16).worst.column, 2);
  EXPECT_EQ(judge_bound(row_of({1, 2, nan, 4, 1}), reference, 16).worst.column, 2)
      << "nothing is worse than NaN";
  EXPECT_EQ(judge_bound(row_of({nan, 2, infinity, 4, 1}), reference, 16).worst.column, 0);
}

// Rows in which all is clear are judged in another way than those that hold something else.
TEST(Judge, finds_the_same_worst_whatever_stands_beside_it) {
  constexpr std::int64_t m = 3, n = 37;
  Image c{.rows = m, .columns = n, .ld = n, .stride = n, .floats = std::vector<float>(m * n)};
  Reference reference{m, n, std::vector<double>(m * n), std::vector<double>(m * n, 1.0)};
  for (std::int64_t at = 0; at < m * n; ++at) {
    reference.c[at] = std::sin(static_cast<double>(at));
    c.floats[at] =
        static_cast<float>(reference.c[at] + unit_roundoff * static_cast<double>(at % 7));
  }
  for (const std::int64_t worst : {0L, 1L, 36L, 37L, 60L, 110L}) {
    Image off = c;
    off.floats[worst] = static_cast<float>(reference.c[worst] + 12 * unit_roundoff);
    const Judgement clear = judge_bound(off, reference, 16);
    EXPECT_EQ(clear.wrong, 0);
    EXPECT_EQ(clear.judged, m * n);
    EXPECT_EQ(clear.worst.row * n + clear.worst.column, worst);
    EXPECT_EQ(clear.worst.got, off.floats[worst]);
    EXPECT_EQ(judge_bound(off, reference, 11).wrong, 1) << "the same one is too far off";
    Reference other = reference;
    const std::int64_t elsewhere = (worst + 50) % (m * n);
    off.floats[elsewhere] = nan, other.c[elsewhere] = nan;  // right, and not clear
    const Judgement mixed = judge_bound(off, other, 16);
    EXPECT_EQ(mixed.wrong, 0);
    EXPECT_EQ(mixed.worst.row * n + mixed.worst.column, worst);
    EXPECT_EQ(mixed.worst.error_gulps, clear.worst.error_gulps);
  }
}

TEST(Judge, judges_nothing_where_there_is_nothing) {
  for (const auto& [m, n] : {std::pair{0, 0}, {0, 5}, {5, 0}}) {
    const Image c{.rows = m, .columns = n, .ld = n, .stride = n};
    const Reference reference{m, n, {}, {}};
    for (const Judgement& judged :
         {judge_bound(c, reference, 16), judge_exact(c, reference), judge_bits(c, reference, {})}) {
      EXPECT_EQ(judged.judged, 0);
      EXPECT_EQ(judged.wrong, 0);
    }
  }
}

TEST(Judge, judges_a_fill_with_special_values) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Case c{.m = 6, .n = 5, .k = 4, .beta = 1, .fill = Fill::special, .seed = seed};
    const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
    const Reference reference = make_reference(c, all);
    Image result = all[Operand::c];
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 5; ++j) {
        for (int p = 0; p < 4; ++p)
          result.row(i)[j] += all[Operand::a].row(i)[p] * all[Operand::b].row(p)[j];
      }
    }
    EXPECT_EQ(judge_bound(result, reference, allowed_gulps({}, 4)).wrong, 0) << seed;

    // Each element in turn: what is NaN or infinite becomes finite, and the other way round.
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 5; ++j) {
        Image changed = result;
        float& element = changed.row(i)[j];
        element = std::isnan(element) ? infinity : std::isinf(element) ? -element : nan;
        EXPECT_EQ(judge_bound(changed, reference, 16).wrong, 1) << seed;
        element = std::isfinite(result.row(i)[j]) ? infinity : 0.0f;
        EXPECT_EQ(judge_bound(changed, reference, 16).wrong, 1) << seed;
      }
    }
  }
}

TEST(Judge, takes_either_sign_of_a_zero_by_bits_only_where_it_underflowed) {
  const auto accepts = [](float got, double exact, float replayed, double gauge = 1) {
    return judge_bits(row_of({got}), wanting({exact}, gauge), {replayed}).wrong == 0;
  };
  EXPECT_TRUE(accepts(0.0f, 0, -0.0f, 0x1p-140)) << "its products were cut";
  EXPECT_FALSE(accepts(0.0f, 0, -0.0f, 0)) << "it has none";
  EXPECT_TRUE(accepts(0.0f, -1e-48, -0.0f));
  EXPECT_TRUE(accepts(-0.0f, -1e-48, -0.0f));
  EXPECT_FALSE(accepts(0.0f, 0, -0.0f));
  EXPECT_FALSE(accepts(0.0f, -1e-45, -0x1p-149f));
  EXPECT_FALSE(accepts(0x1p-149f, 1e-46, 0.0f));
}

TEST(References, agree_only_where_every_element_does) {
  const Reference reference = wanting({1, -2, 0, 1e6}, 1e6);
  EXPECT_TRUE(agree(reference, reference, 100));
  for (std::size_t i = 0; i < 4; ++i) {
    for (double off : {1e-2, -1e-2, double{nan}, double{infinity}}) {
      Reference other = reference;
      other.c[i] += off;
      EXPECT_FALSE(agree(reference, other, 100)) << i << " off by " << off;
      EXPECT_FALSE(agree(other, reference, 100)) << i << " off by " << off;
      other = reference;
      other.gauge[i] += off;
      EXPECT_FALSE(agree(reference, other, 100)) << "the gauge of " << i << " off by " << off;
    }
    Reference rounded = reference;
    rounded.c[i] += 1e-9;
    EXPECT_TRUE(agree(reference, rounded, 100)) << "the last bits of a sum are nobody's promise";
  }
  Reference smaller = reference;
  smaller.c.pop_back(), smaller.gauge.pop_back();
  --smaller.n;
  EXPECT_FALSE(agree(reference, smaller, 100));
}

}  // namespace
