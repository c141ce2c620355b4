// What CUDA forbids while a stream is captured, and what it then returns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "ptx/runtime/tests/capturing.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
namespace rt = ptx::runtime;
using rt::CaptureMode;
using rt::Use;

// What one call in a capture returns, and what then ends the capture.
using Errors = std::pair<Error, Error>;
class Capture : public Graphs {
 protected:
  Errors errors_of(const std::function<Error()>& host_call, CaptureMode mode = CaptureMode::global,
                   void* stream = nullptr) {
    Error error = Error::success;
    const Error ended = captured([&] { error = host_call(); }, mode, stream);
    if (executable != nullptr) rt::destroy_executable(std::exchange(executable, nullptr));
    if (graph != nullptr) rt::destroy_graph(std::exchange(graph, nullptr));
    return {error, ended};
  }
  static constexpr Errors fine{Error::success, Error::success};
  static constexpr Errors unsupported{Error::stream_capture_unsupported,
                                      Error::stream_capture_invalidated};
};

TEST_F(Capture, ends_where_the_host_would_wait_for_it) {
  EXPECT_EQ(errors_of([&] { return rt::wait_for_stream(one); }), unsupported);
  EXPECT_EQ(errors_of([&] { return rt::query_stream(one); }), unsupported);
  EXPECT_EQ(errors_of([&] { return rt::synchronize(); }, CaptureMode::relaxed), unsupported);
  EXPECT_EQ(errors_of([&] { return rt::wait_for_event(event); }), unsupported);
  EXPECT_EQ(errors_of([&] {
              return rt::call_back(
                  one, [] { FAIL(); }, nullptr);
            }),
            unsupported);
  const Errors of_event{Error::captured_event, Error::stream_capture_invalidated};
  EXPECT_EQ(errors_of([&] {
              rt::record_event(event, one);
              return rt::wait_for_event(event);
            }),
            of_event);
}

TEST_F(Capture, forbids_calls_that_may_wait_unless_it_is_relaxed) {
  char host[4] = {};
  void* made = nullptr;
  const std::function<Error()> calls[] = {
      [&] { return rt::allocate(&made, 8, Use::device); },
      [&] { return rt::allocate(&made, 8, Use::host); },
      [&] { return rt::wait_for_stream(other); },
      [&] { return rt::register_host(host, 4); },
  };
  const auto copy = [&] {
    return rt::copy({.to = memory, .from = host, .width = 4, .waits = true});
  };
  EXPECT_EQ(errors_of(copy), fine) << "it waits for the legacy stream";
  for (const auto& each : calls) {
    EXPECT_EQ(errors_of(each), unsupported);
    EXPECT_EQ(errors_of(each, CaptureMode::thread_local_), unsupported);
    EXPECT_EQ(errors_of(each, CaptureMode::relaxed), fine);
  }
  EXPECT_EQ(errors_of([&] { return rt::release(memory, Use::device); }), unsupported);
  EXPECT_EQ(errors_of([&] {
              CaptureMode mode = CaptureMode::relaxed;
              rt::exchange_capture_mode(mode);
              const Error error = rt::allocate(&made, 8, Use::device);
              rt::exchange_capture_mode(mode);
              return error;
            }),
            fine);
  rt::unregister_host(host);
}

TEST_F(Capture, of_one_thread_forbids_to_others_what_it_says) {
  const auto in_another_thread = [&] {
    Error error = Error::success;
    void* made = nullptr;
    std::thread([&] { error = rt::allocate(&made, 8, Use::device); }).join();
    return error;
  };
  EXPECT_EQ(errors_of(in_another_thread), unsupported);
  EXPECT_EQ(errors_of(in_another_thread, CaptureMode::thread_local_), fine);
  const auto ended_there = [&] {
    Error error = Error::success;
    std::thread([&] { error = rt::end_capture(one, &graph); }).join();
    return error;
  };
  EXPECT_EQ(errors_of(ended_there), (Errors{Error::stream_capture_wrong_thread, Error::success}));
}

TEST_F(Capture, takes_no_work_once_it_has_failed) {
  EXPECT_EQ(errors_of([&] {
              rt::wait_for_stream(one);
              rt::CaptureFacts facts;
              EXPECT_EQ(rt::capture_facts(one, facts), Error::success);
              EXPECT_EQ(facts.status, rt::CaptureStatus::invalidated);
              return rt::set_memory(memory, 4, 0, 4, 1, one);
            }),
            (Errors{Error::stream_capture_invalidated, Error::stream_capture_invalidated}));
  EXPECT_EQ(memory[0], 1) << "nor is it done";
}

TEST_F(Capture, keeps_to_its_own_streams) {
  const auto fork = [&] {
    order(one, other);
    return rt::set_memory(memory, 4, 0, 4, 1, other);
  };
  EXPECT_EQ(errors_of(fork), (Errors{Error::success, Error::stream_capture_unjoined}));
  EXPECT_EQ(errors_of([&] {
              fork();
              order(other, one);
              return Error::success;
            }),
            fine);
  rt::record_event(event, other);
  EXPECT_EQ(errors_of([&] { return rt::wait_for_event(one, event); }),
            (Errors{Error::stream_capture_isolation, Error::stream_capture_invalidated}));
  EXPECT_EQ(errors_of([&] {
              rt::begin_capture(other, CaptureMode::global);
              rt::record_event(event, other);
              const Error error = rt::wait_for_event(one, event);
              EXPECT_EQ(rt::end_capture(other, &graph), Error::stream_capture_invalidated);
              return error;
            }),
            (Errors{Error::stream_capture_merge, Error::stream_capture_invalidated}));
  EXPECT_EQ(errors_of([&] {
              order(one, other);
              return rt::end_capture(other, &graph);
            }),
            (Errors{Error::stream_capture_unmatched, Error::stream_capture_invalidated}));
}

TEST_F(Capture, bears_no_default_stream_that_would_wait_for_it) {
  const auto in_default_stream = [&] { return rt::set_memory(memory, 4, 7, 4, 1, nullptr); };
  const Errors implicit{Error::stream_capture_implicit, Error::stream_capture_invalidated};
  EXPECT_EQ(errors_of(in_default_stream, CaptureMode::relaxed, blocking), implicit);
  EXPECT_EQ(memory[0], 1);
  EXPECT_EQ(errors_of(in_default_stream), fine) << "which does not wait for one that is apart";
  EXPECT_NE(memory[0], 1) << "it is done, and not captured";
  EXPECT_EQ(rt::begin_capture(nullptr, CaptureMode::global), Error::stream_capture_unsupported);
}

TEST_F(Capture, is_begun_once_and_ended_once) {
  EXPECT_EQ(errors_of([&] { return rt::begin_capture(one, CaptureMode::global); }),
            (Errors{Error::illegal_state, Error::success}));
  EXPECT_EQ(rt::end_capture(one, &graph), Error::illegal_state);
  observed([&] { rt::begin_capture(one, CaptureMode::global); });
  EXPECT_EQ(rt::synchronize(), Error::success) << "nor goes it on beyond an observation";
}

TEST_F(Capture, refuses_at_once_what_no_launch_would_take) {
  const Observation seen = observed([&] {
    EXPECT_EQ(errors_of([&] {
                return rt::launch(&library.bounded, {.grid = {1}, .block = {65}, .stream = one},
                                  nullptr);
              }).first,
              Error::invalid_value);
  });
  EXPECT_THAT(text(seen), HasSubstr("is refused: a block of 65x1x1"));
}

}  // namespace
}  // namespace ptx::tests
