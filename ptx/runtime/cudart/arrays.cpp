// Arrays, and copies to and from them.
#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

using rt::PieceOfArray;
using rt::PlaceInArray;

rt::ChannelFormat as_format(const cudaChannelFormatDesc& d) {
  return {{d.x, d.y, d.z, d.w}, static_cast<int>(d.f)};
}
cudaChannelFormatDesc as_cuda(const rt::ChannelFormat& f) {
  return {f.bits[0], f.bits[1], f.bits[2], f.bits[3], static_cast<cudaChannelFormatKind>(f.kind)};
}

enum class Waits { no, yes };

struct Row {
  std::size_t pitch;  // of what is no array
  cudaMemcpyKind kind;
  cudaStream_t stream;
  Waits waits;
};

cudaError_t copy(rt::Copy copy, const PieceOfArray& piece, const Row& row, const char* function) {
  copy.width = piece.width, copy.height = piece.height;
  copy.direction = static_cast<rt::Direction>(row.kind);
  copy.stream = row.stream;
  copy.waits = row.waits == Waits::yes;
  return ptx::cudart::as_cuda(rt::copy(copy), function);
}

// Between an array and other memory, which is `to` or `from`.
cudaError_t copy_piece(const PieceOfArray& piece, const void* from, void* to, const Row& row,
                       const char* function = __builtin_FUNCTION()) {
  PlaceInArray place;
  const ptx::Error error = rt::place_in_array(piece, place);
  if (error != ptx::Error::success) return ptx::cudart::as_cuda(error, function);
  if (!piece.is_run && row.pitch < piece.width)
    return ptx::cudart::as_cuda(rt::fail(ptx::Error::invalid_pitch_value), function);
  const bool is_to_array = to == nullptr;
  return copy({.to = is_to_array ? place.first : to,
               .to_pitch = is_to_array ? place.pitch : row.pitch,
               .from = is_to_array ? from : place.first,
               .from_pitch = is_to_array ? row.pitch : place.pitch},
              piece, row, function);
}

cudaError_t copy_between(const PieceOfArray& to, const PieceOfArray& from, cudaMemcpyKind kind,
                         const char* function = __builtin_FUNCTION()) {
  PlaceInArray place;
  const ptx::Error error = rt::place_in_array(to, place);
  if (error != ptx::Error::success) return ptx::cudart::as_cuda(error, function);
  return copy_piece(from, nullptr, place.first, {place.pitch, kind, nullptr, Waits::yes}, function);
}

}  // namespace

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned flags) {
  if (format == nullptr) return invalid_value();
  return ptx::cudart::as_cuda(rt::allocate_array(reinterpret_cast<void**>(array),
                                                 {as_format(*format), width, height, 0, flags}));
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  if (format == nullptr) return invalid_value();
  return ptx::cudart::as_cuda(
      rt::allocate_array(reinterpret_cast<void**>(array),
                         {as_format(*format), extent.width, extent.height, extent.depth, flags}));
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return ptx::cudart::as_cuda(rt::release_array(array));
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  rt::ArrayFacts facts;
  const ptx::Error error = rt::facts_of_array(array, facts);
  if (error != ptx::Error::success) return ptx::cudart::as_cuda(error);
  if (format != nullptr) *format = as_cuda(facts.format);
  if (extent != nullptr) *extent = {facts.width, facts.height, facts.depth};
  if (flags != nullptr) *flags = facts.flags;
  return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (format == nullptr) return invalid_value();
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return copy_piece({to, x, y, width, height}, from, nullptr, {pitch, kind, stream, Waits::no});
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_piece({to, x, y, width, height}, from, nullptr, {pitch, kind, nullptr, Waits::yes});
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  if (to == nullptr) return invalid_value();
  return copy_piece({from, x, y, width, height}, nullptr, to, {pitch, kind, stream, Waits::no});
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  if (to == nullptr) return invalid_value();
  return copy_piece({from, x, y, width, height}, nullptr, to, {pitch, kind, nullptr, Waits::yes});
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, cudaMemcpyKind kind) {
  return copy_between({to, to_x, to_y, width, height}, {from, x, y, width, height}, kind);
}

// Copies a run of bytes that may go on from one row into the next.
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_piece({to, x, y, bytes, 1, true}, from, nullptr, {bytes, kind, stream, Waits::no});
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
  return copy_piece({to, x, y, bytes, 1, true}, from, nullptr, {bytes, kind, nullptr, Waits::yes});
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (to == nullptr) return invalid_value();
  return copy_piece({from, x, y, bytes, 1, true}, nullptr, to, {bytes, kind, stream, Waits::no});
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  if (to == nullptr) return invalid_value();
  return copy_piece({from, x, y, bytes, 1, true}, nullptr, to, {bytes, kind, nullptr, Waits::yes});
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                   size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
  return copy_between({to, to_x, to_y, bytes, 1, true}, {from, x, y, bytes, 1, true}, kind);
}

}  // extern "C"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // programs still call some of them
PTX_PER_THREAD_STREAM(cudaMemcpy2DToArrayAsync);
PTX_PER_THREAD_STREAM(cudaMemcpy2DFromArrayAsync);
PTX_PER_THREAD_STREAM(cudaMemcpyToArrayAsync);
PTX_PER_THREAD_STREAM(cudaMemcpyFromArrayAsync);
PTX_PER_THREAD_DEFAULT(cudaMemcpy2DToArray);
PTX_PER_THREAD_DEFAULT(cudaMemcpy2DFromArray);
PTX_PER_THREAD_DEFAULT(cudaMemcpy2DArrayToArray);
PTX_PER_THREAD_DEFAULT(cudaMemcpyToArray);
PTX_PER_THREAD_DEFAULT(cudaMemcpyFromArray);
PTX_PER_THREAD_DEFAULT(cudaMemcpyArrayToArray);
