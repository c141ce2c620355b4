// Memory that host code maps itself.
#include <gtest/gtest.h>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

namespace rt = ptx::runtime;
using rt::Direction;

constexpr std::size_t grain = rt::mapping_grain;

class Mappings : public testing::Test {
 protected:
  void SetUp() override {
    kept_ = kept_bytes();
    ASSERT_EQ(rt::reserve_addresses(&first_, 8 * grain, 0), Error::success);
  }
  void TearDown() override {
    EXPECT_EQ(rt::free_addresses(first_, 8 * grain), Error::success);
    EXPECT_EQ(kept_bytes(), kept_);
    EXPECT_EQ(rt::take_last_error(), Error::success) << "the driver leaves none";
  }
  std::byte* at(std::size_t grains, std::size_t bytes = 0) {
    return static_cast<std::byte*>(first_) + grains * grain + bytes;
  }
  // Maps new memory of that many grains there, and keeps no handle of it.
  void map(std::size_t place, std::size_t grains) {
    unsigned long long handle = 0;
    ASSERT_EQ(rt::create_physical(handle, grains * grain), Error::success);
    ASSERT_EQ(rt::map_physical(at(place), grains * grain, 0, handle), Error::success);
    ASSERT_EQ(rt::release_physical(handle), Error::success);
    ASSERT_EQ(rt::allow_access(at(place), grains * grain, true), Error::success);
  }
  void unmap(std::size_t place, std::size_t grains) {
    EXPECT_EQ(rt::unmap_physical(at(place), grains * grain), Error::success);
  }
  static Error set(void* to, int value, std::size_t bytes) {
    const Error error = rt::set_memory(to, bytes, value, bytes, 1, nullptr);
    rt::take_last_error();
    return error;
  }

  void* first_ = nullptr;
  std::uint64_t kept_ = 0;
};

TEST_F(Mappings, IsOneStretchHoweverManyPieces) {
  map(0, 1);
  map(1, 2);
  EXPECT_EQ(set(at(1, 0) - 16, 7, 32), Error::success) << "across both";
  EXPECT_EQ(*at(1), std::byte{7});
  EXPECT_NE(set(at(3) - 16, 7, 32), Error::success) << "nothing is behind";
  EXPECT_TRUE(rt::facts_of_pointer(at(2)).known);
  EXPECT_FALSE(rt::facts_of_pointer(at(3)).known);
  EXPECT_EQ(kept_bytes(), kept_ + 3 * grain);
  unmap(0, 3);
  EXPECT_NE(set(at(1), 7, 32), Error::success);
}

TEST_F(Mappings, OfOneHandleMayLieTwice) {
  unsigned long long handle = 0;
  ASSERT_EQ(rt::create_physical(handle, grain), Error::success);
  for (const std::size_t place : {2, 5}) {
    ASSERT_EQ(rt::map_physical(at(place), grain, 0, handle), Error::success);
    EXPECT_NE(set(at(place), 7, 32), Error::success) << "it may not be used yet";
    ASSERT_EQ(rt::allow_access(at(place), grain, true), Error::success);
  }
  EXPECT_EQ(set(at(2), 9, 32), Error::success);
  EXPECT_EQ(*at(5, 31), std::byte{9});
  ASSERT_EQ(rt::allow_access(at(5), grain, false), Error::success);
  EXPECT_NE(set(at(5), 7, 32), Error::success);
  EXPECT_EQ(rt::release_physical(handle), Error::success);
  unmap(2, 1);
  unmap(5, 1);
}

TEST_F(Mappings, OfOtherSizesOrPlacesAreRefused) {
  map(0, 2);
  unsigned long long handle = 0;
  void* other = nullptr;
  ASSERT_EQ(rt::create_physical(handle, 2 * grain), Error::success);
  const Error wrong = Error::invalid_value;
  EXPECT_EQ(rt::create_physical(handle, grain + 4096), wrong);
  EXPECT_EQ(rt::reserve_addresses(&other, 4096, 0), wrong);
  EXPECT_EQ(rt::reserve_addresses(&other, grain, 3 * grain), wrong);
  EXPECT_EQ(rt::map_physical(at(1), 2 * grain, 0, handle), wrong) << "some is there";
  EXPECT_EQ(rt::map_physical(at(7), 2 * grain, 0, handle), wrong) << "not all is reserved";
  EXPECT_EQ(rt::map_physical(at(2), grain, 0, handle), wrong) << "a part";
  EXPECT_EQ(rt::map_physical(at(2), 2 * grain, grain, handle), wrong);
  EXPECT_EQ(rt::map_physical(at(2, 4096), 2 * grain, 0, handle), wrong);
  EXPECT_EQ(rt::map_physical(at(2), 2 * grain, 0, handle + 9), wrong);
  EXPECT_EQ(rt::unmap_physical(at(0), grain), wrong) << "a part";
  EXPECT_EQ(rt::allow_access(at(0), 3 * grain, true), wrong);
  EXPECT_EQ(rt::free_addresses(first_, 8 * grain), wrong) << "it is in use";
  EXPECT_EQ(rt::free_addresses(at(1), grain), wrong);
  EXPECT_EQ(rt::release(at(0), rt::Use::device), wrong) << "cudaFree did not get it";
  EXPECT_EQ(rt::unregister_host(at(0)), Error::host_memory_not_registered);
  rt::take_last_error();
  EXPECT_EQ(rt::release_physical(handle), Error::success);
  EXPECT_EQ(rt::release_physical(handle), wrong);
  unmap(0, 2);
}

TEST_F(Mappings, AreReadAndWrittenByKernelsWhileTheyLast) {
  Library library;
  map(0, 1);
  ASSERT_EQ(set(at(0), 0, grain), Error::success);
  const auto touches = [&] {
    auto* numbers = reinterpret_cast<float*>(at(0));
    int count = 4;
    void* arguments[] = {&numbers, &numbers, &count};
    return observe({}, [&] {
      rt::launch(&library.scale, {.grid = {1}, .block = {32}}, arguments);
      rt::take_last_error();
    });
  };
  EXPECT_FALSE(touches().finding);
  unmap(0, 1);
  EXPECT_TRUE(touches().finding);
}

}  // namespace
}  // namespace ptx::tests
