#include "regress/device/enqueuer.h"

#include <cstring>

#include "kernels/registry.h"
#include "oracle/cuda/cuda_check.h"
#include "oracle/cuda/cuda_driver.h"

namespace assay {
namespace {

CUdeviceptr address_of(const Given& g, Operand o, std::int64_t displacement) {
  const void* const first = o == Operand::a   ? g.a
                            : o == Operand::b ? g.b
                            : o == Operand::c ? g.c
                                              : g.workspace;
  return reinterpret_cast<CUdeviceptr>(first) + static_cast<CUdeviceptr>(displacement);
}

class Module {
 public:
  explicit Module(const std::string& cubin) {
    ASSAY_DRIVER(cuModuleLoadData);
    driver_check(cuModuleLoadData_(&module_, cubin.data()), "loading a kernel's machine code");
  }
  ~Module() {
    ASSAY_DRIVER(cuModuleUnload);
    cuModuleUnload_(module_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  CUfunction function(const KernelNode& node) const {
    ASSAY_DRIVER(cuModuleGetFunction);
    ASSAY_DRIVER(cuFuncSetAttribute);
    CUfunction function = nullptr;
    driver_check(cuModuleGetFunction_(&function, module_, node.kernel.c_str()),
                 "finding a kernel in its machine code");
    const auto set = [&](CUfunction_attribute attribute, int value) {
      driver_check(cuFuncSetAttribute_(function, attribute, value), "cuFuncSetAttribute");
    };
    set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, node.most_shared_bytes);
    set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, node.shared_carveout);
    return function;
  }

 private:
  CUmodule module_ = nullptr;
};

class LoadedKernel {
 public:
  LoadedKernel(const KernelNode& node, const Module& module)
      : node_(node), function_(module.function(node)) {
    for (const Parameter& parameter : node_.parameters)
      parameters_.push_back(node_.arguments.data() + parameter.at);
  }
  LoadedKernel(LoadedKernel&&) = default;

  void enqueue(const Given& gemm, cudaStream_t stream) {
    ASSAY_DRIVER(cuLaunchKernelEx);
    for (const Pointer& pointer : node_.pointers) {
      const CUdeviceptr address = address_of(gemm, pointer.operand, pointer.displacement);
      std::memcpy(&node_.arguments[pointer.at], &address, sizeof address);
    }
    std::array<CUlaunchAttribute, 3> attributes = {};  // config points at them
    CUlaunchConfig config = {};
    config.gridDimX = node_.grid[0], config.gridDimY = node_.grid[1];
    config.gridDimZ = node_.grid[2];
    config.blockDimX = node_.block[0], config.blockDimY = node_.block[1];
    config.blockDimZ = node_.block[2];
    config.sharedMemBytes = node_.shared_bytes;
    config.hStream = stream;
    config.attrs = attributes.data();
    if (node_.cluster != std::array<unsigned, 3>{1, 1, 1}) {
      CUlaunchAttribute& cluster = attributes[config.numAttrs++];
      cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      cluster.value.clusterDim = {node_.cluster[0], node_.cluster[1], node_.cluster[2]};
    }
    if (node_.cooperative) {
      CUlaunchAttribute& cooperative = attributes[config.numAttrs++];
      cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      cooperative.value.cooperative = 1;
    }
    if (node_.starts_early) {
      CUlaunchAttribute& early = attributes[config.numAttrs++];
      early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      early.value.programmaticStreamSerializationAllowed = 1;
    }
    driver_check(cuLaunchKernelEx_(&config, function_, parameters_.data(), nullptr),
                 "launching a recipe");
  }

 private:
  KernelNode node_;
  CUfunction function_;
  std::vector<void*> parameters_;
};

void enqueue_memset(const MemsetNode& node, const Given& gemm, cudaStream_t stream) {
  ASSAY_DRIVER(cuMemsetD2D8Async);
  ASSAY_DRIVER(cuMemsetD2D16Async);
  ASSAY_DRIVER(cuMemsetD2D32Async);
  const CUdeviceptr to = address_of(gemm, node.operand, node.displacement);
  const std::size_t pitch = node.height > 1 ? node.pitch : node.width * node.element_bytes;
  const CUresult result =
      node.element_bytes == 1
          ? cuMemsetD2D8Async_(to, pitch, static_cast<unsigned char>(node.value), node.width,
                               node.height, stream)
      : node.element_bytes == 2
          ? cuMemsetD2D16Async_(to, pitch, static_cast<unsigned short>(node.value), node.width,
                                node.height, stream)
          : cuMemsetD2D32Async_(to, pitch, node.value, node.width, node.height, stream);
  driver_check(result, "a memset of a recipe");
}

class LoadedRecipe : public Enqueuer {
 public:
  LoadedRecipe(const Recipe& recipe, const std::string& cubin) {
    workspace_.hold(recipe.workspace_bytes);
    for (const Node& node : recipe.nodes) {
      if (const auto* memset = std::get_if<MemsetNode>(&node)) {
        steps_.push_back(*memset);
        continue;
      }
      if (!module_) module_ = std::make_unique<Module>(cubin);
      steps_.push_back(LoadedKernel(std::get<KernelNode>(node), *module_));
    }
  }

  void enqueue(const Gemm& gemm, cudaStream_t stream) override {
    const Given given{gemm, workspace_.first()};
    for (auto& step : steps_) {
      if (auto* kernel = std::get_if<LoadedKernel>(&step)) {
        kernel->enqueue(given, stream);
      } else {
        enqueue_memset(std::get<MemsetNode>(step), given, stream);
      }
    }
  }

 private:
  DeviceWorkspace workspace_;
  std::unique_ptr<Module> module_;
  std::vector<std::variant<LoadedKernel, MemsetNode>> steps_;
};

class DirectLaunch : public Enqueuer {
 public:
  explicit DirectLaunch(const Variant& variant) : variant_(variant) {}
  void enqueue(const Gemm& gemm, cudaStream_t stream) override {
    workspace_.hold(workspace_of(variant_, gemm));
    cuda_check(variant_.launch(gemm, stream, workspace_.first()), variant_.name);
  }

 private:
  const Variant variant_;
  DeviceWorkspace workspace_;
};

}  // namespace

void DeviceWorkspace::hold(std::int64_t bytes) {
  const bool suffices =
      bytes <= 0 || (memory_ && static_cast<std::size_t>(bytes) <= memory_->bytes());
  if (suffices) return;
  memory_ = std::make_unique<DeviceArray<std::byte>>(bytes);
  cuda_check(cudaMemset(memory_->get(), 0xff, memory_->bytes()), "poisoning a workspace");
  cuda_check(cudaDeviceSynchronize(), "poisoning a workspace");
}

std::unique_ptr<Enqueuer> load(const Recipe& recipe, const std::string& cubin) {
  return std::make_unique<LoadedRecipe>(recipe, cubin);
}

std::unique_ptr<Enqueuer> direct(const Variant& variant) {
  return std::make_unique<DirectLaunch>(variant);
}

}  // namespace assay
