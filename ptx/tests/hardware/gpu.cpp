#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

#include "ptx/tests/hardware/devices.h"
#include "ptx/tests/hardware/kernels.h"
#include "ptx/tests/hardware/values.h"

namespace ptx::hardware {
namespace {

using std::uint64_t;

// The functions of NVIDIA's driver that this needs, found when they are called.
class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
    if (library_ == nullptr) throw std::runtime_error("there is no driver here: libcuda.so.1");
  }
  template <class... Arguments>
  void call(const char* function, Arguments... arguments) {
    const auto address = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, function));
    if (address == nullptr) throw std::runtime_error(fmt::format("the driver lacks {}", function));
    if (const int error = address(arguments...); error != 0)
      throw std::runtime_error(fmt::format("{} failed with error {}", function, error));
  }

 private:
  void* library_;
};

class Gpu : public Device {
 public:
  explicit Gpu(const std::string& code) {
    driver_.call("cuInit", 0u);
    driver_.call("cuDeviceGet", &device_, 0);
    driver_.call("cuDevicePrimaryCtxRetain", &context_, device_);
    driver_.call("cuCtxSetCurrent", context_);
    driver_.call("cuModuleLoadData", &module_, static_cast<const void*>(code.c_str()));
  }
  std::string name() const override {
    char text[256] = {};
    int version = 0;
    driver_.call("cuDeviceGetName", static_cast<char*>(text), 256, device_);
    driver_.call("cuDriverGetVersion", &version);
    return fmt::format("{}, driver for CUDA {}.{}", text, version / 1000, version % 1000 / 10);
  }
  std::vector<uint64_t> run(const std::string& kernel,
                            const std::vector<uint64_t>& operands) override {
    std::vector<uint64_t> results(operands.size() / most_operands);
    make_room(operands.size());
    void* function = nullptr;
    driver_.call("cuModuleGetFunction", &function, module_, kernel.c_str());
    driver_.call("cuMemcpyHtoD_v2", in_, static_cast<const void*>(operands.data()),
                 operands.size() * 8);
    uint64_t count = results.size();
    void* params[] = {&in_, &out_, &count};
    const auto blocks = static_cast<unsigned>(count / threads_per_block);
    driver_.call("cuLaunchKernel", function, blocks, 1u, 1u, threads_per_block, 1u, 1u, 0u,
                 static_cast<void*>(nullptr), static_cast<void**>(params),
                 static_cast<void**>(nullptr));
    driver_.call("cuMemcpyDtoH_v2", static_cast<void*>(results.data()), out_, count * 8);
    return results;
  }

 private:
  void make_room(std::size_t words) {
    if (in_ != 0) return;
    driver_.call("cuMemAlloc_v2", &in_, words * 8);
    driver_.call("cuMemAlloc_v2", &out_, words * 8);
  }
  mutable Driver driver_;
  int device_ = 0;
  void *context_ = nullptr, *module_ = nullptr;
  uint64_t in_ = 0, out_ = 0;
};

}  // namespace

std::unique_ptr<Device> gpu_of(const std::string& code) { return std::make_unique<Gpu>(code); }

}  // namespace ptx::hardware
