#include "oracle/gpus.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "oracle/cuda/nvml.h"

namespace assay {
namespace {

std::string version_text(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string memory_text(std::optional<std::uint64_t> free_bytes, std::uint64_t all_bytes) {
  const double all = static_cast<double>(all_bytes) / 0x1p30;
  if (!free_bytes) return fmt::format("{:.1f} GiB", all);
  return fmt::format("{:.1f} of {:.1f} GiB free", static_cast<double>(*free_bytes) / 0x1p30, all);
}

int compute_capability(int device) {
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return 10 * major + minor;
}

// 0 where there is no GPU.
template <class Of>
auto least_of_gpus(const Of& of) {
  const int count = gpu_count();
  auto least = count > 0 ? of(0) : 0;
  for (int device = 1; device < count; ++device) least = std::min(least, of(device));
  return least;
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

std::string why_no_gpu() {
  // Checked first, because the driver takes long to find out.
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible && *visible == '\0')
    return "CUDA_VISIBLE_DEVICES is empty, which hides every GPU";
  int count = 0, driver = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();
  cudaDriverGetVersion(&driver);
  if (driver == 0) return "there is no NVIDIA driver";
  if (error != cudaSuccess) return fmt::format("no GPU can be used: {}", cudaGetErrorString(error));
  if (count == 0) return "there is no GPU";
  for (int device = 0; device < count; ++device) {
    const int capability = compute_capability(device);
    if (runs_on(capability, ASSAY_ARCHITECTURES)) continue;
    return fmt::format(
        "GPU {} is sm_{}, and this build is for {}: configure with -DCMAKE_CUDA_ARCHITECTURES={}, "
        "or hide it by CUDA_VISIBLE_DEVICES",
        device, capability, ASSAY_ARCHITECTURES, capability);
  }
  return "";
}

int gpu_count() {
  int count = 0;
  if (why_no_gpu().empty()) cudaGetDeviceCount(&count);
  return count;
}

int least_compute_capability() { return least_of_gpus(compute_capability); }

double least_free_gibibytes() {
  return least_of_gpus([](int device) {
    cudaDeviceProp properties = {};
    cudaGetDeviceProperties(&properties, device);
    const auto bytes = Card(device).free_bytes().value_or(properties.totalGlobalMem);
    return static_cast<double>(bytes) / 0x1p30;
  });
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

}  // namespace assay
