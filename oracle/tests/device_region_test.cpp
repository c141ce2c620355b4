// Which addresses of a region are memory, as the driver sees it. Takes a GPU.
#include "oracle/cuda/device_region.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <span>

#include "oracle/cuda/cuda_driver.h"
#include "oracle/gpus.h"
#include "oracle/tests/run_tests.h"

namespace {

using namespace assay;

bool is_memory(const std::byte* address) {
  ASSAY_DRIVER(cuMemRetainAllocationHandle);
  ASSAY_DRIVER(cuMemRelease);
  CUmemGenericAllocationHandle handle = 0;
  const CUresult found =
      cuMemRetainAllocationHandle_(&handle, const_cast<std::byte*>(address));  // of what is mapped
  if (found == CUDA_SUCCESS) cuMemRelease_(handle);
  return found == CUDA_SUCCESS;
}
int value_at(const std::byte* address) {
  int value = 0;
  EXPECT_EQ(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
  return value;
}
void set_value_at(std::byte* address, int value) {
  EXPECT_EQ(cudaMemcpy(address, &value, sizeof value, cudaMemcpyHostToDevice), cudaSuccess);
}

constexpr std::size_t unit = 2u << 20;

// Whether these addresses are kept free: only what is reserved can be mapped.
bool is_fence(const std::byte* address) {
  ASSAY_DRIVER(cuMemCreate);
  ASSAY_DRIVER(cuMemMap);
  ASSAY_DRIVER(cuMemUnmap);
  ASSAY_DRIVER(cuMemRelease);
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemCreate_(&handle, unit, &properties, 0), CUDA_SUCCESS);
  const auto place = reinterpret_cast<CUdeviceptr>(address);
  const bool mapped = cuMemMap_(place, unit, 0, handle, 0) == CUDA_SUCCESS;
  if (mapped) cuMemUnmap_(place, unit);
  cuMemRelease_(handle);
  return mapped;
}

class Region : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty())
      return assay_test::skip_without_gpu(why);
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // starts the context
  }
  std::span<std::byte> row(std::size_t i, std::size_t bytes = 100) const {
    return {region_.begin() + i * distance, bytes};
  }
  static constexpr std::size_t distance = (std::size_t{4} << 30) + 12;
  DeviceRegion region_;
};

TEST_F(Region, has_memory_between_two_fences) {
  for (std::size_t bytes : {1u << 10, 100u << 20}) {
    region_.reserve(bytes);
    EXPECT_GE(region_.end() - region_.begin(), static_cast<std::ptrdiff_t>(bytes));
    EXPECT_TRUE(is_memory(region_.begin()));
    EXPECT_TRUE(is_memory(region_.end() - 1));
    EXPECT_FALSE(is_memory(region_.begin() - 1));
    EXPECT_FALSE(is_memory(region_.end()));
    EXPECT_TRUE(is_fence(region_.begin() - unit));
    EXPECT_TRUE(is_fence(region_.end()));
  }
}

TEST_F(Region, gives_back_what_it_had_when_it_grows) {
  region_.reserve(1 << 10);
  std::byte* const first = region_.begin();
  region_.reserve(region_.end() - region_.begin() + 1);
  const bool is_its_own = region_.begin() <= first && first < region_.end();
  EXPECT_TRUE(is_its_own || !is_memory(first));
}

TEST_F(Region, is_memory_only_where_it_was_opened_last) {
  region_.reserve_sparse(5 * distance);
  EXPECT_FALSE(is_memory(region_.begin()));
  region_.open_only({row(0), row(2), row(4)});
  for (std::size_t i : {0, 1, 2, 3, 4}) EXPECT_EQ(is_memory(row(i).data()), i % 2 == 0) << i;

  region_.open_only({row(0), row(1)});
  for (std::size_t i : {0, 1, 2, 3, 4}) EXPECT_EQ(is_memory(row(i).data()), i < 2) << i;

  region_.reserve_sparse(2 * distance);  // fewer addresses: the same region goes on
  region_.open_only({row(1)});
  EXPECT_FALSE(is_memory(row(0).data()));
  EXPECT_TRUE(is_memory(row(1).data()));
}

TEST_F(Region, opens_every_unit_that_a_stretch_touches) {
  region_.reserve_sparse(10 * unit);
  region_.open_only({{region_.begin() + 2 * unit - 1, unit + 2}});
  for (std::size_t i : {0, 1, 2, 3, 4})
    EXPECT_EQ(is_memory(region_.begin() + i * unit), i >= 1 && i <= 3) << i;
}

TEST_F(Region, keeps_the_memory_of_what_is_opened_again) {
  region_.reserve_sparse(3 * distance);
  region_.open_only({row(0), row(1), row(2)});
  set_value_at(row(1).data(), 42);
  region_.open_only({row(1), row(2)});
  region_.reserve_sparse(2 * distance);  // has as many
  region_.open_only({row(1)});
  EXPECT_EQ(value_at(row(1).data()), 42);
  region_.reserve_sparse(9 * distance);  // grows
  EXPECT_FALSE(is_memory(row(1).data()));
}

TEST_F(Region, ends_where_a_fence_is) {
  region_.reserve_sparse(8 * distance);
  region_.open_only({row(7)});
  region_.reserve_sparse(3 * distance);
  region_.open_only({{region_.end() - 100, 100}});
  EXPECT_TRUE(is_memory(region_.end() - 1));
  EXPECT_FALSE(is_memory(region_.end()));
}

}  // namespace
