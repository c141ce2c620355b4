#include "simt/tests/dialect.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "simt/tests/observe.h"

namespace {

using namespace simt_test;

TEST(Dialect, aligns_shared_arrays_in_every_order_of_words) {
  std::uintptr_t at[7] = {};
  ASSERT_TRUE(is_fine([&] { aligned_shared(at); }));
  EXPECT_EQ(at[0] % 16, 0u);
  EXPECT_EQ(at[1] % 32, 0u);
  EXPECT_EQ(at[2] % 64, 0u);
  EXPECT_EQ(at[3] % 128, 0u);
  EXPECT_EQ(at[5] % 16, 0u);
  EXPECT_EQ(at[6] % 256, 0u);
}

TEST(Dialect, converts_what_an_atomic_is_given) {
  std::array<unsigned, 4> u{10, 10, 10, 10};
  std::array<float, 3> f{10, 10, 10};
  double d = 10;
  ASSERT_TRUE(is_fine([&] { mixed_atomics(u.data(), f.data(), &d); }));
  EXPECT_EQ(u, (std::array{11u, 20u, 1u, 12u}));
  EXPECT_EQ(f, (std::array{11.0f, 0.0f, 10.0f}));
  EXPECT_EQ(d, 10.5);
}

TEST(Dialect, takes_the_number_where_the_other_is_none) {
  const auto of = [](float a, float b) {
    std::array<float, 2> in{a, b};
    std::array<float, 4> out{};
    EXPECT_TRUE(is_fine([&] { extremes(in.data(), out.data()); }));
    return out;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(of(1, 2), (std::array{1.0f, 1.0f, 2.0f, 2.0f}));
  EXPECT_EQ(of(nan, 2), (std::array{2.0f, 2.0f, 2.0f, 2.0f}));
  EXPECT_EQ(of(-3, nan), (std::array{-3.0f, -3.0f, -3.0f, -3.0f}));
  for (float value : of(nan, nan)) EXPECT_TRUE(std::isnan(value));
  const auto zeros = of(-0.0f, 0.0f);
  EXPECT_TRUE(std::signbit(zeros[0]) && std::signbit(zeros[1])) << "-0 is less than +0";
  EXPECT_FALSE(std::signbit(zeros[2]) || std::signbit(zeros[3]));

  std::array<double, 4> mixed{};
  ASSERT_TRUE(is_fine([&] { mixed_extremes(-1, mixed.data()); }));
  EXPECT_EQ(mixed, (std::array{1.0, 2.5, 3.0, 5.0}));
}

}  // namespace
