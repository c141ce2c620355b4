// What NVIDIA's management library knows about a card. It is loaded at run time and never required:
// without it every result is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay {

std::string nvml_driver();  // the driver's version, or why it is unknown

class Card {
 public:
  explicit Card(int cuda_device);

  bool is_known() const { return handle_ != nullptr; }
  std::string mig() const;
  // Without a context, which takes long to create. Unknown for a slice of a card.
  std::optional<std::uint64_t> free_bytes() const;
  std::optional<double> power_limit_w() const;
  std::optional<int> temperature_c() const;
  // Why the clocks are held down right now, as NVML's bits, without "idle" and without limits that
  // somebody set.
  std::optional<std::uint64_t> throttle_reasons() const;
  // Processes with a context on this card, this one included.
  std::optional<int> compute_processes() const;

 private:
  void* handle_ = nullptr;
};

std::string describe_throttle(std::uint64_t reasons);

}  // namespace assay
