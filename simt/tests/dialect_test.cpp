#include "simt/tests/dialect.h"

#include <gtest/gtest.h>

#include <array>

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

}  // namespace
