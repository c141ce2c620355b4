#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/registry.h"
#include "regress/device/dry_launches.h"

namespace {

using namespace assay;

TEST(DryLaunches, enqueue_nothing) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);  // so that what is enqueued fails
  const Gemm gemm = {.m = 32, .n = 32, .k = 32, .lda = 32, .ldb = 32, .ldc = 32};
  const Variant naive = entry_named("naive", Backend::cuda).variant;
  EXPECT_NE(naive.launch(gemm, nullptr), cudaSuccess);
  {
    const DryLaunches dry;
    EXPECT_EQ(naive.launch(gemm, nullptr), cudaSuccess);
  }
  EXPECT_NE(naive.launch(gemm, nullptr), cudaSuccess);
}

}  // namespace
