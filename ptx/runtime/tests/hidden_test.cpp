// Memory of the device that faults where host code touches it, as on a computer with a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "ptx/runtime/tests/capturing.h"

namespace ptx::tests {
namespace {

namespace rt = ptx::runtime;
using rt::Use;
using testing::HasSubstr;
using testing::StartsWith;

class Hidden : public Graphs {
 protected:
  void SetUp() override {
    hide_device_memory(true);
    Graphs::SetUp();
  }
  void TearDown() override {
    Graphs::TearDown();
    hide_device_memory(false);
  }
  std::vector<float> read(const void* from, std::size_t count) {
    std::vector<float> held(count);
    rt::synchronize();
    EXPECT_EQ(rt::copy({.to = held.data(), .from = from, .width = 4 * count, .waits = true}),
              Error::success);
    return held;
  }
  static void touch(void* at) { *static_cast<volatile char*>(at) = 1; }
};

TEST_F(Hidden, faults_where_the_host_touches_it_and_says_what_it_is) {
  EXPECT_EXIT(touch(memory), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_THAT(why_host_faults_at(memory + 63),
              StartsWith("host code touches memory of 256 bytes (allocation"));
  EXPECT_THAT(why_host_faults_at(memory), HasSubstr("itself, which is memory of the device"));
  EXPECT_THAT(why_host_faults_at(memory + 64), HasSubstr("none that is there"));
  EXPECT_EQ(why_host_faults_at(&memory), nullptr);
}

TEST_F(Hidden, is_whatever_the_host_may_not_touch) {
  Library library;
  rt::init_module(library.binary());
  void *in_stream = nullptr, *factor = nullptr, *managed_variable = nullptr;
  ASSERT_EQ(rt::allocate_in(one, &in_stream, 64), Error::success);
  ASSERT_EQ(rt::symbol(&library.factor, &factor, nullptr), Error::success);
  EXPECT_NE(why_host_faults_at(in_stream), nullptr);
  EXPECT_EXIT(touch(in_stream), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_STREQ(why_host_faults_at(factor),
               "host code touches factor itself, which is memory of the device: let a kernel do "
               "that, or copy it");
  EXPECT_EQ(rt::release_in(one, in_stream), Error::success);

  void *pinned = nullptr, *managed = nullptr;
  ASSERT_EQ(rt::allocate(&pinned, 64, Use::host), Error::success);
  ASSERT_EQ(rt::allocate(&managed, 64, Use::managed), Error::success);
  ASSERT_EQ(rt::symbol(library.managed, &managed_variable, nullptr), Error::success);
  for (void* const its : {pinned, managed, managed_variable, library.managed}) {
    touch(its);
    EXPECT_EQ(why_host_faults_at(its), nullptr);
  }
  rt::release(pinned, Use::host), rt::release(managed, Use::device);
}

TEST_F(Hidden, is_copied_set_and_computed_with) {
  Library library;
  const float three = 3;
  EXPECT_EQ(rt::copy_to_symbol(&library.factor, &three, 4, 0, rt::Direction::host_to_device, one),
            Error::success);
  const Observation seen = observed([&] {
    rt::set_memory(memory, 64, 0, 64, 1, one);
    int n = 2;
    float* from = memory + 20;
    void* arguments[] = {&from, &memory, &n};
    EXPECT_EQ(rt::launch(&library.scale, {{1, 1, 1}, {32, 1, 1}, 0, one}, arguments),
              Error::success);
    rt::copy({.to = memory + 40, .from = memory, .width = 12, .stream = one});
    rt::synchronize();
  });
  EXPECT_FALSE(seen.finding) << seen.finding->text;
  EXPECT_EQ(read(memory, 4), (std::vector<float>{3, 3, 0, 0}));
  EXPECT_EQ(read(memory + 39, 5), (std::vector<float>{1, 3, 3, 0, 1}));
  float factor = 0;
  EXPECT_EQ(rt::copy_from_symbol(&factor, &library.factor, 4, 0, rt::Direction::any, one, true),
            Error::success);
  EXPECT_EQ(factor, 3);
}

TEST_F(Hidden, is_put_back_and_told_apart_as_any_other) {
  const std::uint64_t hash = hash_of_kept_memory();
  const KeptMemory kept;
  rt::set_memory(memory, 4, 0, 4, 1, one);
  EXPECT_NE(hash_of_kept_memory(), hash);
  kept.put_back();
  EXPECT_EQ(hash_of_kept_memory(), hash);
  EXPECT_EQ(read(memory, 1), std::vector<float>{1});
}

TEST_F(Hidden, is_that_of_a_graph_as_well) {
  void* own = nullptr;
  EXPECT_EQ(captured([&] {
              EXPECT_EQ(rt::allocate_in(one, &own, 64), Error::success);
              rt::copy({.to = own, .from = memory, .width = 64, .stream = one});
              rt::copy({.to = memory + 32, .from = own, .width = 64, .stream = one});
              EXPECT_EQ(rt::release_in(one, own), Error::success);
            }),
            Error::success);
  rt::set_memory(memory, 256, 0, 128, 1, one);
  EXPECT_EQ(launch(), Error::success);
  EXPECT_EQ(read(memory + 32, 2), (std::vector<float>{0, 0}));
  EXPECT_EXIT(touch(own), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(Hidden, is_no_more_where_it_is_freed) {
  const auto copy_to = [&](void* to) {
    float zero = 0;
    return rt::copy({.to = to, .from = &zero, .width = 4});
  };
  void *first = nullptr, *next = nullptr, *again = nullptr;
  ASSERT_EQ(rt::allocate(&first, 64, Use::device), Error::success);
  ASSERT_EQ(rt::allocate(&next, 64, Use::device), Error::success);
  EXPECT_EQ(copy_to(first), Error::success);
  EXPECT_EQ(copy_to(static_cast<char*>(first) + 4096), Error::invalid_value)
      << "a small mistake does not end up in other memory";
  rt::release(first, Use::device);
  EXPECT_EQ(copy_to(first), Error::invalid_value);
  EXPECT_EXIT(touch(first), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_THAT(why_host_faults_at(first), HasSubstr("it is freed"));
  ASSERT_EQ(rt::allocate(&again, 64, Use::device), Error::success);
  EXPECT_EQ(again, first) << "as most allocators have it";
  rt::release(next, Use::device), rt::release(again, Use::device);
}

}  // namespace
}  // namespace ptx::tests
