// Every right way to compute a case is inside its bound, for each fill with a magnitude of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "oracle/fills/filling.h"
#include "oracle/fills/pattern.h"
#include "oracle/judge.h"

namespace {

using namespace assay;

// One element by one of the ways that a right kernel may take.
float element_by(int way, const Case& c, const Operands& all, std::int64_t i, std::int64_t j) {
  const float* a = all[Operand::a].row(i);
  const auto b = [&](std::int64_t p) { return all[Operand::b].row(p)[j]; };
  float sum = 0;
  for (std::int64_t p = 0; p < c.k; ++p) {
    const std::int64_t q = way % 2 == 0 ? p : c.k - 1 - p;
    switch (way / 2) {
      case 0: sum = std::fmaf(a[q], b(q), sum); break;
      case 1: sum = sum + static_cast<float>(a[q] * b(q)); break;
      case 2: sum = std::fmaf(c.alpha * a[q], b(q), sum); break;
      case 3: sum = sum + static_cast<float>(c.alpha * b(q)) * a[q]; break;
    }
  }
  if (way < 4) sum *= c.alpha;
  return c.beta == 0 ? sum : std::fmaf(c.beta, all[Operand::c].row(i)[j], sum);
}

TEST(Judge, allows_every_right_way_what_underflow_takes_and_no_more) {
  for (float alpha : {1.0f, -2.0f, 1e-30f, 0x1p-100f, -0x1p-130f, 0x1p-148f, 1e30f, 3e37f}) {
    for (Case c :
         {Case{.m = 4, .n = 6, .k = 1}, Case{.m = 3, .n = 5, .k = 8}, {.m = 2, .n = 2, .k = 60}}) {
      c.alpha = alpha, c.seed = 7;
      for (float beta : {0.0f, alpha, 1e-20f}) {
        c.beta = beta;
        const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
        const Reference reference = make_reference(c, all);
        for (int way = 0; way < 8; ++way) {
          Image result = all[Operand::c];
          for (std::int64_t i = 0; i < c.m; ++i) {
            for (std::int64_t j = 0; j < c.n; ++j) result.row(i)[j] = element_by(way, c, all, i, j);
          }
          const double allowed = allowed_gulps({}, c.k);
          const Judgement judged = judge_bound(result, reference, allowed);
          EXPECT_EQ(judged.wrong, 0) << to_string(c) << ", way " << way;
          EXPECT_LE(judged.worst.error_gulps, allowed);
          if (alpha == 0x1p-148f) continue;  // where nothing is left to be seen
          for (std::int64_t i = 0; i < c.m; ++i) result.row(i)[0] *= 1.25f;
          EXPECT_GT(judge_bound(result, reference, allowed).wrong, 0) << to_string(c);
        }
      }
    }
  }
}

TEST(Judge, accepts_scaled_rows_and_columns_summed_in_every_right_way) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    for (float alpha : {1.0f, -2.0f, 256.0f}) {
      const Case c{.m = 7,
                   .n = 9,
                   .k = 33,
                   .alpha = alpha,
                   .beta = -0.3f,
                   .fill = Fill::scaled,
                   .seed = seed};
      const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
      const Reference reference = make_reference(c, all);
      for (int way = 0; way < 8; ++way) {
        Image result = all[Operand::c], flushed = all[Operand::c];
        bool has_denormals = false;
        for (std::int64_t i = 0; i < c.m; ++i) {
          for (std::int64_t j = 0; j < c.n; ++j) {
            const float value = element_by(way, c, all, i, j);
            const bool is_denormal = std::abs(value) < 0x1p-126f && std::abs(value) > 0x1p-138f;
            has_denormals |= is_denormal;
            result.row(i)[j] = value;
            flushed.row(i)[j] = is_denormal ? 0 : value;
          }
        }
        EXPECT_EQ(judge_bound(result, reference, 16).wrong, 0) << to_string(c) << ", way " << way;
        EXPECT_EQ(judge_bound(flushed, reference, 16).wrong > 0, has_denormals) << to_string(c);
      }
    }
  }
}

