// Addresses of the device that are none of the host's, as on a GPU: whoever touches them faults.
// What lies there for kernels is elsewhere in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ptx {

// A range of `bytes` addresses that begins at a multiple of 512, for as long as this lives. The gap
// behind it is so wide that an access slightly past its end does not reach the next range.
class HiddenAddresses {
 public:
  HiddenAddresses() = default;
  explicit HiddenAddresses(std::size_t bytes);  // throws std::bad_alloc
  ~HiddenAddresses();
  HiddenAddresses(HiddenAddresses&& other) noexcept : first_(std::exchange(other.first_, 0)) {}
  HiddenAddresses& operator=(HiddenAddresses&& other) noexcept {
    std::swap(first_, other.first_);
    return *this;
  }
  std::uint64_t first() const { return first_; }  // 0: none
  // Whether an address is, was or may be a hidden one. For handlers of signals, too.
  static bool hold(const void* address);

 private:
  std::uint64_t first_ = 0;
};

}  // namespace ptx
