// Two streams that are apart, one that waits for the default stream, and 256 bytes of the device.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ptx/runtime/graph/graphs.h"
#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {

class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    runtime::create_stream(&one, 1, 0), runtime::create_stream(&other, 1, 0);
    runtime::create_stream(&blocking, 0, 0);
    runtime::create_event(&event, false);
    void* made = nullptr;
    runtime::allocate(&made, 256, runtime::Use::device);
    memory = static_cast<float*>(made);
    const std::vector<float> ones(64, 1.0f);
    runtime::copy({.to = memory, .from = ones.data(), .width = 256, .waits = true});
  }
  void TearDown() override {
    if (executable != nullptr) runtime::destroy_executable(executable);
    if (graph != nullptr) runtime::destroy_graph(graph);
    runtime::release(memory, runtime::Use::device);
    runtime::destroy_event(event);
    for (void* stream : {one, other, blocking}) runtime::destroy_stream(stream);
    runtime::take_last_error();
  }

  // What ends the capture of that in stream `one`.
  Error captured(const std::function<void()>& host_code,
                 runtime::CaptureMode mode = runtime::CaptureMode::global, void* stream = nullptr) {
    if (stream == nullptr) stream = one;
    EXPECT_EQ(runtime::begin_capture(stream, mode), Error::success);
    host_code();
    const Error error = runtime::end_capture(stream, &graph);
    if (error == Error::success) {
      EXPECT_EQ(runtime::instantiate(&executable, graph, false), Error::success);
    }
    return error;
  }
  Error launch() { return runtime::launch_graph(executable, one, __builtin_frame_address(0)); }
  void order(void* first, void* then) {
    EXPECT_EQ(runtime::record_event(event, first), Error::success);
    EXPECT_EQ(runtime::wait_for_event(then, event), Error::success);
  }
  void clear(void* stream, int value = 0, std::size_t bytes = 128) {
    runtime::set_memory(memory, bytes, value, bytes, 1, stream);
  }
  Error copy(const void* from, void* stream) {
    return runtime::copy({.to = memory,
                          .from = from,
                          .width = 4,
                          .direction = runtime::Direction::host_to_device,
                          .stream = stream});
  }
  void scale(float* from, float* to, int n, void* stream, bool starts_early = false) {
    void* arguments[] = {&from, &to, &n};
    EXPECT_EQ(runtime::launch(
                  &library.scale,
                  {.grid = {1}, .block = {32}, .stream = stream, .starts_early = starts_early},
                  arguments),
              Error::success);
    n = 0, from = to = nullptr;  // they were taken by value
  }
  void double_floats() {
    const float factor = 2;
    runtime::copy_to_symbol(&library.factor, &factor, 4, 0, runtime::Direction::host_to_device,
                            nullptr, true);
  }
  static std::string text(const Observation& seen) {
    return seen.finding ? seen.finding->text : "";
  }

  Library library;
  void *one = nullptr, *other = nullptr, *blocking = nullptr, *event = nullptr;
  void *graph = nullptr, *executable = nullptr;
  float* memory = nullptr;
};

}  // namespace ptx::tests
