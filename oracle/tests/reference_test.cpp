// What is right, computed in three ways that share no code, and what the bound lets pass.
#include "oracle/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "oracle/judge.h"

namespace {

using namespace assay;

constexpr std::array no_alignment = {4, 4, 4};

Operands make(const Case& c) { return make_operands(c, Placement::guarded, no_alignment); }

Case random_case(std::mt19937_64& random) {
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  constexpr std::array fills = {Fill::uniform,  Fill::exact,   Fill::small_ints,
                                Fill::identity, Fill::one_hot, Fill::special};
  constexpr std::array scalars = {0.0f, 1.0f, -1.0f, 0.5f, 3.0f, 0.123f};
  Case c{.m = below(20), .n = below(20), .k = below(40)};
  c.alpha = scalars[static_cast<std::size_t>(below(6))];
  c.beta = scalars[static_cast<std::size_t>(below(6))];
  c.lda = {below(3)}, c.ldb = {below(3)}, c.ldc = {below(3)};
  for (int& floats : c.offset.floats) floats = static_cast<int>(below(4));
  c.fill = fills[static_cast<std::size_t>(below(6))];
  c.seed = random();
  return c;
}

// The definition, from the elements themselves: no image, no stride.
struct Exactly {
  long double value = 0, gauge = 0;
};
Exactly define(const Case& c, std::int64_t i, std::int64_t j) {
  Exactly e;
  for (std::int64_t p = 0; c.alpha != 0 && p < c.k; ++p) {
    const long double product = static_cast<long double>(fill_element(c, Operand::a, i, p)) *
                                fill_element(c, Operand::b, p, j);
    e.value += product;
    e.gauge += std::abs(product);
  }
  e.value *= c.alpha;
  e.gauge *= std::abs(c.alpha);
  if (c.beta != 0) {
    const long double term = static_cast<long double>(c.beta) * fill_element(c, Operand::c, i, j);
    e.value += term;
    e.gauge += weight_of_c(c) * std::abs(term);
  }
  return e;
}

// Equal to some rounding errors of FP64; NaN is NaN and an infinity itself.
bool agrees(double got, long double wanted, long double scale) {
  if (std::isnan(wanted)) return std::isnan(got);
  if (std::isinf(wanted)) return got == static_cast<double>(wanted);
  return std::abs(got - wanted) <= 1e-14L * scale;
}

void expect_definition(const Case& c, const Reference& reference, std::int64_t rows) {
  ASSERT_EQ(reference.m, rows);
  ASSERT_EQ(reference.n, c.n);
  ASSERT_EQ(reference.c.size(), static_cast<std::size_t>(rows * c.n));
  ASSERT_EQ(reference.gauge.size(), reference.c.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      const auto at = static_cast<std::size_t>(i * c.n + j);
      const Exactly wanted = define(c, reference.first_row + i, j);
      ASSERT_TRUE(agrees(reference.c[at], wanted.value, wanted.gauge)) << i << ", " << j;
      ASSERT_TRUE(agrees(reference.gauge[at], wanted.gauge, wanted.gauge)) << i << ", " << j;
    }
  }
}

TEST(Reference, is_the_definition_by_eigen_and_by_plain_loops) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const Case c = random_case(random);
    SCOPED_TRACE(to_string(c));
    const Operands all = make(c);
    expect_definition(c, make_reference(c, all), c.m);
    expect_definition(c, make_plain_reference(c, all), c.m);
    if (HasFatalFailure()) return;
  }
}

TEST(Reference, is_the_definition_where_eigen_blocks_its_loops) {
  const Case c{.m = 70, .n = 65, .k = 300, .alpha = 3, .beta = 0.5, .lda = {1}, .ldc = {2}};
  const Operands all = make(c);
  expect_definition(c, make_reference(c, all), c.m);
  for (const auto& [first, count] : {std::pair{0, 1}, {3, 67}, {69, 1}})
    expect_definition(c, make_reference(c, all, first, count), count);
}

TEST(Reference, knows_no_rounding_on_exact_integers) {
  for (std::uint64_t seed : {0, 1}) {
    const Case c{
        .m = 9, .n = 8, .k = 4000, .alpha = -1, .beta = 1, .fill = Fill::exact, .seed = seed};
    const Reference reference = make_reference(c, make(c));
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        const auto at = static_cast<std::size_t>(i * c.n + j);
        EXPECT_EQ(reference.c[at], static_cast<double>(define(c, i, j).value));
      }
    }
  }
}