// Every right way to compute a case, one after the other.
template <class Check>
void compute_in_every_right_way(const Case& c, const Check& check) {
  const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
  const Reference reference = make_reference(c, all);
  for (int way = 0; way < 8; ++way) {
    Image result = all[Operand::c];
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) result.row(i)[j] = element_by(way, c, all, i, j);
    }
    check(result, reference, way);
  }
}

void expect_accepted_in_every_right_way(const Case& c) {
  compute_in_every_right_way(c, [&](const Image& result, const Reference& reference, int way) {
    EXPECT_EQ(judge_bound(result, reference, allowed_gulps(Arithmetic::fp32, c)).wrong, 0)
        << to_string(c) << ", way " << way;
  });
}

// Elements of A and B under narrow patterns: signs, whole numbers of 8 or 16 bits, or 1, 8 or 11
// significant bits, each with up to two bits more.
TEST(Judge, accepts_elements_of_a_narrow_type_summed_in_every_right_way) {
  int signs = 0, whole = 0, shorter = 0;
  for (std::uint64_t seed = 0; signs + whole + shorter < 60; ++seed) {
    if (!is_narrow(pattern_of(seed, Operand::a)) || narrow_alone(seed)) continue;
    if (last_does_not_fit(seed) || half_fits(seed)) continue;
    const Case c{.m = 5, .n = 6, .k = 300, .alpha = -2, .fill = Fill::patterned, .seed = seed};
    const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
    int whole_elements = 0, one = 0;
    for (std::int64_t p = 0; p < c.k; ++p) {
      for (float x : {all[Operand::a].row(1)[p], all[Operand::b].row(p)[1]}) {
        const bool is_short = std::bit_cast<std::uint32_t>(x) % (1 << 11) == 0;
        whole_elements += x == std::nearbyint(x), one += std::abs(x) == 1;
        EXPECT_TRUE((x == std::nearbyint(x) && std::abs(x) <= 4 * 32768) || is_short) << x;
      }
    }
    const bool are_whole = whole_elements == 2 * c.k, are_signs = one == 2 * c.k;
    (are_signs ? signs : are_whole ? whole : shorter) += 1;
    expect_accepted_in_every_right_way(c);
  }
  EXPECT_GT(std::min({signs, whole, shorter}), 5);
}

TEST(Judge, accepts_elements_of_a_narrow_type_beside_those_of_any_scale) {
  std::map<std::pair<Operand, Scale>, int> cases;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const auto alone = narrow_alone(seed);
    const bool has_others = alone || last_does_not_fit(seed) || half_fits(seed);
    if (!is_narrow(pattern_of(seed, Operand::a)) || !has_others) continue;
    if (alone) ++cases[{*alone, scale_beside_narrow(seed)}];
    for (const std::int64_t k : {3, 300})
      expect_accepted_in_every_right_way(
          {.m = 5, .n = 6, .k = k, .alpha = -2, .fill = Fill::patterned, .seed = seed});
  }
  EXPECT_EQ(cases.size(), 6u) << "either operand, and each scale";
}

TEST(Judge, accepts_special_values_among_numbers_of_a_narrow_type_in_every_right_way) {
  std::set<Pattern> patterns;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Case c{.m = 5, .n = 6, .k = 543, .alpha = -2, .fill = Fill::special, .seed = seed};
    const Pattern pattern = pattern_of(seed, Operand::a);
    if (!structure_of_special(c) || !is_narrow(pattern)) continue;
    patterns.insert(pattern);
    expect_accepted_in_every_right_way(c);
  }
  EXPECT_EQ(patterns.size(), 7u);
}

TEST(Judge, accepts_numbers_of_tf32_of_one_sign_in_long_sums) {
  int cases = 0;
  for (std::uint64_t seed = 0; cases < 12; ++seed) {
    if (pattern_of(seed, Operand::a) != Pattern::tf32 || !has_one_sign(seed)) continue;
    ++cases;
    for (const std::int64_t k : {4096, 8000})
      expect_accepted_in_every_right_way(
          {.m = 3, .n = 3, .k = k, .alpha = -2, .fill = Fill::patterned, .seed = seed});
  }
}

