// A GoogleTest program that judged nothing is no pass: it exits with 77, which CTest shows as
// skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace assay_test {

constexpr int nothing_judged = 77;

inline bool gpu_is_required() {
  const char* text = std::getenv("ASSAY_REQUIRE_GPU");
  return text != nullptr && std::string_view(text) != "" && std::string_view(text) != "0";
}

// A test that takes a GPU and finds none: it must not turn green where one is required.
inline void skip_without_gpu(const std::string& why) {
  if (gpu_is_required()) {
    FAIL() << why << ", and ASSAY_REQUIRE_GPU is set";
  } else {
    GTEST_SKIP() << why;
  }
}

// Runs all tests that were asked for: the exit code.
inline int run_tests() {
  const bool failed = RUN_ALL_TESTS() != 0;
  const auto& unit = *testing::UnitTest::GetInstance();
  const int judged = unit.successful_test_count() + unit.failed_test_count();
  return failed ? 1 : judged == 0 ? nothing_judged : 0;
}

}  // namespace assay_test
