// That a variant which takes long is not given what would take longer than a launch may. Takes a
// GPU.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "oracle/gpus.h"
#include "oracle/tests/run_tests.h"
#include "oracle/trial.h"

namespace {

using namespace assay;

class Pace : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty())
      return assay_test::skip_without_gpu(why);
  }
};

// Half a microsecond for each step along k, and nothing is computed.
cudaError_t take_long(const Gemm& g, cudaStream_t) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(500 * g.k));
  return cudaSuccess;
}
TrialStatus status_at(std::int64_t k, const char* name, Launch launch = take_long) {
  const Entry entry{{.name = name, .idea = "", .launch = launch}, Backend::cuda};
  return run_trial(entry, {.m = 1, .n = 1, .k = k}, {.rule = Rule::anything}).status;
}

TEST_F(Pace, tells_what_would_take_too_long) {
  EXPECT_EQ(status_at(1 << 15, "slow"), TrialStatus::right);
  EXPECT_EQ(status_at(1 << 22, "slow"), TrialStatus::right) << "two seconds";
  EXPECT_EQ(status_at(1 << 24, "slow"), TrialStatus::refused) << "eight seconds";
  EXPECT_EQ(status_at(1 << 24, "another", [](const Gemm&, cudaStream_t) { return cudaSuccess; }),
            TrialStatus::right);
  EXPECT_EQ(status_at(1 << 15, "slow"), TrialStatus::right);
}

}  // namespace
