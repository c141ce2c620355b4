// Device memory between two fences: addresses that are reserved but not mapped, so that touching
// them faults at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace assay {

class DeviceRegion {
 public:
  DeviceRegion() = default;
  ~DeviceRegion();
  DeviceRegion(const DeviceRegion&) = delete;
  DeviceRegion& operator=(const DeviceRegion&) = delete;

  // At least so many bytes of memory; what was there is lost if it has to grow. Throws
  // std::runtime_error if there is not enough.
  void reserve(std::size_t bytes);
  // At least so many bytes of addresses, of which only those are memory, in steps of the device's
  // granularity, that were opened last; all others fault. What is opened again keeps its memory:
  // to map it takes the driver, which serves one process of a host after the other.
  void reserve_sparse(std::size_t bytes);
  void open_only(const std::vector<std::span<std::byte>>& stretches);

  std::byte* begin() const { return base_; }
  std::byte* end() const { return base_ + size_; }

 private:
  struct Mapping {
    std::size_t size;
    std::uint64_t handle;
  };
  void reserve_addresses(std::size_t bytes);
  void release();
  void map(std::size_t offset, std::size_t size);
  void unmap(std::size_t offset, const Mapping&);
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::map<std::size_t, Mapping> mappings_;  // by offset
};

// Device addresses that nobody may touch.
std::byte* forbidden_device_memory();

}  // namespace assay
