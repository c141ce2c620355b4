// Device memory between two fences: addresses that are reserved but not mapped, so that touching
// them faults at once.
#pragma once

#include <cstddef>
#include <cstdint>
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
  // So many bytes of addresses, all of which fault until they are opened, in steps of the device's
  // granularity.
  void reserve_closed(std::size_t bytes);
  void open(const std::byte* first, std::size_t bytes);

  std::byte* begin() const { return base_; }
  std::byte* end() const { return base_ + size_; }

 private:
  struct Mapping {
    std::size_t offset, size;
    std::uint64_t handle;
  };
  void release();
  void map(std::size_t offset, std::size_t size);
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Mapping> mappings_;
};

// Device addresses that nobody may touch.
std::byte* forbidden_device_memory();

}  // namespace assay
