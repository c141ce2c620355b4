#include "simt/tests/fused.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "simt/tests/observe.h"

namespace {

using namespace simt_test;

// As nvcc has it: `sum += a * b` is one fused multiply-add, wherever it stands.
TEST(Fused, rounds_a_product_and_its_sum_once) {
  constexpr int k = 37;
  alignas(16) std::array<float, k> a;
  alignas(16) std::array<float, 4 * k> b;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& x : a) x = uniform(random);
  for (float& x : b) x = uniform(random);
  std::array<float, 4> wanted = {};
  for (int p = 0; p < k; ++p) {
    for (int j = 0; j < 4; ++j) wanted[j] = std::fma(a[p], b[4 * p + j], wanted[j]);
  }
  for (const auto sum : {sum_quads, sum_array, sum_two_rows}) {
    alignas(16) std::array<float, 4> out = {};
    ASSERT_TRUE(is_fine([&] { sum(a.data(), b.data(), k, out.data()); }));
    EXPECT_EQ(out, wanted);
  }
}

}  // namespace
