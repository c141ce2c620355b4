// Runs kernels of kernels.h on the machine or on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptx::hardware {

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  // One result for each `most_operands` operands. Throws std::runtime_error if it fails.
  virtual std::vector<std::uint64_t> run(const std::string& kernel,
                                         const std::vector<std::uint64_t>& operands) = 0;
};

std::unique_ptr<Device> machine_of(const std::string& ptx);
// A GPU, by its driver alone. `code` is a cubin or PTX.
std::unique_ptr<Device> gpu_of(const std::string& code);

}  // namespace ptx::hardware