TEST(Reference, looks_at_nothing_that_has_no_part_in_it) {
  const Case no_product{.m = 3, .n = 4, .k = 5, .alpha = 0, .beta = 2, .fill = Fill::special};
  const Case no_c{.m = 3, .n = 4, .k = 5, .beta = 0};  // C is unwritten, which is NaN
  for (const Case& c : {no_product, no_c}) {
    for (const Reference& r : {make_reference(c, make(c)), make_plain_reference(c, make(c))}) {
      const auto bad = std::count_if(r.c.begin(), r.c.end(), [](double x) { return x != x; });
      EXPECT_LE(bad, c.fill == Fill::special ? 1 : 0) << "only where C itself is special";
    }
  }
}

TEST(Reference, is_wrong_where_a_sample_of_it_is) {
  const Case c{.m = 40, .n = 50, .k = 6, .alpha = 3, .beta = 0.5, .ldb = {1}};
  const Reference right = make_reference(c, make(c));
  EXPECT_EQ(wrong_sample(c, make(c), right), "");
  for (const auto& [row, column] : {std::pair{0, 0}, {0, 49}, {39, 0}, {39, 49}, {11, 14}}) {
    const auto at = static_cast<std::size_t>(row * c.n + column);
    Reference wrong = right, wrong_scale = right;
    wrong.c[at] += 1e-6, wrong_scale.gauge[at] += 1e-6;
    const std::string place = "row " + std::to_string(row) + ", column " + std::to_string(column);
    EXPECT_EQ(wrong_sample(c, make(c), wrong).find(place + " is "), 0u) << place;
    EXPECT_EQ(wrong_sample(c, make(c), wrong_scale).find("the scale of " + place), 0u) << place;
  }
}

TEST(Replay, is_one_fma_chain_from_zero_for_k_ascending) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    Case c = random_case(random);
    if (c.fill == Fill::special) c.fill = Fill::uniform;
    const auto replay = replay_fma_chain(c, make(c));
    ASSERT_EQ(replay.size(), static_cast<std::size_t>(c.m * c.n));
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        float sum = 0;
        for (std::int64_t p = 0; c.alpha != 0 && p < c.k; ++p)
          sum =
              std::fmaf(fill_element(c, Operand::a, i, p), fill_element(c, Operand::b, p, j), sum);
        float wanted = c.alpha * sum;
        if (c.beta != 0) wanted = std::fmaf(c.beta, fill_element(c, Operand::c, i, j), wanted);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(replay[static_cast<std::size_t>(i * c.n + j)]),
                  std::bit_cast<std::uint32_t>(wanted))
            << to_string(c);
      }
    }
  }
}

// C as computed by `dot`, a way of summing k products of a row of A and a column of B.
using Dot = std::function<float(const std::vector<float>& a, const std::vector<float>& b)>;
Image compute(const Case& c, const Operands& all, const Dot& dot) {
  Image result = all[Operand::c];
  std::vector<float> a(static_cast<std::size_t>(c.k)), b(a.size());
  for (std::int64_t i = 0; i < c.m; ++i) {
    std::copy_n(all[Operand::a].row(i), c.k, a.begin());
    for (std::int64_t j = 0; j < c.n; ++j) {
      for (std::int64_t p = 0; p < c.k; ++p)
        b[static_cast<std::size_t>(p)] = all[Operand::b].row(p)[j];
      float& out = result.row(i)[j];
      out = c.beta == 0 ? c.alpha * dot(a, b) : c.alpha * dot(a, b) + c.beta * out;
    }
  }
  return result;
}

float sequential(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
}
float reversed(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.rbegin(), a.rend(), b.rbegin(), 0.0f);
}
float pairwise_part(const float* a, const float* b, std::size_t count) {
  if (count == 1) return a[0] * b[0];
  return pairwise_part(a, b, count / 2) +
         pairwise_part(a + count / 2, b + count / 2, count - count / 2);
}
float pairwise(const std::vector<float>& a, const std::vector<float>& b) {
  return a.empty() ? 0.0f : pairwise_part(a.data(), b.data(), a.size());
}
float strided(const std::vector<float>& a, const std::vector<float>& b) {  // eight partial sums
  std::array<float, 8> sums = {};
  for (std::size_t p = 0; p < a.size(); ++p) sums[p % 8] += a[p] * b[p];
  return std::accumulate(sums.begin(), sums.end(), 0.0f);
}
const std::array<std::pair<const char*, Dot>, 4> orders = {{{"sequential", sequential},
                                                            {"reversed", reversed},
                                                            {"pairwise", pairwise},
                                                            {"strided", strided}}};

// Keeps `kept` bits after the leading one: rounds to the nearest, or towards 0.
float rounded(float value, int kept, bool truncated = false) {
  const std::uint32_t below = 1u << (23 - kept), bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t half = truncated ? 0 : below / 2 - 1 + (bits / below & 1);
  return std::bit_cast<float>((bits + half) & ~(below - 1));
}
Dot of_rounded(int kept, bool truncated = false) {
  return [=](const std::vector<float>& a, const std::vector<float>& b) {
    float sum = 0;
    for (std::size_t p = 0; p < a.size(); ++p)
      sum = std::fmaf(rounded(a[p], kept, truncated), rounded(b[p], kept, truncated), sum);
    return sum;
  };
}

