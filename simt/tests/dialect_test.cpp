#include "simt/tests/dialect.h"

#include <gtest/gtest.h>

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

}  // namespace
