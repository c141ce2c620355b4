// The emulated arithmetics keep and lose just the bits that they should.
#include "oracle/emulation.h"

#include <gtest/gtest.h>

#include <bit>

#include "oracle/judge.h"

namespace {

using namespace assay;

// What an arithmetic makes of the product of two numbers.
float product(Emulation emulation, float a, float b) {
  const Case c{.m = 1, .n = 1, .k = 1};
  Operands operands = make_operands(c, Placement::guarded, {4, 4, 4});
  *operands[Operand::a].row(0) = a;
  *operands[Operand::b].row(0) = b;
  return emulate(emulation, c, operands).front();
}

TEST(Emulation, rounds_factors_to_the_bits_it_has) {
  EXPECT_EQ(product(Emulation::tf32, 1 + 0x1p-10f, 1), 1 + 0x1p-10f);
  EXPECT_EQ(product(Emulation::tf32, 1 + 0x1p-12f, 1), 1.0f);
  EXPECT_EQ(product(Emulation::tf32, 1 + 0x1.8p-11f, 1), 1 + 0x1p-10f) << "to nearest";
  EXPECT_EQ(product(Emulation::bf16x3, 1 + 0x1p-15f, 1), 1 + 0x1p-15f);
  const float two_parts = 1 + 0x1p-10f + 0x1p-21f;
  EXPECT_EQ(product(Emulation::tf32x3, two_parts, 1), two_parts);
  EXPECT_EQ(product(Emulation::tf32x3, 1 + 0x1p-11f, 1 + 0x1p-11f), 1 + 0x1p-10f) << "no small^2";
  const float three_parts = 1 + 0x1p-9f + 0x1p-18f;
  EXPECT_EQ(product(Emulation::bf16x3, three_parts, 1), 1 + 0x1p-9f);
  EXPECT_EQ(product(Emulation::bf16x9, three_parts, 1), three_parts);
  EXPECT_EQ(product(Emulation::bf16x9, 1, -1 - 0x1p-23f), -1 - 0x1p-23f);
}

TEST(Emulation, takes_every_product_of_parts_that_it_claims) {
  const float a = 1 + 0x1p-7f + 0x1p-15f, b = 1 + 0x1p-7f + 0x1p-13f;
  EXPECT_NEAR(product(Emulation::bf16x9, a, b), double{a} * b, 0x1p-22);
  EXPECT_NEAR(product(Emulation::bf16x3, a, b), double{a} * b, 0x1p-15);
}

TEST(Emulation, scales_and_adds_c_as_the_contract_has_it) {
  for (Emulation emulation : emulations) {
    for (float alpha : {0.0f, 1.5f}) {
      for (float beta : {0.0f, -0.5f}) {
        const Case c{.m = 5,
                     .n = 7,
                     .k = 9,
                     .alpha = alpha,
                     .beta = beta,
                     .lda = {3},
                     .ldb = {1},
                     .ldc = {2},
                     .fill = Fill::small_ints};
        const Operands operands = make_operands(c, Placement::guarded, {4, 4, 4});
        Image image = operands[Operand::c];
        const auto result = emulate(emulation, c, operands);
        for (std::int64_t i = 0; i < c.m; ++i)
          std::copy_n(result.begin() + i * c.n, c.n, image.row(i));
        EXPECT_EQ(judge_exact(image, make_reference(c, operands)).wrong, 0)
            << to_string(emulation) << " " << to_string(c);
      }
    }
  }
}

// Whether a factor is rounded to TF32 or cut.
TEST(Bound, of_tf32_has_room_for_factors_that_are_cut) {
  for (const std::int64_t k : {1, 7, 300}) {
    const Case c{.m = 40, .n = 40, .k = k};
    Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
    const Reference reference = make_reference(c, all);
    for (const Operand o : {Operand::a, Operand::b})
      for (float& x : all[o].floats)
        x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u);
    Image result = all[Operand::c];
    const Reference of_cut = make_reference(c, all);
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j)
        result.row(i)[j] = static_cast<float>(of_cut.c[static_cast<std::size_t>(i * c.n + j)]);
    const double allowed = allowed_gulps(Arithmetic::tf32, k);
    const auto judged = judge_bound(result, reference, allowed);
    EXPECT_EQ(judged.wrong, 0) << k;
    if (k == 1) {
      EXPECT_GT(judged.worst.error_gulps, allowed / 2) << "more than rounding takes";
    }
  }
}

TEST(Bound, of_tf32x3_has_room_for_all_three_products_only) {
  for (std::int64_t k : {1, 2, 8, 64, 777}) {
    const Case c{.m = 40, .n = 40, .k = k, .seed = 3};
    const Operands all = make_operands(c, Placement::guarded, {4, 4, 4});
    const Reference reference = make_reference(c, all);
    const auto judged = [&](Emulation emulation) {
      const std::vector<float> made = emulate(emulation, c, all);
      Image result = all[Operand::c];
      for (std::int64_t i = 0; i < c.m; ++i)
        std::copy_n(made.begin() + i * c.n, c.n, result.row(i));
      return judge_bound(result, reference, allowed_gulps(Arithmetic::tf32x3, k));
    };
    EXPECT_EQ(judged(Emulation::tf32x3).wrong, 0) << k;
    EXPECT_LT(judged(Emulation::tf32x3).worst.error_gulps, 11) << k;
    EXPECT_GT(judged(Emulation::tf32).wrong, 0.8 * 40 * 40) << "only the large parts, k = " << k;
    if (k < 64) {
      EXPECT_GT(judged(Emulation::bf16x3).wrong, 0) << k;
    }
  }
}

}  // namespace
