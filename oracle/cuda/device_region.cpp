#include "oracle/cuda/device_region.h"

#include <algorithm>
#include <bit>
#include <set>

#include "oracle/cuda/cuda_check.h"
#include "oracle/cuda/cuda_driver.h"

namespace assay {
namespace {

// The regions of small cases never grow.
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

CUdeviceptr address_of(const std::byte* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

std::byte* new_addresses(std::size_t bytes) {
  ASSAY_DRIVER(cuMemAddressReserve);
  CUdeviceptr address = 0;
  driver_check(cuMemAddressReserve_(&address, bytes, 0, 0, 0), "cuMemAddressReserve");
  return reinterpret_cast<std::byte*>(address);
}

std::size_t whole_units(std::size_t bytes) {
  const std::size_t unit = granularity();
  return std::max<std::size_t>(1, (bytes + unit - 1) / unit) * unit;
}

}  // namespace

DeviceRegion::~DeviceRegion() { release(); }

void DeviceRegion::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  reserve_addresses(whole_units(std::max(bytes, least_bytes)));
  map(0, size_);
}

void DeviceRegion::reserve_sparse(std::size_t bytes) {
  if (bytes > size_) reserve_addresses(std::bit_ceil(whole_units(bytes)));
}

void DeviceRegion::open_only(const std::vector<std::span<std::byte>>& stretches) {
  const std::size_t unit = granularity();
  std::set<std::size_t> wanted;
  for (const std::span<std::byte>& stretch : stretches) {
    const auto begin = static_cast<std::size_t>(stretch.data() - base_);
    for (std::size_t offset = begin / unit * unit; offset < begin + stretch.size(); offset += unit)
      wanted.insert(offset);
  }
  for (auto one = mappings_.begin(); one != mappings_.end();) {
    const bool stays = wanted.contains(one->first);
    if (!stays) unmap(one->first, one->second);
    one = stays ? std::next(one) : mappings_.erase(one);
  }
  for (std::size_t offset : wanted) {
    if (!mappings_.contains(offset)) map(offset, unit);
  }
}

void DeviceRegion::reserve_addresses(std::size_t bytes) {
  release();
  base_ = new_addresses(bytes + 2 * granularity()) + granularity();
  size_ = bytes;
}

void DeviceRegion::map(std::size_t offset, std::size_t size) {
  ASSAY_DRIVER(cuMemCreate);
  ASSAY_DRIVER(cuMemMap);
  ASSAY_DRIVER(cuMemSetAccess);
  const CUmemAllocationProp properties = properties_of_this_device();
  CUmemGenericAllocationHandle handle = 0;
  driver_check(cuMemCreate_(&handle, size, &properties, 0), "no device memory for the operands");
  mappings_[offset] = {size, handle};
  driver_check(cuMemMap_(address_of(base_ + offset), size, 0, handle, 0), "cuMemMap");
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  driver_check(cuMemSetAccess_(address_of(base_ + offset), size, &access, 1), "cuMemSetAccess");
}

void DeviceRegion::unmap(std::size_t offset, const Mapping& mapping) {
  ASSAY_DRIVER(cuMemUnmap);
  ASSAY_DRIVER(cuMemRelease);
  cuMemUnmap_(address_of(base_ + offset), mapping.size);
  cuMemRelease_(mapping.handle);
}

void DeviceRegion::release() {
  if (size_ == 0) return;
  ASSAY_DRIVER(cuMemAddressFree);
  for (const auto& [offset, mapping] : mappings_) unmap(offset, mapping);
  mappings_.clear();
  cuMemAddressFree_(address_of(base_) - granularity(), size_ + 2 * granularity());
  base_ = nullptr;
  size_ = 0;
}

std::byte* forbidden_device_memory() {
  static std::byte* const memory = new_addresses(std::size_t{1} << 40);
  return memory;
}

}  // namespace assay
