// Memory of three dimensions: slices of rows, which are copied and set one after the other. Arrays
// of three dimensions are refused.
#include <cstddef>

#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

using ptx::Error;

// Where a slice of a piece begins that itself begins at a position.
std::byte* slice_of(const cudaPitchedPtr& whole, const cudaPos& at, std::size_t slice) {
  return static_cast<std::byte*>(whole.ptr) + (at.z + slice) * whole.pitch * whole.ysize +
         at.y * whole.pitch + at.x;
}

cudaError_t copy_slices(const cudaMemcpy3DParms* asked, cudaStream_t stream, bool waits,
                        const char* function = __builtin_FUNCTION()) {
  if (asked == nullptr) return invalid_value(function);
  if (asked->srcArray != nullptr || asked->dstArray != nullptr)
    return as_cuda(rt::not_supported("cudaMemcpy3D of an array"), function);
  for (std::size_t slice = 0; slice < asked->extent.depth; ++slice) {
    const Error error = rt::copy({.to = slice_of(asked->dstPtr, asked->dstPos, slice),
                                  .to_pitch = asked->dstPtr.pitch,
                                  .from = slice_of(asked->srcPtr, asked->srcPos, slice),
                                  .from_pitch = asked->srcPtr.pitch,
                                  .width = asked->extent.width,
                                  .height = asked->extent.height,
                                  .direction = static_cast<ptx::runtime::Direction>(asked->kind),
                                  .stream = stream,
                                  .waits = waits});
    if (error != Error::success) return as_cuda(error, function);
  }
  return cudaSuccess;
}

cudaError_t set_slices(const cudaPitchedPtr& whole, int value, const cudaExtent& extent,
                       cudaStream_t stream, const char* function = __builtin_FUNCTION()) {
  for (std::size_t slice = 0; slice < extent.depth; ++slice) {
    const Error error = rt::set_memory(slice_of(whole, {}, slice), whole.pitch, value, extent.width,
                                       extent.height, stream);
    if (error != Error::success) return as_cuda(error, function);
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc3D(cudaPitchedPtr* result, cudaExtent extent) {
  if (result == nullptr) return invalid_value();
  *result = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&result->ptr, &result->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* asked) {
  return copy_slices(asked, nullptr, true);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* asked, cudaStream_t stream) {
  return copy_slices(asked, stream, false);
}

cudaError_t cudaMemset3D(cudaPitchedPtr whole, int value, cudaExtent extent) {
  return set_slices(whole, value, extent, nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr whole, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return set_slices(whole, value, extent, stream);
}

}  // extern "C"

PTX_PER_THREAD_DEFAULT(cudaMemcpy3D);
PTX_PER_THREAD_STREAM(cudaMemcpy3DAsync);
PTX_PER_THREAD_DEFAULT(cudaMemset3D);
PTX_PER_THREAD_STREAM(cudaMemset3DAsync);
