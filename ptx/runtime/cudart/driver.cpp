// The functions of the driver that programs ask the runtime for: they make tensor maps, map memory
// and launch.
#include <cuda.h>

#include <array>
#include <string_view>
#include <utility>

#include "ptx/machine/async/tensor_map.h"
#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;
using ptx::Error;

static_assert(sizeof(CUtensorMap) == ptx::TensorMap::bytes);
static_assert(static_cast<int>(Error::invalid_value) == CUDA_ERROR_INVALID_VALUE);
static_assert(static_cast<int>(Error::not_supported) == CUDA_ERROR_NOT_SUPPORTED);

namespace {

int bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32: return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 8;
    default: return 0;
  }
}

bool is_real(CUtensorMapDataType type) {
  return type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ||
         type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 || type == CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
}

int bytes_of(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE: return 0;
    case CU_TENSOR_MAP_SWIZZLE_32B: return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B: return 128;
    default: return -1;
  }
}

CUresult as_driver(Error error) { return static_cast<CUresult>(error); }
void* place(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}
bool is_of_device(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0;
}

}  // namespace

CUresult cuMemGetAllocationGranularity(size_t* grain, const CUmemAllocationProp* asked,
                                       CUmemAllocationGranularity_flags) {
  if (grain == nullptr || asked == nullptr || !is_of_device(asked->location))
    return CUDA_ERROR_INVALID_VALUE;
  *grain = rt::mapping_grain;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* first, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  void* got = nullptr;
  if (first == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Error error = rt::reserve_addresses(&got, bytes, alignment);
  if (error == Error::success)
    *first = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(got));
  return as_driver(error);
}
CUresult cuMemAddressFree(CUdeviceptr first, size_t bytes) {
  return as_driver(rt::free_addresses(place(first), bytes));
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* asked, unsigned long long flags) {
  if (handle == nullptr || asked == nullptr || flags != 0 ||
      asked->type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (asked->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return as_driver(rt::not_supported("cuMemCreate of memory that is shared"));
  if (!is_of_device(asked->location))
    return as_driver(rt::not_supported("cuMemCreate of memory that is not of device 0"));
  return as_driver(rt::create_physical(*handle, bytes));
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return as_driver(rt::release_physical(handle));
}
CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return as_driver(rt::map_physical(place(at), bytes, offset, handle));
}
CUresult cuMemUnmap(CUdeviceptr at, size_t bytes) {
  return as_driver(rt::unmap_physical(place(at), bytes));
}
CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc* asked, size_t count) {
  if (asked == nullptr || count != 1 || !is_of_device(asked->location))
    return CUDA_ERROR_INVALID_VALUE;
  if (asked->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
    return as_driver(rt::not_supported("cuMemSetAccess for reading alone"));
  return as_driver(
      rt::allow_access(place(at), bytes, asked->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  const ptx::runtime::Tensor tensor{.element_bytes = bytes_of(type),
                                    .is_real = is_real(type),
                                    .dimensions = rank,
                                    .address = address,
                                    .sizes = sizes,
                                    .strides = strides,
                                    .box = box,
                                    .steps = steps,
                                    .swizzled_bytes = bytes_of(swizzle),
                                    .is_plain = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
                                                bytes_of(swizzle) >= 0 &&
                                                fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE};
  return static_cast<CUresult>(ptx::runtime::encode_tensor_map(map, tensor));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  if (name == nullptr || function == nullptr) return invalid_value();
  *function = nullptr;
  if (result != nullptr) *result = cudaDriverEntryPointSymbolNotFound;
  const std::array all = {
      std::pair("cuLaunchKernel", reinterpret_cast<void*>(&cuLaunchKernel)),
      std::pair("cuModuleGetFunction", reinterpret_cast<void*>(&cuModuleGetFunction)),
      std::pair("cuModuleLoadData", reinterpret_cast<void*>(&cuModuleLoadData)),
      std::pair("cuModuleUnload", reinterpret_cast<void*>(&cuModuleUnload)),
      std::pair("cuMemAddressFree", reinterpret_cast<void*>(&cuMemAddressFree)),
      std::pair("cuMemAddressReserve", reinterpret_cast<void*>(&cuMemAddressReserve)),
      std::pair("cuMemCreate", reinterpret_cast<void*>(&cuMemCreate)),
      std::pair("cuMemGetAllocationGranularity",
                reinterpret_cast<void*>(&cuMemGetAllocationGranularity)),
      std::pair("cuMemMap", reinterpret_cast<void*>(&cuMemMap)),
      std::pair("cuMemRelease", reinterpret_cast<void*>(&cuMemRelease)),
      std::pair("cuMemSetAccess", reinterpret_cast<void*>(&cuMemSetAccess)),
      std::pair("cuMemUnmap", reinterpret_cast<void*>(&cuMemUnmap)),
      std::pair("cuTensorMapEncodeTiled", reinterpret_cast<void*>(&cuTensorMapEncodeTiled))};
  for (const auto& [known, its] : all)
    if (std::string_view(name) == known) *function = its;
  if (*function == nullptr) return as_cuda(rt::not_supported(name));
  if (result != nullptr) *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
PTX_PER_THREAD_STREAM(cudaGetDriverEntryPointByVersion);

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // programs still call it
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, result);
}
PTX_PER_THREAD_STREAM(cudaGetDriverEntryPoint);
