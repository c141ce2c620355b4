// Memory of three dimensions: slices of rows, which are copied and set one after the other.
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

// Where a slice of what is copied begins, in an array or in other memory.
Error find_slice(const cudaArray_t array, const cudaPitchedPtr& memory, const cudaPos& at,
                 std::size_t slice, const cudaExtent& bytes, rt::PlaceInArray& place) {
  if (array == nullptr) {
    place = {slice_of(memory, at, slice), memory.pitch};
    return Error::success;
  }
  rt::ArrayFacts facts;
  if (const Error error = rt::facts_of_array(array, facts); error != Error::success) return error;
  return rt::place_in_array({.array = array,
                             .x = at.x * rt::bytes_of_texel(facts.format),
                             .y = at.y,
                             .width = bytes.width,
                             .height = bytes.height,
                             .z = at.z + slice},
                            place);
}

// Where an array is copied, the width counts its elements.
Error extent_in_bytes(const cudaMemcpy3DParms& asked, cudaExtent& extent) {
  extent = asked.extent;
  for (const cudaArray_t array : {asked.srcArray, asked.dstArray}) {
    rt::ArrayFacts facts;
    if (array == nullptr) continue;
    if (const Error error = rt::facts_of_array(array, facts); error != Error::success) return error;
    extent.width = asked.extent.width * rt::bytes_of_texel(facts.format);
  }
  return Error::success;
}

cudaError_t copy_slices(const cudaMemcpy3DParms* asked, cudaStream_t stream, bool waits,
                        const char* function = __builtin_FUNCTION()) {
  if (asked == nullptr) return invalid_value(function);
  cudaExtent extent;
  if (const Error error = extent_in_bytes(*asked, extent); error != Error::success)
    return as_cuda(error, function);
  for (std::size_t slice = 0; slice < extent.depth; ++slice) {
    rt::PlaceInArray to, from;
    Error error = find_slice(asked->dstArray, asked->dstPtr, asked->dstPos, slice, extent, to);
    if (error == Error::success)
      error = find_slice(asked->srcArray, asked->srcPtr, asked->srcPos, slice, extent, from);
    if (error == Error::success)
      error = rt::copy({.to = to.first,
                        .to_pitch = to.pitch,
                        .from = from.first,
                        .from_pitch = from.pitch,
                        .width = extent.width,
                        .height = extent.height,
                        .direction = static_cast<rt::Direction>(asked->kind),
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
