#include "simt/tests/dialect.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "simt/tests/observe.h"

namespace {

using simt::FaultKind;
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

TEST(Dialect, knows_the_common_words) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::array<float, 4> in{std::nanf(""), 1, inf, 4};
  std::array<float, 13> out{};
  ASSERT_TRUE(is_fine([&] { words(out.data(), in.data()); }));
  EXPECT_EQ(out, (std::array<float, 13>{1, 1, 0.5, 2, 0, 31324, 4, 416364, 8, 6, 2.0f / 3, 11, 1}));
}

TEST(Dialect, counts_at_barriers) {
  for (const auto order : {simt::Order::forward, simt::Order::reverse, simt::Order::shuffled}) {
    std::vector<int> out(64);
    ASSERT_TRUE(is_fine([&] { count(out.data()); }, {.order = order}));
    EXPECT_EQ(out, std::vector<int>(64, 1));
  }
}

TEST(Dialect, counts_around) {
  unsigned up = 2, down = 2;
  ASSERT_TRUE(is_fine([&] { wrap_around(&up, &down, 4); }));
  EXPECT_EQ(up, 1u);    // 3, 4, 0, 1
  EXPECT_EQ(down, 3u);  // 1, 0, 4, 3
  up = down = 9;
  ASSERT_TRUE(is_fine([&] { wrap_around(&up, &down, 1); }));
  EXPECT_EQ(up, 0u);
  EXPECT_EQ(down, 4u);
}

TEST(Dialect, prints) {
  testing::internal::CaptureStdout();
  EXPECT_TRUE(is_fine([] { print(0); }));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "thread 0\nthread 1\n");
}

TEST(Dialect, can_print_after_a_thread_that_printed_for_ever) {
  testing::internal::CaptureStdout();
  for (int i = 0; i < 3; ++i) {
    expect_fault(FaultKind::never_ends, "0.02", [] { print(1); }, {.cpu_seconds = 0.02});
    std::thread([] { std::puts("not locked out"); }).join();
  }
  EXPECT_NE(testing::internal::GetCapturedStdout().find("not locked out"), std::string::npos);
}

TEST(Dialect, names_an_assertion_that_fails) {
  EXPECT_TRUE(is_fine([] { assert_below(8); }));
  expect_fault(FaultKind::bad_instruction,
               "thread (5,0,0) of block (0,0,0) found that 'static_cast<int>(threadIdx.x) < limit' "
               "is not true "
               "(dialect.cu:",
               [] { assert_below(5); });
}

TEST(Dialect, copies_and_sets_memory_in_order) {
  std::array<unsigned char, 4> from{1, 2, 3, 4}, to{};
  EXPECT_TRUE(is_fine([&] {
    EXPECT_EQ(cudaMemcpyAsync(to.data(), from.data(), 3, cudaMemcpyDeviceToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(from.data() + 1, 0x17, 2), cudaSuccess);
  }));
  EXPECT_EQ(to, (std::array<unsigned char, 4>{1, 2, 3, 0}));
  EXPECT_EQ(from, (std::array<unsigned char, 4>{1, 0x17, 0x17, 4}));
  EXPECT_EQ(cudaMemsetAsync(to.data(), 9, 1), cudaSuccess) << "outside of a launch too";
  EXPECT_EQ(to[0], 9);
  void* const nobodys = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect_fault(FaultKind::bad_address, "a memset or memcpy wrote to", [&] {
    EXPECT_EQ(cudaMemsetAsync(nobodys, 0, 8), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaMemcpyAsync(to.data(), from.data(), 4, cudaMemcpyDefault),
              cudaErrorIllegalAddress);
  });
  EXPECT_EQ(to[1], 2) << "nothing is done after a fault";
}

TEST(Dialect, answers_for_the_device_and_its_errors) {
  int device = 7;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMisalignedAddress), "misaligned address");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMisalignedAddress), "cudaErrorMisalignedAddress");
}

}  // namespace
