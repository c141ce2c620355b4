// Launches, attributes of kernels, occupancy.
#include "ptx/runtime/cudart/attributes.h"
#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

ptx::runtime::Configuration configuration(dim3 grid, dim3 block, size_t shared,
                                          cudaStream_t stream) {
  return {.grid = as_dim(grid), .block = as_dim(block), .dynamic_shared = shared, .stream = stream};
}

// Attributes that say how memory is cached change nothing here, but may be refused.
bool are_valid(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeAccessPolicyWindow &&
        !is_valid(config.attrs[i].val.accessPolicyWindow))
      return false;
  return true;
}
ptx::runtime::Configuration configuration(const cudaLaunchConfig_t& config) {
  rt::Configuration asked =
      configuration(config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream);
  for (unsigned i = 0; i < config.numAttrs; ++i)
    set_attribute(asked, config.attrs[i].id, config.attrs[i].val);
  return asked;
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return as_cuda(rt::launch(kernel, configuration(grid, block, shared, stream), arguments));
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared, cudaStream_t stream) {
  rt::Configuration asked = configuration(grid, block, shared, stream);
  asked.cooperative = true;
  return as_cuda(rt::launch(kernel, asked, arguments));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  if (config == nullptr || !are_valid(*config)) return invalid_value();
  return as_cuda(rt::launch(kernel, configuration(*config), arguments));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (function == nullptr) return invalid_value();
  return as_cuda(rt::call_host(
      stream, [=] { function(data); }, data, reinterpret_cast<const void*>(function)));
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  if (kernel == nullptr) return invalid_value();
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(stub));
  return as_cuda(rt::find_kernel(stub));
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return name == nullptr ? invalid_value() : as_cuda(rt::name_of_kernel(kernel, *name));
}

cudaError_t cudaFuncGetParamInfo(const void* kernel, size_t index, size_t* offset, size_t* size) {
  ptx::ParamPlace place;
  const ptx::Error error = rt::parameter_of(kernel, index, place);
  if (offset != nullptr) *offset = place.at;
  if (size != nullptr) *size = place.bytes;
  return as_cuda(error);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* result, const void* kernel) {
  if (result == nullptr) return invalid_value();
  rt::KernelAttributes known;
  const ptx::Error error = rt::attributes_of(kernel, known);
  if (error != ptx::Error::success) return as_cuda(error);
  *result = {};
  result->sharedSizeBytes = known.facts.static_shared;
  result->localSizeBytes = known.facts.local;
  result->maxThreadsPerBlock = static_cast<int>(known.facts.max_threads);
  result->numRegs = known.registers;
  result->ptxVersion = known.ptx_version;
  result->binaryVersion = known.binary_version;
  result->maxDynamicSharedSizeBytes = static_cast<int>(known.max_dynamic_shared);
  result->preferredShmemCarveout = known.carveout;
  result->clusterDimMustBeSet = known.facts.cluster.count() != 0;
  result->requiredClusterWidth = static_cast<int>(known.cluster.x);
  result->requiredClusterHeight = static_cast<int>(known.cluster.y);
  result->requiredClusterDepth = static_cast<int>(known.cluster.z);
  result->nonPortableClusterSizeAllowed = known.allows_large_clusters;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      return as_cuda(rt::allow_dynamic_shared(kernel, value));
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      return as_cuda(rt::set_carveout(kernel, value));
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      return as_cuda(rt::allow_large_clusters(kernel, value != 0));
    case cudaFuncAttributeRequiredClusterWidth:
      return as_cuda(rt::require_cluster(kernel, 0, value));
    case cudaFuncAttributeRequiredClusterHeight:
      return as_cuda(rt::require_cluster(kernel, 1, value));
    case cudaFuncAttributeRequiredClusterDepth:
      return as_cuda(rt::require_cluster(kernel, 2, value));
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return as_cuda(rt::find_kernel(kernel));
    default: return as_cuda(rt::not_supported("cudaFuncSetAttribute with such an attribute"));
  }
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int) {
  return cudaFuncSetAttribute(kernel, attribute, value);
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache) {
  return as_cuda(rt::find_kernel(kernel));
}

cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig) {
  return as_cuda(rt::find_kernel(kernel));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int threads, size_t shared,
                                                                   unsigned) {
  if (blocks == nullptr) return invalid_value();
  return as_cuda(rt::occupancy(kernel, threads, shared, *blocks));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared, 0);
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  if (clusters == nullptr || config == nullptr) return invalid_value();
  return as_cuda(rt::clusters_that_fit(kernel, configuration(*config), *clusters));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel,
                                                 const cudaLaunchConfig_t* config) {
  if (blocks == nullptr || config == nullptr) return invalid_value();
  return as_cuda(rt::largest_cluster(kernel, configuration(*config), *blocks));
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int blocks,
                                                      int threads) {
  if (bytes == nullptr) return invalid_value();
  return as_cuda(rt::dynamic_shared_for(kernel, blocks, threads, *bytes));
}

}  // extern "C"

PTX_PER_THREAD_STREAM(cudaLaunchKernel);
PTX_PER_THREAD_STREAM(cudaLaunchKernelExC);
PTX_PER_THREAD_STREAM(cudaLaunchCooperativeKernel);
PTX_PER_THREAD_STREAM(cudaLaunchHostFunc);
