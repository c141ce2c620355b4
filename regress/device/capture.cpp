#include "regress/device/capture.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "kernels/registry.h"
#include "oracle/cuda/cuda_check.h"
#include "oracle/cuda/cuda_driver.h"
#include "regress/code/variables.h"
#include "regress/device/enqueuer.h"
#include "regress/device/probes.h"

namespace assay {
namespace {

// A launch that no recipe can hold; the message says why.
struct NoRecipe : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Graph {
 public:
  Graph(const Variant& variant, const Given& given, cudaStream_t stream) {
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    enqueue_empty_canary(stream);  // so that the first kernel of the launch may start early
    const cudaError_t launched = variant.launch(given, stream, given.workspace);
    const cudaError_t captured = cudaStreamEndCapture(stream, &graph_);
    cudaGetLastError();
    for (const cudaError_t error : {launched, captured}) {
      if (error != cudaSuccess)
        throw NoRecipe(fmt::format("it cannot be captured: {}", cudaGetErrorName(error)));
    }
  }
  ~Graph() { cudaGraphDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  struct Step {
    CUgraphNode node = nullptr;
    bool starts_early = false;  // before the one ahead has ended
  };
  // The nodes of the launch, each after the one that it depends on.
  std::vector<Step> chain() const {
    ASSAY_DRIVER(cuGraphGetNodes);
    ASSAY_DRIVER(cuGraphGetEdges);
    std::size_t count = 0, edge_count = 0;
    driver_check(cuGraphGetNodes_(graph_, nullptr, &count), "cuGraphGetNodes");
    std::vector<CUgraphNode> nodes(count);
    if (count > 0) driver_check(cuGraphGetNodes_(graph_, nodes.data(), &count), "cuGraphGetNodes");
    driver_check(cuGraphGetEdges_(graph_, nullptr, nullptr, nullptr, &edge_count),
                 "cuGraphGetEdges");
    std::vector<CUgraphNode> from(edge_count), to(edge_count);
    std::vector<CUgraphEdgeData> data(edge_count);
    if (edge_count > 0) {
      driver_check(cuGraphGetEdges_(graph_, from.data(), to.data(), data.data(), &edge_count),
                   "cuGraphGetEdges");
    }
    std::map<CUgraphNode, Step> next;
    std::set<CUgraphNode> firsts(nodes.begin(), nodes.end());
    for (std::size_t i = 0; i < edge_count; ++i) {
      const bool early = data[i].type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
      if (early && data[i].from_port != CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC)
        throw NoRecipe("a kernel of it starts as soon as all blocks of the one ahead have");
      const bool forks = !next.emplace(from[i], Step{to[i], early}).second;
      if (forks || firsts.erase(to[i]) == 0) throw NoRecipe("its work forks into several streams");
    }
    if (firsts.size() > 1) throw NoRecipe("its work forks into several streams");
    std::vector<Step> ordered;
    for (CUgraphNode node : firsts) ordered.push_back({node});
    while (ordered.size() < count) ordered.push_back(next.at(ordered.back().node));
    ordered.erase(ordered.begin());  // the empty one
    return ordered;
  }

 private:
  cudaGraph_t graph_ = nullptr;
};

struct Extent {
  std::uint64_t begin = 0, end = 0;
};

ByOperand<Extent> extents_of(const Given& g, std::int64_t workspace_bytes) {
  const auto extent = [](const float* first, std::int64_t rows, std::int64_t columns,
                         std::int64_t ld) {
    const auto begin = reinterpret_cast<std::uint64_t>(first);
    const std::int64_t floats = rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
    return Extent{begin, begin + static_cast<std::uint64_t>(floats) * sizeof(float)};
  };
  const auto workspace = reinterpret_cast<std::uint64_t>(g.workspace);
  return {extent(g.a, g.m, g.k, g.lda), extent(g.b, g.k, g.n, g.ldb), extent(g.c, g.m, g.n, g.ldc),
          Extent{workspace, workspace + static_cast<std::uint64_t>(workspace_bytes)}};
}

struct Place {
  Operand operand;
  std::int64_t displacement;
  bool operator==(const Place&) const = default;
};

std::optional<Place> place_of(std::uint64_t address, const ByOperand<Extent>& extents) {
  for (const Operand o : operands_and_workspace) {
    const Extent& extent = extents[static_cast<std::size_t>(o)];
    if (address >= extent.begin && address < extent.end)
      return Place{o, static_cast<std::int64_t>(address - extent.begin)};
  }
  return std::nullopt;
}

int attribute_of(CUfunction function, CUfunction_attribute attribute) {
  ASSAY_DRIVER(cuFuncGetAttribute);
  int value = 0;
  driver_check(cuFuncGetAttribute_(&value, attribute, function), "cuFuncGetAttribute");
  return value;
}

// The first variable of a kernel's machine code that no longer has the value that it is loaded
// with; empty if there is none, or nobody can tell.
std::string variable_set_up(CUfunction function, const std::string& cubin) {
  ASSAY_DRIVER(cuFuncGetModule);
  ASSAY_DRIVER(cuModuleGetGlobal);
  ASSAY_DRIVER(cuMemcpyDtoH);
  CUmodule module = nullptr;
  const std::vector<Variable> variables = variables_in(cubin);
  if (variables.empty() || cuFuncGetModule_(&module, function) != CUDA_SUCCESS) return "";
  for (const Variable& variable : variables) {
    CUdeviceptr at = 0;
    std::size_t bytes = 0;
    if (cuModuleGetGlobal_(&at, &bytes, module, variable.name.c_str()) != CUDA_SUCCESS) continue;
    std::string now(std::min(bytes, variable.initial.size()), '\0');
    driver_check(cuMemcpyDtoH_(now.data(), at, now.size()), "reading a variable of a kernel");
    if (variable.initial.compare(0, now.size(), now) != 0) return variable_name(variable.name);
  }
  return "";
}

// A baseline launched without it would not be what was accepted.
void refuse_cache_policy(CUgraphNode node, const char* name) {
  ASSAY_DRIVER(cuGraphKernelNodeGetAttribute);
  CUlaunchAttributeValue value = {};
  if (cuGraphKernelNodeGetAttribute_(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value) ==
          CUDA_SUCCESS &&
      value.accessPolicyWindow.num_bytes > 0)
    throw NoRecipe(fmt::format("{} is launched with a policy for the L2 cache", name));
}

CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS& params) {
  if (params.func != nullptr) return params.func;
  ASSAY_DRIVER(cuKernelGetFunction);
  CUfunction function = nullptr;
  driver_check(cuKernelGetFunction_(&function, params.kern), "cuKernelGetFunction");
  return function;
}

void read_attributes(KernelNode& kernel, CUgraphNode node, CUfunction function) {
  ASSAY_DRIVER(cuGraphKernelNodeGetAttribute);
  kernel.most_shared_bytes =
      attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  kernel.shared_carveout =
      attribute_of(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  if (attribute_of(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) != 0)
    throw NoRecipe(fmt::format("its launch allows {} clusters of any size", kernel.kernel));
  CUlaunchAttributeValue value = {};
  if (cuGraphKernelNodeGetAttribute_(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) ==
          CUDA_SUCCESS &&
      value.clusterDim.x > 0)
    kernel.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
  value = {};
  if (cuGraphKernelNodeGetAttribute_(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) == CUDA_SUCCESS)
    kernel.cooperative = value.cooperative != 0;
}

void read_arguments(KernelNode& kernel, const CUDA_KERNEL_NODE_PARAMS& params,
                    CUfunction function) {
  ASSAY_DRIVER(cuFuncGetParamInfo);
  std::size_t at = 0, bytes = 0;
  for (std::size_t i = 0; cuFuncGetParamInfo_(function, i, &at, &bytes) == CUDA_SUCCESS; ++i) {
    kernel.parameters.push_back(
        {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(bytes)});
    if (kernel.arguments.size() < at + bytes) kernel.arguments.resize(at + bytes);
    std::memcpy(kernel.arguments.data() + at, params.kernelParams[i], bytes);
  }
}

// The node with all addresses in its arguments.
KernelNode read_kernel(CUgraphNode node, const ProgramCode& code, std::string& changed_variable) {
  ASSAY_DRIVER(cuGraphKernelNodeGetParams);
  ASSAY_DRIVER(cuFuncGetName);
  CUDA_KERNEL_NODE_PARAMS params = {};
  driver_check(cuGraphKernelNodeGetParams_(node, &params), "cuGraphKernelNodeGetParams");
  const CUfunction function = function_of(params);
  const char* name = nullptr;
  driver_check(cuFuncGetName_(&name, function), "cuFuncGetName");
  const ProgramCode::Kernel* kernel = code.find(name);
  if (kernel == nullptr)
    throw NoRecipe(
        fmt::format("its kernel {:.32}{} is a library's, whose machine code is not stored", name,
                    std::strlen(name) > 32 ? "..." : ""));
  refuse_cache_policy(node, name);

  KernelNode result;
  result.kernel = name;
  result.code = kernel->code.code;
  result.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
  result.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
  result.shared_bytes = params.sharedMemBytes;
  read_attributes(result, node, function);
  read_arguments(result, params, function);
  if (changed_variable.empty())
    changed_variable = variable_set_up(function, code.cubins().at(kernel->cubin));
  return result;
}

bool is_address_on_gpu(std::uint64_t word) {
  ASSAY_DRIVER(cuPointerGetAttribute);
  CUmemorytype type = {};
  return cuPointerGetAttribute_(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                static_cast<CUdeviceptr>(word)) == CUDA_SUCCESS;
}

// Marks the addresses in which two captures differ, and clears them. An address that does not
// differ belongs to the variant, and means nothing in another process.
void mark_pointers(KernelNode& node, const KernelNode& other, const ByOperand<Extent>& here,
                   const ByOperand<Extent>& there) {
  for (const Parameter& parameter : node.parameters) {
    const std::uint32_t end = parameter.at + parameter.bytes;
    for (std::uint32_t at = parameter.at; at < end; at += 8) {
      const std::uint32_t width = std::min<std::uint32_t>(8, end - at);
      std::uint64_t mine = 0, its = 0;
      std::memcpy(&mine, &node.arguments[at], width);
      std::memcpy(&its, &other.arguments[at], width);
      if (mine == its && !(width == 8 && is_address_on_gpu(mine))) continue;
      const auto place = width == 8 ? place_of(mine, here) : std::nullopt;
      if (!place || place != place_of(its, there)) {
        throw NoRecipe(
            fmt::format("byte {} of the arguments of {} is an address of something other "
                        "than an operand or the workspace",
                        at, node.kernel));
      }
      node.pointers.push_back({at, place->operand, place->displacement});
      std::memset(&node.arguments[at], 0, 8);
    }
  }
}

MemsetNode read_memset(CUgraphNode node, const ByOperand<Extent>& extents) {
  ASSAY_DRIVER(cuGraphMemsetNodeGetParams);
  CUDA_MEMSET_NODE_PARAMS params = {};
  driver_check(cuGraphMemsetNodeGetParams_(node, &params), "cuGraphMemsetNodeGetParams");
  const auto place = place_of(params.dst, extents);
  if (!place) throw NoRecipe("it sets memory that is no operand");
  return {place->operand, place->displacement, params.value, params.elementSize,
          params.width,   params.height,       params.pitch};
}

CUgraphNodeType type_of(CUgraphNode node) {
  ASSAY_DRIVER(cuGraphNodeGetType);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  driver_check(cuGraphNodeGetType_(node, &type), "cuGraphNodeGetType");
  return type;
}

// The faster of two launches as usual, in microseconds: the first one may set up what it keeps,
// such as a library's handle.
double first_launches(const Variant& variant, const Given& given, cudaStream_t stream) {
  double least_us = HUGE_VAL;
  for (int i = 0; i < 2; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (const cudaError_t error = variant.launch(given, stream, given.workspace);
        error != cudaSuccess)
      throw NoRecipe(fmt::format("its launch fails: {}", cudaGetErrorName(error)));
    cuda_check(cudaStreamSynchronize(stream), "a launch");
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    least_us = std::min(least_us, taken.count());
  }
  return least_us;
}

Recipe recipe_of_two(const Variant& variant, const Given& one, const Given& other,
                     const ProgramCode& code, cudaStream_t stream, std::string& changed_variable) {
  const Graph first(variant, one, stream), second(variant, other, stream);
  const auto nodes = first.chain(), others = second.chain();
  Recipe recipe{.workspace_bytes = workspace_of(variant, one)};
  const auto here = extents_of(one, recipe.workspace_bytes),
             there = extents_of(other, recipe.workspace_bytes);
  if (nodes.size() != others.size()) throw NoRecipe("it does not enqueue the same work twice");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const CUgraphNode one_node = nodes[i].node, other_node = others[i].node;
    switch (type_of(one_node)) {
      case CU_GRAPH_NODE_TYPE_KERNEL: {
        if (type_of(other_node) != CU_GRAPH_NODE_TYPE_KERNEL)
          throw NoRecipe("it does not enqueue the same work twice");
        KernelNode node = read_kernel(one_node, code, changed_variable);
        const KernelNode its = read_kernel(other_node, code, changed_variable);
        node.starts_early = nodes[i].starts_early;
        if (node.kernel != its.kernel || node.grid != its.grid)
          throw NoRecipe("it does not enqueue the same work twice");
        mark_pointers(node, its, here, there);
        recipe.nodes.push_back(std::move(node));
        break;
      }
      case CU_GRAPH_NODE_TYPE_MEMSET: recipe.nodes.push_back(read_memset(one_node, here)); break;
      default: throw NoRecipe("it enqueues something other than kernels and memsets");
    }
  }
  if (recipe.nodes.empty()) throw NoRecipe("it enqueues nothing");
  return recipe;
}

// The one cubin that all kernels of a recipe are in; empty if there are no kernels.
std::string cubin_of(const Recipe& recipe, const ProgramCode& code) {
  std::set<std::string> cubins;
  for (const Node& node : recipe.nodes) {
    if (const auto* kernel = std::get_if<KernelNode>(&node))
      cubins.insert(code.find(kernel->kernel)->cubin);
  }
  if (cubins.size() > 1) throw NoRecipe("its kernels are not all compiled from one file");
  return cubins.empty() ? "" : *cubins.begin();
}

}  // namespace

Captured capture(const Variant& variant, const Gemm& one, const Gemm& other,
                 const ProgramCode& code, cudaStream_t stream) {
  Captured captured;
  try {
    if (variant.in_legacy_stream)
      throw NoRecipe("it launches in the legacy stream, which cannot be captured");
    DeviceWorkspace here, there;
    here.hold(workspace_of(variant, one)), there.hold(workspace_of(variant, other));
    const Given first{one, here.first()}, second{other, there.first()};
    captured.first_us = first_launches(variant, first, stream);
    captured.recipe =
        recipe_of_two(variant, first, second, code, stream, captured.changed_variable);
    captured.cubin = cubin_of(captured.recipe, code);
  } catch (const NoRecipe& error) {
    captured = {.why_not = error.what()};
  } catch (const NoDeviceMemory& error) {
    cudaGetLastError();
    captured = {.why_not = fmt::format("its workspace cannot be had: {}", error.what())};
  }
  return captured;
}

}  // namespace assay
