// What NVIDIA's management library knows of a card. It is loaded at run time and never required:
// without it the answers are empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay {

std::string nvml_driver();  // the driver's version, or why it is not known

class Card {
 public:
  explicit Card(int cuda_device);

  bool is_known() const { return handle_ != nullptr; }
  std::string mig() const;
  // Without a context, which takes its time. Of a slice of a card it is not known.
  std::optional<std::uint64_t> free_bytes() const;
  std::optional<double> power_limit_w() const;
  std::optional<int> temperature_c() const;
  // The reasons for which clocks are held down right now, as NVML's bits, without "idle" and
  // without what somebody has set.
  std::optional<std::uint64_t> throttle_reasons() const;
  // Processes that have a context on this card, this one included.
  std::optional<int> compute_processes() const;

 private:
  void* handle_ = nullptr;
};

std::string describe_throttle(std::uint64_t reasons);

}  // namespace assay
