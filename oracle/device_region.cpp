#include "oracle/device_region.h"

#include <algorithm>

#include "oracle/cuda_check.h"
#include "oracle/cuda_driver.h"

namespace assay {
namespace {

// Of a region, so that those of small cases never grow.
constexpr std::size_t least_bytes = std::size_t{16} << 20;

CUmemAllocationProp properties_of_this_device() {
  int device = 0;
  cuda_check(cudaGetDevice(&device), "cudaGetDevice");
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

std::size_t granularity() {
  ASSAY_DRIVER(cuMemGetAllocationGranularity);
  static const std::size_t bytes = [] {
    std::size_t size = 0;
    const CUmemAllocationProp properties = properties_of_this_device();
    driver_check(
        cuMemGetAllocationGranularity_(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        "cuMemGetAllocationGranularity");
    return size;
  }();
  return bytes;
}

CUdeviceptr address_of(const std::byte* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

std::byte* reserve_addresses(std::size_t bytes) {
  ASSAY_DRIVER(cuMemAddressReserve);
  CUdeviceptr address = 0;
  driver_check(cuMemAddressReserve_(&address, bytes, 0, 0, 0), "cuMemAddressReserve");
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace

DeviceRegion::~DeviceRegion() {
  release();
}

void DeviceRegion::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  reserve_closed(std::max(bytes, least_bytes));
  map(0, size_);
}

void DeviceRegion::reserve_closed(std::size_t bytes) {
  release();
  const std::size_t unit = granularity();
  const std::size_t size = std::max<std::size_t>(1, (bytes + unit - 1) / unit) * unit;
  base_ = reserve_addresses(size + 2 * unit) + unit;
  size_ = size;
}

void DeviceRegion::open(const std::byte* first, std::size_t bytes) {
  const std::size_t unit = granularity();
  const auto begin = static_cast<std::size_t>(first - base_) / unit * unit;
  for (std::size_t offset = begin; offset < static_cast<std::size_t>(first - base_) + bytes;
       offset += unit) {
    const bool mapped = std::any_of(mappings_.begin(), mappings_.end(),
                                    [&](const Mapping& m) { return m.offset == offset; });
    if (!mapped) map(offset, unit);
  }
}

void DeviceRegion::map(std::size_t offset, std::size_t size) {
  ASSAY_DRIVER(cuMemCreate);
  ASSAY_DRIVER(cuMemMap);
  ASSAY_DRIVER(cuMemSetAccess);
  const CUmemAllocationProp properties = properties_of_this_device();
  CUmemGenericAllocationHandle handle = 0;
  driver_check(cuMemCreate_(&handle, size, &properties, 0), "no device memory for the operands");
  mappings_.push_back({offset, size, handle});
  driver_check(cuMemMap_(address_of(base_ + offset), size, 0, handle, 0), "cuMemMap");
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  driver_check(cuMemSetAccess_(address_of(base_ + offset), size, &access, 1), "cuMemSetAccess");
}

void DeviceRegion::release() {
  if (size_ == 0) return;
  ASSAY_DRIVER(cuMemUnmap);
  ASSAY_DRIVER(cuMemRelease);
  ASSAY_DRIVER(cuMemAddressFree);
  for (const Mapping& m : mappings_) {
    cuMemUnmap_(address_of(base_ + m.offset), m.size);
    cuMemRelease_(m.handle);
  }
  mappings_.clear();
  cuMemAddressFree_(address_of(base_) - granularity(), size_ + 2 * granularity());
  base_ = nullptr;
  size_ = 0;
}

std::byte* forbidden_device_memory() {
  static std::byte* const memory = reserve_addresses(std::size_t{1} << 40);
  return memory;
}

}  // namespace assay
