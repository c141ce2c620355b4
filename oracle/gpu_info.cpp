#include "oracle/gpu_info.h"

#include <cstdlib>
#include <sstream>

#if defined(ASSAY_CUDA)
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "oracle/cuda_machine.h"
#include "oracle/cuda_reference.h"
#include "oracle/nvml.h"
#endif

namespace assay {

void keep_to_assigned_gpu() {
  const char* assigned = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");  // "id:2,slots:1"
  if (assigned == nullptr || !std::string_view(assigned).starts_with("id:")) return;
  const int number = std::atoi(assigned + 3);
  std::string name = std::to_string(number);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    std::istringstream names(visible);
    for (int i = 0; i <= number && std::getline(names, name, ',');) ++i;
  }
  setenv("CUDA_VISIBLE_DEVICES", name.c_str(), 1);
  unsetenv("CTEST_RESOURCE_GROUP_0_GPUS");  // it is done
}

void forget_cuda_settings() {
  if (std::getenv("ASSAY_IN_PROCESS") != nullptr) return;
  for (const char* name : {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS"}) unsetenv(name);
}

#if !defined(ASSAY_CUDA)

int gpu_count() {
  return 0;
}
std::vector<GpuFact> describe_gpus() {
  return {};
}

#else

namespace {

std::string version_text(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string memory_text(std::optional<std::uint64_t> free_bytes, std::uint64_t all_bytes) {
  const double all = static_cast<double>(all_bytes) / 0x1p30;
  if (!free_bytes) return fmt::format("{:.1f} GiB", all);
  return fmt::format("{:.1f} of {:.1f} GiB free", static_cast<double>(*free_bytes) / 0x1p30, all);
}

GpuFact driver_fact() {
  int version = 0;
  cudaDriverGetVersion(&version);
  if (version == 0) return {"CUDA driver", false, "none"};
  return {"CUDA driver", true,
          fmt::format("{}, good for CUDA {}", nvml_driver(), version_text(version))};
}

GpuFact cublas_fact() {
  if (const std::string why = why_no_cublas(); !why.empty()) return {"cuBLAS", false, why};
  int major = 0, minor = 0, patch = 0;
  cublasGetProperty(MAJOR_VERSION, &major);
  cublasGetProperty(MINOR_VERSION, &minor);
  cublasGetProperty(PATCH_LEVEL, &patch);
  return {"cuBLAS", true, fmt::format("{}.{}.{}", major, minor, patch)};
}

}  // namespace

int gpu_count() {
  int count = 0;
  if (why_no_gpu().empty()) cudaGetDeviceCount(&count);
  return count;
}

std::vector<GpuFact> describe_gpus() {
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  std::vector<GpuFact> facts = {
      driver_fact(), {"CUDA runtime", true, version_text(runtime)}, cublas_fact()};
  for (int device = 0; device < gpu_count(); ++device) {
    cudaDeviceProp properties = {};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    const Card card(device);
    facts.push_back(
        {fmt::format("GPU {}", device), true,
         fmt::format("{}, compute capability {}.{}, {} multiprocessors, {}, ECC {}, MIG {}",
                     properties.name, properties.major, properties.minor,
                     properties.multiProcessorCount,
                     memory_text(card.free_bytes(), properties.totalGlobalMem),
                     properties.ECCEnabled != 0 ? "on" : "off", card.mig())});
  }
  return facts;
}

#endif

}  // namespace assay
