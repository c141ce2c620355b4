// The one function of the driver that programs ask the runtime for: it makes tensor maps.
#include <cuda.h>

#include <string_view>

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

}  // namespace

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
  if (std::string_view(name) != "cuTensorMapEncodeTiled") return as_cuda(rt::not_supported(name));
  *function = reinterpret_cast<void*>(&cuTensorMapEncodeTiled);
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