TEST(Judge, accepts_balanced_data_for_all_scalars_and_sees_either_term) {
  std::vector<float> scalars = {0x1p-149f, -0x1p-140f, 0x1.8p-127f, 0x1p-126f, 1.5e-20f,
                                1.0f,      -3e20f,     0x1p111f,    -3.4e38f};
  int unseen_product = 0, unseen_c = 0, cases = 0;
  for (float alpha : scalars) {
    for (float beta : scalars) {
      if (std::abs(std::ilogb(alpha) - std::ilogb(beta)) > 200) continue;
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const Case c{.m = 5,
                     .n = 6,
                     .k = seed % 2 == 0 ? 7 : 40,
                     .alpha = alpha,
                     .beta = beta,
                     .fill = Fill::balanced,
                     .seed = seed};
        ++cases;
        bool sees_product = false, sees_c = false;
        compute_in_every_right_way(
            c, [&](const Image& result, const Reference& reference, int way) {
              const double allowed = allowed_gulps({}, c);
              ASSERT_EQ(judge_bound(result, reference, allowed).wrong, 0)
                  << to_string(c) << ", way " << way;
              Image without = result;
              const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
              for (std::int64_t i = 0; i < c.m; ++i)
                without.row(i)[0] = c.beta * all[Operand::c].row(i)[0];
              sees_product |= judge_bound(without, reference, allowed).wrong > 0;
              for (std::int64_t i = 0; i < c.m; ++i)
                without.row(i)[0] = result.row(i)[0] - c.beta * all[Operand::c].row(i)[0];
              sees_c |= judge_bound(without, reference, allowed).wrong > 0;
            });
        unseen_product += !sees_product, unseen_c += !sees_c;
      }
    }
  }
  EXPECT_GT(cases, 300);
  EXPECT_EQ(unseen_product, 0);
  EXPECT_EQ(unseen_c, 0);
}

TEST(Judge, accepts_the_largest_floats_and_infinite_results_and_no_clamped_ones) {
  int finite = 0, beside = 0, infinite = 0, clamped_wrong = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (float beta : {0.0f, 1.0f, -3.0f, 1e-42f, 1e38f}) {
      const Case c{.m = 6,
                   .n = 7,
                   .k = std::array{1, 50, 1500}[seed % 3],
                   .alpha = seed % 2 == 0 ? 1.0f : -1.0f,
                   .beta = beta,
                   .fill = Fill::largest,
                   .seed = seed};
      compute_in_every_right_way(c, [&](const Image& result, const Reference& reference, int way) {
        ASSERT_EQ(judge_bound(result, reference, allowed_gulps({}, c)).wrong, 0)
            << to_string(c) << ", way " << way;
        Image clamped = result;
        for (std::int64_t i = 0; i < c.m; ++i) {
          for (std::int64_t j = 0; j < c.n; ++j) {
            float& value = clamped.row(i)[j];
            infinite += std::isinf(value), beside += std::abs(value) > 3.05e38f;
            finite += std::abs(value) < 0x1p126f;
            value = std::clamp(value, -3.05e38f, 3.05e38f);
          }
        }
        clamped_wrong += judge_bound(clamped, reference, allowed_gulps({}, c)).wrong > 0;
      });
    }
  }
  EXPECT_GT(finite, 20000);
  EXPECT_GT(infinite, 3000);
  EXPECT_GT(beside - infinite, 3000);
  EXPECT_GT(clamped_wrong, 500);
}

TEST(Judge, accepts_patterned_data_summed_in_every_right_way) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case c{.m = 12,
                 .n = 11,
                 .k = std::array{5, 33, 200, 1500}[seed % 4],
                 .alpha = seed % 5 == 0 ? -2.0f : 1.0f,
                 .beta = -0.3f,
                 .fill = Fill::patterned,
                 .seed = seed};
    compute_in_every_right_way(c, [&](const Image& result, const Reference& reference, int way) {
      const Judgement judged = judge_bound(result, reference, 0.8 * allowed_gulps({}, c));
      EXPECT_EQ(judged.wrong, 0) << to_string(c) << ", way " << way << ": "
                                 << judged.worst.error_gulps;
    });
  }
}

}  // namespace
