// What tests that call the CUDA runtime themselves share: a float of the device, and a stream.
#pragma once

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ptx/runtime/observe.h"
#include "ptx/runtime/tests/calls/kernels.h"

namespace ptx::tests {

class Calls : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&x), 64 * sizeof *x), cudaSuccess);
    ASSERT_EQ(cudaMemset(x, 0, 64 * sizeof *x), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaFree(x), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    cudaGetLastError();
  }
  float value(int at = 0) const {
    float held = 0;
    EXPECT_EQ(cudaMemcpy(&held, x + at, sizeof held, cudaMemcpyDeviceToHost), cudaSuccess);
    return held;
  }
  // What was found; empty: nothing.
  static std::string found(const std::function<void()>& host_code, const Settings& settings = {}) {
    const Observation seen = observe({.settings = settings}, host_code);
    return seen.finding ? seen.finding->text : "";
  }

  cudaStream_t stream = nullptr;
  float* x = nullptr;
};

}  // namespace ptx::tests
