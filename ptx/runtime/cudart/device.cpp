// The device and its properties, versions and errors.
#include <algorithm>
#include <cstring>
#include <string>

#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;
using ptx::Error;
using ptx::Model;

// ptx/runtime/errors.h has NVIDIA's numbers.
#define PTX_SAME(ours, theirs) static_assert(static_cast<int>(Error::ours) == theirs)
PTX_SAME(success, cudaSuccess);
PTX_SAME(invalid_value, cudaErrorInvalidValue);
PTX_SAME(memory_allocation, cudaErrorMemoryAllocation);
PTX_SAME(invalid_configuration, cudaErrorInvalidConfiguration);
PTX_SAME(invalid_symbol, cudaErrorInvalidSymbol);
PTX_SAME(invalid_channel_descriptor, cudaErrorInvalidChannelDescriptor);
PTX_SAME(invalid_filter_setting, cudaErrorInvalidFilterSetting);
PTX_SAME(invalid_norm_setting, cudaErrorInvalidNormSetting);
PTX_SAME(invalid_memcpy_direction, cudaErrorInvalidMemcpyDirection);
PTX_SAME(missing_configuration, cudaErrorMissingConfiguration);
PTX_SAME(invalid_device_function, cudaErrorInvalidDeviceFunction);
PTX_SAME(invalid_device, cudaErrorInvalidDevice);
PTX_SAME(no_kernel_image_for_device, cudaErrorNoKernelImageForDevice);
PTX_SAME(invalid_ptx, cudaErrorInvalidPtx);
PTX_SAME(unsupported_ptx_version, cudaErrorUnsupportedPtxVersion);
PTX_SAME(invalid_resource_handle, cudaErrorInvalidResourceHandle);
PTX_SAME(illegal_address, cudaErrorIllegalAddress);
PTX_SAME(launch_timeout, cudaErrorLaunchTimeout);
PTX_SAME(cooperative_launch_too_large, cudaErrorCooperativeLaunchTooLarge);
PTX_SAME(host_memory_already_registered, cudaErrorHostMemoryAlreadyRegistered);
PTX_SAME(host_memory_not_registered, cudaErrorHostMemoryNotRegistered);
PTX_SAME(illegal_instruction, cudaErrorIllegalInstruction);
PTX_SAME(misaligned_address, cudaErrorMisalignedAddress);
PTX_SAME(launch_failure, cudaErrorLaunchFailure);
PTX_SAME(not_supported, cudaErrorNotSupported);
PTX_SAME(invalid_cluster_size, cudaErrorInvalidClusterSize);

namespace {

// Its share of what the model has, where the device is a part of that.
int cache_of_device(std::int64_t whole) {
  const std::int64_t all = rt::model().multiprocessors;
  return static_cast<int>(whole * std::min<std::int64_t>(rt::tell_multiprocessors(), all) / all);
}

// What a driver says of the device; 0 for what it lacks.
int value_of(cudaDeviceAttr attribute, const Model& model) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return static_cast<int>(Model::max_threads);
    case cudaDevAttrMaxBlockDimZ: return static_cast<int>(Model::max_block_z);
    case cudaDevAttrMaxGridDimX: return static_cast<int>(Model::max_grid_x);
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return static_cast<int>(Model::max_grid_yz);
    case cudaDevAttrMaxSharedMemoryPerBlock: return static_cast<int>(Model::shared_per_block);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(model.shared_optin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(model.shared_per_multiprocessor);
    case cudaDevAttrReservedSharedMemoryPerBlock: return static_cast<int>(Model::reserved_shared);
    case cudaDevAttrTotalConstantMemory: return Model::constants;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMaxPitch: return 2147483647;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return Model::registers;
    case cudaDevAttrClockRate: return model.clock_khz;
    case cudaDevAttrMemoryClockRate: return model.memory_clock_khz;
    case cudaDevAttrGlobalMemoryBusWidth: return model.bus_bits;
    case cudaDevAttrL2CacheSize: return cache_of_device(model.l2);
    case cudaDevAttrMaxPersistingL2CacheSize: return cache_of_device(model.persisting_l2);
    case cudaDevAttrMaxAccessPolicyWindowSize: return ptx::Model::access_window;
    case cudaDevAttrMultiProcessorCount: return rt::tell_multiprocessors();
    case cudaDevAttrMaxThreadsPerMultiProcessor: return model.threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return model.blocks_per_multiprocessor;
    case cudaDevAttrComputeCapabilityMajor: return model.major;
    case cudaDevAttrComputeCapabilityMinor: return model.minor;
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment: return 512;
    case cudaDevAttrTexturePitchAlignment: return 32;
    case cudaDevAttrMaxTexture1DWidth:
    case cudaDevAttrMaxTexture2DWidth:
    case cudaDevAttrMaxTexture2DLinearWidth: return 131072;
    case cudaDevAttrMaxTexture2DHeight: return 65536;
    case cudaDevAttrMaxTexture2DLinearHeight: return 65000;
    case cudaDevAttrMaxTexture2DLinearPitch: return 2097120;
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return model.minor == 9 ? 64 : 2;
    case cudaDevAttrMemSyncDomainCount: return model.major >= 9 ? 4 : 1;
    case cudaDevAttrHostNumaId: return -1;
    case cudaDevAttrClusterLaunch: return model.major >= 9;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported: return 1;
    default: return 0;
  }
}

