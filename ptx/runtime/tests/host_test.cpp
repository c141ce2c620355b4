// What the host may not take for done, and may not do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

namespace rt = ptx::runtime;

// Clears memory in a stream, and is then asked whether an event behind that, or all of the stream,
// is ready.
class Query : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(rt::create_stream(&stream, 1, 0), Error::success);
    ASSERT_EQ(rt::create_event(&event, false), Error::success);
    ASSERT_EQ(rt::allocate(&memory, 256, rt::Use::device), Error::success);
  }
  void TearDown() override {
    rt::release(memory, rt::Use::device);
    rt::destroy_event(event), rt::destroy_stream(stream);
    rt::take_last_error();
  }
  void work() {
    rt::set_memory(memory, 256, 0, 256, 1, stream);
    rt::record_event(event, stream);
  }
  void *stream = nullptr, *event = nullptr, *memory = nullptr;
};

TEST_F(Query, says_at_first_that_work_is_not_ready) {
  EXPECT_EQ(rt::query_event(event), Error::success) << "never recorded";
  EXPECT_EQ(rt::query_stream(stream), Error::success) << "nothing is there";
  for (int time = 0; time < 2; ++time) {
    work();
    EXPECT_EQ(rt::query_event(event), Error::not_ready);
    EXPECT_EQ(rt::query_event(event), Error::success) << "whoever polls comes to an end";
    EXPECT_EQ(rt::query_stream(stream), Error::success) << "the event was behind all of it";
    work();
    EXPECT_EQ(rt::query_stream(stream), Error::not_ready);
    EXPECT_EQ(rt::query_stream(stream), Error::success);
    EXPECT_EQ(rt::query_event(event), Error::success);
  }
}

TEST_F(Query, finds_ready_what_the_host_has_waited_for) {
  work();
  rt::wait_for_event(event);
  EXPECT_EQ(rt::query_event(event), Error::success);
  EXPECT_EQ(rt::query_stream(stream), Error::success);
  work();
  rt::synchronize();
  EXPECT_EQ(rt::query_event(event), Error::success);
  work();
  EXPECT_EQ(rt::query_event(event), Error::not_ready) << "what was recorded last counts";
}

TEST_F(Query, of_a_time_is_not_ready_before_it_is_over) {
  void *from = nullptr, *to = nullptr;
  for (void** timed : {&from, &to}) rt::create_event(timed, true);
  rt::record_event(from, stream);
  work();
  rt::record_event(to, stream);
  float milliseconds = -1;
  EXPECT_EQ(rt::elapsed(milliseconds, from, to), Error::not_ready);
  EXPECT_EQ(milliseconds, -1);
  rt::wait_for_event(to);
  EXPECT_EQ(rt::elapsed(milliseconds, from, to), Error::success);
  EXPECT_GE(milliseconds, 0);
  for (void* timed : {from, to}) rt::destroy_event(timed);
}

TEST_F(Query, leaves_no_error_behind) {
  work();
  EXPECT_EQ(rt::query_event(event), Error::not_ready);
  EXPECT_EQ(rt::peek_last_error(), Error::success);
}

TEST(Stream, of_the_caller_has_work_from_the_beginning) {
  const Observation seen = observe({.streams = 1}, [] {
    EXPECT_EQ(rt::query_stream(stream_of_caller(0)), Error::not_ready);
    EXPECT_EQ(rt::query_stream(stream_of_caller(0)), Error::success);
  });
  EXPECT_FALSE(seen.finding);
  rt::take_last_error();
}

TEST(Stream, is_slow_for_some_while_in_every_other_observation) {
  const auto vain_questions = [](std::uint64_t seed) {
    std::vector<int> all;
    observe({.settings = {.seed = seed}}, [&] {
      void *stream = nullptr, *memory = nullptr;
      rt::create_stream(&stream, 1, 0);
      rt::allocate(&memory, 256, rt::Use::device);
      for (int work = 0; work < 10; ++work) {
        rt::set_memory(memory, 256, 0, 256, 1, stream);
        all.push_back(0);
        while (rt::query_stream(stream) == Error::not_ready) ++all.back();
      }
      rt::release(memory, rt::Use::device), rt::destroy_stream(stream);
    });
    rt::take_last_error();
    return all;
  };
  EXPECT_THAT(vain_questions(0), testing::Each(1));
  for (const std::uint64_t seed : {1, 3})  // and each begins anew
    EXPECT_THAT(vain_questions(seed),
                testing::ElementsAre(1500, 1500, 1500, 1500, 1500, 1500, 1500, 1500, 1, 1));
}

TEST(FunctionOfTheHost, may_call_nothing_of_cuda) {
  Error freed = Error::success;
  const auto seen = [&](const std::function<void()>& function) {
    return observed([&] {
      void *stream = nullptr, *memory = nullptr;
      rt::create_stream(&stream, 1, 0);
      rt::allocate(&memory, 256, rt::Use::device);
      rt::call_host(
          stream, [&] { function(), freed = rt::release(memory, rt::Use::device); }, nullptr);
      EXPECT_EQ(rt::wait_for_stream(stream), Error::success);
      EXPECT_EQ(rt::release(memory, rt::Use::device), Error::success) << "only now";
      rt::destroy_stream(stream);
    });
  };
  EXPECT_FALSE(seen([] {}).finding) << "of which ptx_cudart tells";
  EXPECT_EQ(freed, Error::not_permitted);
  EXPECT_EQ(rt::peek_last_error(), Error::success) << "it is that of another thread";
}

TEST(FunctionOfTheHost, that_calls_is_named_with_what_it_calls) {
  const Observation seen = observed([] {
    rt::call_host(
        nullptr, [] { rt::report_forbidden("cudaFree"); }, nullptr);
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->fault, Fault::forbidden_call);
  EXPECT_THAT(seen.finding->text, testing::HasSubstr("calls cudaFree, where no call of CUDA"));
}

TEST(Memory, that_is_kept_is_counted) {
  void *one = nullptr, *other = nullptr;
  const std::uint64_t before = kept_bytes();
  rt::allocate(&one, 256, rt::Use::device), rt::allocate_in(nullptr, &other, 1000);
  EXPECT_EQ(kept_bytes(), before + 1256);
  rt::release(one, rt::Use::device), rt::release_in(nullptr, other);
  EXPECT_EQ(kept_bytes(), before);
}

}  // namespace
}  // namespace ptx::tests
