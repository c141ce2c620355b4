#include "simt/tests/shared.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "simt/tests/observe.h"

namespace {

using simt::FaultKind;
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

TEST(Shared, carries_nothing_from_block_to_block_where_it_holds_ordinary_numbers) {
  const auto seen = [](int blocks) {
    std::vector<unsigned char> out(7 * 9, 0);
    EXPECT_TRUE(is_fine([&] { read_small_shared(out.data(), blocks); }, {.ordinary_shared = true}));
    return out;
  };
  const auto out = seen(9);
  EXPECT_NE(std::vector(out.begin() + 7, out.begin() + 14), std::vector<unsigned char>(7, 1))
      << "what the first block wrote";
  EXPECT_EQ(seen(9), out);
}

TEST(Shared, gives_48_KiB_of_both_kinds_together_to_those_who_did_not_ask_for_more) {
  float out = 0;
  EXPECT_TRUE(is_fine([&] { large_shared(&out, 8 * 1024); }));
  const auto launch_more = [&] {
    EXPECT_EQ(large_shared(&out, 8 * 1024 + 4), cudaErrorInvalidValue);
  };
  expect_fault(FaultKind::launch_refused, "cudaFuncSetAttribute", launch_more);
  EXPECT_TRUE(is_fine([&] { large_shared_asked_for(&out, 100 * 1024, 100 * 1024); }));
  EXPECT_TRUE(is_fine([&] { large_shared_asked_for(&out, 187 * 1024, 187 * 1024); }));
  expect_fault(FaultKind::launch_refused, "102404 bytes of dynamic",
               [&] { large_shared_asked_for(&out, 100 * 1024 + 4, 100 * 1024); });
}

TEST(Shared, allows_no_more_than_a_multiprocessor_has) {
  float out = 0;
  EXPECT_TRUE(is_fine([&] {
    EXPECT_EQ(large_shared_asked_for(&out, 1024, 187 * 1024 + 1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(large_shared_asked_for(&out, 1024, -1), cudaErrorInvalidValue);
  }));
  EXPECT_EQ(out, 0.0f);
}

}  // namespace