void describe(cudaDeviceProp& result, const Model& model) {
  const auto value = [&](cudaDeviceAttr attribute) { return value_of(attribute, model); };
  model.full_name.copy(result.name, sizeof result.name - 1);
  result.totalGlobalMem = model.memory;
  result.sharedMemPerBlock = Model::shared_per_block;
  result.sharedMemPerBlockOptin = model.shared_optin;
  result.sharedMemPerMultiprocessor = model.shared_per_multiprocessor;
  result.reservedSharedMemPerBlock = Model::reserved_shared;
  result.regsPerBlock = result.regsPerMultiprocessor = Model::registers;
  result.warpSize = 32;
  result.memPitch = 2147483647;
  result.maxThreadsPerBlock = static_cast<int>(Model::max_threads);
  result.maxThreadsDim[0] = result.maxThreadsDim[1] = static_cast<int>(Model::max_threads);
  result.maxThreadsDim[2] = static_cast<int>(Model::max_block_z);
  result.maxGridSize[0] = static_cast<int>(Model::max_grid_x);
  result.maxGridSize[1] = result.maxGridSize[2] = static_cast<int>(Model::max_grid_yz);
  result.totalConstMem = Model::constants;
  result.major = model.major;
  result.minor = model.minor;
  result.textureAlignment = result.surfaceAlignment = 512;
  result.texturePitchAlignment = 32;
  result.maxTexture1D = value(cudaDevAttrMaxTexture1DWidth);
  result.maxTexture2D[0] = value(cudaDevAttrMaxTexture2DWidth);
  result.maxTexture2D[1] = value(cudaDevAttrMaxTexture2DHeight);
  result.maxTexture2DLinear[0] = value(cudaDevAttrMaxTexture2DLinearWidth);
  result.maxTexture2DLinear[1] = value(cudaDevAttrMaxTexture2DLinearHeight);
  result.maxTexture2DLinear[2] = value(cudaDevAttrMaxTexture2DLinearPitch);
  result.multiProcessorCount = rt::tell_multiprocessors();
  result.maxThreadsPerMultiProcessor = model.threads_per_multiprocessor;
  result.maxBlocksPerMultiProcessor = model.blocks_per_multiprocessor;
  result.memoryBusWidth = model.bus_bits;
  result.l2CacheSize = cache_of_device(model.l2);
  result.persistingL2CacheMaxSize = cache_of_device(model.persisting_l2);
  result.accessPolicyMaxWindowSize = ptx::Model::access_window;
  result.asyncEngineCount = 3;
  result.canMapHostMemory = result.concurrentKernels = result.unifiedAddressing = 1;
  result.streamPrioritiesSupported = result.globalL1CacheSupported = 1;
  result.localL1CacheSupported = result.managedMemory = result.concurrentManagedAccess = 1;
  result.computePreemptionSupported = result.canUseHostPointerForRegisteredMem = 1;
  result.cooperativeLaunch = result.hostRegisterSupported = result.memoryPoolsSupported = 1;
  result.clusterLaunch = value(cudaDevAttrClusterLaunch);
  result.hostNumaId = -1;
}

cudaError_t invalid_device() { return as_cuda(rt::fail(Error::invalid_device)); }

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return invalid_value();
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return invalid_value();
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return as_cuda(rt::set_device(device)); }
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
cudaError_t cudaSetValidDevices(int*, int) { return cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return invalid_value();
  *flags = cudaDeviceScheduleAuto;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return invalid_device();
  if (value == nullptr || attribute < 1 || attribute >= cudaDevAttrMax) return invalid_value();
  *value = value_of(attribute, rt::model());
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* result, int device) {
  if (device != 0) return invalid_device();
  if (result == nullptr) return invalid_value();
  *result = {};
  describe(*result, rt::model());
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* result, int length, int device) {
  static constexpr char id[] = "0000:00:00.0";
  if (device != 0) return invalid_device();
  if (result == nullptr || length < static_cast<int>(sizeof id)) return invalid_value();
  std::memcpy(result, id, sizeof id);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* result, int, int) {
  if (result == nullptr) return invalid_value();
  *result = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return invalid_device(); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return invalid_device(); }

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return as_cuda(rt::set_limit(limit, value));
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return value == nullptr ? invalid_value() : as_cuda(rt::get_limit(limit, *value));
}

// Hints.
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (config == nullptr) return invalid_value();
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaDeviceSynchronize() { return as_cuda(rt::synchronize()); }
cudaError_t cudaDeviceReset() { return as_cuda(rt::reset()); }

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return invalid_value();
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaGetLastError() { return as_cuda(rt::take_last_error()); }
cudaError_t cudaPeekAtLastError() { return as_cuda(rt::peek_last_error()); }
const char* cudaGetErrorName(cudaError_t error) { return name_of(static_cast<Error>(error)); }
const char* cudaGetErrorString(cudaError_t error) { return text_of(static_cast<Error>(error)); }

}  // extern "C"
