#include "oracle/cuda/nvml.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace assay {
namespace {

constexpr int insufficient_size = 7;

template <class Function>
Function* nvml(const char* name) {
  static void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

bool is_ready() {
  static const bool ready = [] {
    const auto init = nvml<int()>("nvmlInit_v2");
    return init != nullptr && init() == 0;
  }();
  return ready;
}

template <class Fact>
std::optional<Fact> ask(const char* name, void* handle) {
  const auto function = nvml<int(void*, Fact*)>(name);
  Fact value{};
  if (handle == nullptr || function == nullptr || function(handle, &value) != 0)
    return std::nullopt;
  return value;
}

struct Reason {
  std::uint64_t bit;
  const char* text;
};
constexpr std::array reasons = {Reason{0x04, "power limit"}, Reason{0x08, "hardware slowdown"},
                                Reason{0x20, "temperature (software)"},
                                Reason{0x40, "temperature (hardware)"},
                                Reason{0x80, "power brake"}};

}  // namespace

std::string nvml_driver() {
  const auto function = nvml<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  char text[96] = "";
  return is_ready() && function != nullptr && function(text, sizeof text) == 0
             ? text
             : "unknown (NVML is not there)";
}

// CUDA's number of a card is not NVML's: its place on the bus is known to both.
Card::Card(int cuda_device) {
  const auto find = nvml<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
  char bus[64] = "";
  if (!is_ready() || find == nullptr ||
      cudaDeviceGetPCIBusId(bus, sizeof bus, cuda_device) != cudaSuccess)
    return;
  if (find(bus, &handle_) != 0) handle_ = nullptr;
}

std::string Card::mig() const {
  const auto function = nvml<int(void*, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
  unsigned now = 0, pending = 0;
  if (handle_ == nullptr || function == nullptr) return "unknown (NVML is not there)";
  return function(handle_, &now, &pending) != 0 ? "not supported" : now != 0 ? "on" : "off";
}

std::optional<std::uint64_t> Card::free_bytes() const {
  struct Memory {
    unsigned long long total, free, used;
  };
  const auto memory = ask<Memory>("nvmlDeviceGetMemoryInfo", handle_);
  if (!memory || mig() == "on") return std::nullopt;
  return memory->free;
}

std::optional<double> Card::power_limit_w() const {
  const auto milliwatts = ask<unsigned>("nvmlDeviceGetEnforcedPowerLimit", handle_);
  if (!milliwatts) return std::nullopt;
  return *milliwatts / 1000.0;
}

std::optional<int> Card::temperature_c() const {
  const auto function = nvml<int(void*, int, unsigned*)>("nvmlDeviceGetTemperature");
  unsigned degrees = 0;
  if (handle_ == nullptr || function == nullptr || function(handle_, 0, &degrees) != 0)
    return std::nullopt;
  return static_cast<int>(degrees);
}

std::optional<std::uint64_t> Card::throttle_reasons() const {
  auto bits = ask<unsigned long long>("nvmlDeviceGetCurrentClocksEventReasons", handle_);
  if (!bits) bits = ask<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons", handle_);
  if (!bits) return std::nullopt;
  std::uint64_t known = 0;
  for (const Reason& reason : reasons) known |= reason.bit;
  return *bits & known;
}

std::optional<int> Card::compute_processes() const {
  const auto function =
      nvml<int(void*, unsigned*, void*)>("nvmlDeviceGetComputeRunningProcesses_v3");
  unsigned count = 0;
  if (handle_ == nullptr || function == nullptr) return std::nullopt;
  const int answer = function(handle_, &count, nullptr);
  if (answer != 0 && answer != insufficient_size) return std::nullopt;
  return static_cast<int>(count);
}

std::string describe_throttle(std::uint64_t bits) {
  std::string text;
  for (const Reason& reason : reasons) {
    if ((bits & reason.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(reason.text);
  }
  return text;
}

}  // namespace assay