TEST(Bound, is_min_of_k_plus_2_and_16_gulps) {
  for (const auto& [k, gulps] :
       std::vector<std::pair<std::int64_t, double>>{{0, 2},
                                                    {1, 3},
                                                    {2, 4},
                                                    {13, 15},
                                                    {14, 16},
                                                    {15, 16},
                                                    {16, 16},
                                                    {std::int64_t{1} << 40, 16}}) {
    EXPECT_EQ(allowed_gulps(Arithmetic::fp32, k), gulps) << k;
    EXPECT_EQ(allowed_gulps(Arithmetic::tf32, k), gulps + 2 * 16384) << k;
    EXPECT_EQ(allowed_gulps(Arithmetic::tf32x3, k), gulps + 20) << k;
  }
}

TEST(Bound, has_room_for_every_order_of_summation) {
  for (std::int64_t k : {1, 2, 3, 5, 16, 64, 777}) {
    const Case c{.m = 60, .n = 60, .k = k, .seed = static_cast<std::uint64_t>(k)};
    const Operands all = make(c);
    const Reference reference = make_reference(c, all);
    const double allowed = allowed_gulps(Arithmetic::fp32, k);
    for (const auto& [name, dot] : orders) {
      const Judgement judged = judge_bound(compute(c, all, dot), reference, allowed);
      EXPECT_EQ(judged.wrong, 0) << name << " at k = " << k;
      EXPECT_LT(judged.worst.error_gulps, 6) << name << " at k = " << k;
      EXPECT_GT(judged.worst.error_gulps, 0.2) << "no error at all is no measurement";
    }
  }
}

TEST(Bound, has_room_for_alpha_and_beta) {
  for (std::int64_t k : {0, 1, 2, 7, 100}) {
    const Case c{.m = 60, .n = 60, .k = k, .alpha = 1.7f, .beta = -0.3f};
    const Operands all = make(c);
    const Judgement judged = judge_bound(compute(c, all, sequential), make_reference(c, all),
                                         allowed_gulps(Arithmetic::fp32, k));
    EXPECT_EQ(judged.wrong, 0) << k;
    EXPECT_LT(judged.worst.error_gulps, 6);
  }
}

TEST(Bound, has_room_for_the_replay) {
  for (std::int64_t k : {1, 2, 16, 777}) {
    const Case c{.m = 40, .n = 41, .k = k, .alpha = 3, .beta = 0.5};
    const Operands all = make(c);
    Image result = all[Operand::c];
    const auto replay = replay_fma_chain(c, all);
    for (std::int64_t i = 0; i < c.m; ++i)
      std::copy_n(replay.begin() + i * c.n, c.n, result.row(i));
    const auto judged = judge_bound(result, make_reference(c, all), allowed_gulps({}, k));
    EXPECT_EQ(judged.wrong, 0) << k;
    EXPECT_LT(judged.worst.error_gulps, 6);
  }
}

TEST(Bound, has_no_room_for_inputs_rounded_to_tf32_or_less) {
  for (std::int64_t k : {8, 16, 64, 200, 777}) {
    for (const auto& [kept, truncated] : {std::pair{10, false}, {10, true}, {7, false}}) {
      const Case c{.m = 40, .n = 40, .k = k, .seed = 3};
      const Operands all = make(c);
      const Image result = compute(c, all, of_rounded(kept, truncated));
      const Reference reference = make_reference(c, all);
      const Judgement judged = judge_bound(result, reference, allowed_gulps(Arithmetic::fp32, k));
      EXPECT_GT(judged.wrong, 0.8 * static_cast<double>(judged.judged)) << "k = " << k;
      EXPECT_GT(judged.worst.error_gulps, 20 * 16) << "k = " << k;
      const double as_tf32 = allowed_gulps(Arithmetic::tf32, k);
      if (kept == 10 && !truncated) {
        EXPECT_EQ(judge_bound(result, reference, as_tf32).wrong, 0);
      }
    }
  }
}

