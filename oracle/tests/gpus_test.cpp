// What is asked of the environment before a GPU is.
#include "oracle/gpus.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace {

using namespace assay;

constexpr const char* hiding[] = {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS"};

TEST(CudaSettings, that_hide_faults_are_forgotten_but_not_in_one_process) {
  for (const char* name : hiding) setenv(name, "1", 1);
  setenv("ASSAY_IN_PROCESS", "1", 1);
  forget_cuda_settings();
  for (const char* name : hiding) EXPECT_NE(std::getenv(name), nullptr) << name;
  unsetenv("ASSAY_IN_PROCESS");
  forget_cuda_settings();
  for (const char* name : hiding) EXPECT_EQ(std::getenv(name), nullptr) << name;
}

TEST(Architectures, run_where_their_code_or_their_text_does) {
  struct Row {
    const char* architectures;
    std::vector<int> runs, fails;
  };
  const Row rows[] = {
      {"80 90", {80, 86, 89, 90, 100, 120}, {70, 75}},
      {"75", {75, 80, 90}, {70, 72}},
      {"80-real", {80, 86, 89}, {75, 90}},
      {"86-real", {86, 89}, {80, 90}},
      {"80-virtual", {80, 86, 90, 100}, {75}},
      {"90a", {90}, {80, 100}},
      {"100f", {100, 103}, {90, 120}},
      {"100f-real 120-real", {100, 103, 120, 121}, {90, 110}},
      {"native", {75, 90}, {}},
      {"", {}, {90}},
  };
  for (const auto& [architectures, runs, fails] : rows) {
    for (int capability : runs)
      EXPECT_TRUE(runs_on(capability, architectures)) << architectures << " on " << capability;
    for (int capability : fails)
      EXPECT_FALSE(runs_on(capability, architectures)) << architectures << " on " << capability;
  }
}

}  // namespace
