// Device memory between two fences: addresses that are reserved but not mapped, so that touching
// them faults.
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

  // Provides at least `bytes` of memory; growing loses what was there. Throws std::runtime_error if
  // the GPU has too little.
  void reserve(std::size_t bytes);
  // Provides at least `bytes` of addresses. Only the stretches opened last are memory, in steps of
  // the device's granularity; all others fault. A stretch that is opened again keeps its memory,
  // because mapping takes the driver, which serves the processes of a host one after the other.
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