TEST(ExactFill, shows_inputs_rounded_to_tf32_fp16_or_bf16_everywhere) {
  for (std::uint64_t seed : {0, 1}) {
    for (std::int64_t k : {1, 7, 63, 777}) {  // odd: so many odd errors do not add up to 0
      const Case c{.m = 12, .n = 12, .k = k, .fill = Fill::exact, .seed = seed};
      const Operands all = make(c);
      const Reference reference = make_reference(c, all);
      for (const auto& [name, dot] : orders)
        EXPECT_EQ(judge_exact(compute(c, all, dot), reference).wrong, 0) << name;
      for (const auto& [kept, truncated] : {std::pair{10, false}, {10, true}, {7, false}}) {
        const Image result = compute(c, all, of_rounded(kept, truncated));
        const Judgement judged = judge_exact(result, reference);
        EXPECT_EQ(judged.wrong, judged.judged) << to_string(c);
      }
    }
  }
}

TEST(ExactFill, is_of_odd_numbers_of_12_bits_times_plus_or_minus_1) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Case c{.m = 40, .n = 40, .k = 40, .beta = 1, .fill = Fill::exact, .seed = seed};
    const Operand plain = seed % 2 == 0 ? Operand::b : Operand::a;
    for (Operand o : operands) {
      float least = 1e9, most = 0;
      int negative = 0;
      for (std::int64_t i = 0; i < 40; ++i) {
        for (std::int64_t j = 0; j < 40; ++j) {
          const float value = fill_element(c, o, i, j), size = std::abs(value);
          least = std::min(least, size), most = std::max(most, size);
          negative += value < 0;
          if (o == plain) continue;
          ASSERT_EQ(std::fmod(size, 2.0f), 1) << "odd";
          for (int kept : {10, 7}) ASSERT_NE(rounded(value, kept), value) << "TF32 holds it";
        }
      }
      EXPECT_NEAR(negative, 800, 120) << "both signs";
      EXPECT_GE(least, o == plain ? 1 : 2049);
      EXPECT_LE(least, o == plain ? 1 : 2100);
      EXPECT_GE(most, o == plain ? 1 : 4040);
      EXPECT_LE(most, o == plain ? 1 : 4095);
    }
  }
}

TEST(ExactFill, is_exactly_summable_in_every_order_where_that_is_said) {
  std::mt19937_64 random(3);
  constexpr std::array scalars = {0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 3.0f, 1.5f, 2.0f, 16.0f};
  constexpr std::array depths = {0, 1, 2, 31, 255, 1365, 2731, 4095, 4096, 4097};
  int summable = 0;
  for (float alpha : scalars) {
    for (float beta : scalars) {
      for (std::int64_t k : depths) {
        const Case c{.m = 2,
                     .n = 1,
                     .k = k,
                     .alpha = alpha,
                     .beta = beta,
                     .fill = Fill::exact,
                     .seed = random() % 16};
        if (!is_exactly_summable(c)) continue;
        ++summable;
        // The worst there is: no two terms cancel.
        std::vector<float> a(static_cast<std::size_t>(k)), b(a.size(), 1.0f);
        for (float& value : a) value = 4095 - 2.0f * static_cast<float>(random() % 2);
        const double product = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
        const float before = std::copysign(4095.0f, alpha * beta);
        for (const auto& [name, dot] : orders) {
          EXPECT_EQ(dot(a, b), product) << name;
          EXPECT_EQ(alpha * dot(a, b) + beta * before, alpha * product + double{beta} * before)
              << name << " at " << to_string(c);
        }
        float from_c = beta * before;  // as if C was scaled first
        for (std::size_t p = 0; p < a.size(); ++p) from_c = std::fmaf(alpha * a[p], b[p], from_c);
        EXPECT_EQ(from_c, alpha * product + double{beta} * before) << to_string(c);
      }
    }
  }
  EXPECT_GT(summable, 300) << "most are";
}

TEST(ExactFill, is_not_called_summable_where_an_order_rounds) {
  const Case base{.m = 1, .n = 1, .k = 100, .fill = Fill::exact};
  const auto with = [&](std::int64_t k, float alpha, float beta) {
    Case c = base;
    c.k = k, c.alpha = alpha, c.beta = beta;
    return is_exactly_summable(c);
  };
  EXPECT_TRUE(with(4096, 1, 0));
  EXPECT_TRUE(with(4096, 1, 1));
  EXPECT_FALSE(with(4098, 1, 0)) << "4098 * 4095 > 2^24";
  EXPECT_FALSE(with(4097, 1, 1));
  EXPECT_FALSE(with(100, 0.3f, 0)) << "0.3 is not what it seems";
  EXPECT_FALSE(with(100, 1, 0.25f)) << "quarters are not provided for";
  EXPECT_FALSE(with(2000, 3, 0));
  EXPECT_TRUE(with(1365, 3, 0));
  EXPECT_FALSE(with(4096, 0.5f, 1)) << "halves take a bit more";
  EXPECT_FALSE(with(100, std::numeric_limits<float>::infinity(), 0));
  EXPECT_FALSE(with(100, 1, std::numeric_limits<float>::quiet_NaN()));
}

}  // namespace
