// What is asked of the environment before a GPU is.
#include "oracle/gpu_info.h"

#include <gtest/gtest.h>

#include <cstdlib>

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

}  // namespace
