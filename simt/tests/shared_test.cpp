#include "simt/tests/shared.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "simt/tests/observe.h"

namespace {

using namespace simt_test;

TEST(Shared, poisons_the_smallest_variable_before_every_block) {
  unsigned char poison[4];
  std::memcpy(poison, &simt::unwritten_shared_bits, 4);
  std::vector<unsigned char> out(7 * 9, 0);
  ASSERT_TRUE(is_fine([&] { read_small_shared(out.data(), 9); }));
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_NE(std::memchr(poison, out[i], 4), nullptr) << "byte " << i << " is " << int{out[i]};
  }
}

}  // namespace
