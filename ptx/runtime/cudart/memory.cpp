// Memory, copies, pools.
#include <cstring>

#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

using ptx::runtime::Copy;
using ptx::runtime::Direction;
using ptx::runtime::Use;

Direction direction(cudaMemcpyKind kind) { return static_cast<Direction>(kind); }

enum class Waits { no, yes };

cudaError_t copy_one(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                     cudaStream_t stream, Waits waits) {
  return as_cuda(rt::copy({.to = to,
                           .from = from,
                           .width = bytes,
                           .direction = direction(kind),
                           .stream = stream,
                           .waits = waits == Waits::yes}));
}

cudaError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                      size_t height, cudaMemcpyKind kind, cudaStream_t stream, Waits waits) {
  return as_cuda(rt::copy({.to = to,
                           .to_pitch = to_pitch,
                           .from = from,
                           .from_pitch = from_pitch,
                           .width = width,
                           .height = height,
                           .direction = direction(kind),
                           .stream = stream,
                           .waits = waits == Waits::yes}));
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** result, size_t bytes) {
  return as_cuda(rt::allocate(result, bytes, Use::device));
}

cudaError_t cudaMallocManaged(void** result, size_t bytes, unsigned) {
  return as_cuda(rt::allocate(result, bytes, Use::managed));
}

cudaError_t cudaMallocHost(void** result, size_t bytes) {
  return as_cuda(rt::allocate(result, bytes, Use::host));
}

cudaError_t cudaHostAlloc(void** result, size_t bytes, unsigned) {
  return as_cuda(rt::allocate(result, bytes, Use::host));
}

cudaError_t cudaMallocPitch(void** result, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return invalid_value();
  *pitch = (width + 511) / 512 * 512;
  return as_cuda(rt::allocate(result, *pitch * height, Use::device));
}

cudaError_t cudaMallocAsync(void** result, size_t bytes, cudaStream_t stream) {
  return as_cuda(rt::allocate_in(stream, result, bytes));
}

cudaError_t cudaMallocFromPoolAsync(void** result, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  const ptx::Error error = rt::check_pool(pool);
  return error != ptx::Error::success ? as_cuda(error) : cudaMallocAsync(result, bytes, stream);
}

cudaError_t cudaFree(void* memory) { return as_cuda(rt::release(memory, Use::device)); }

cudaError_t cudaFreeHost(void* memory) { return as_cuda(rt::release(memory, Use::host)); }

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  return as_cuda(rt::release_in(stream, memory));
}

cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) {
  return as_cuda(rt::register_host(memory, bytes));
}

cudaError_t cudaHostUnregister(void* memory) { return as_cuda(rt::unregister_host(memory)); }

cudaError_t cudaHostGetDevicePointer(void** result, void* host, unsigned) {
  if (result == nullptr || !rt::facts_of_pointer(host).known) return invalid_value();
  *result = host;
  return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  if (flags == nullptr || !rt::facts_of_pointer(host).known) return invalid_value();
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return free == nullptr || total == nullptr ? invalid_value()
                                             : as_cuda(rt::memory_info(*free, *total));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* result, const void* pointer) {
  if (result == nullptr) return invalid_value();
  const rt::PointerFacts facts = rt::facts_of_pointer(pointer);
  *result = {};
  if (!facts.known) return cudaSuccess;
  result->type = facts.use == Use::host      ? cudaMemoryTypeHost
                 : facts.use == Use::managed ? cudaMemoryTypeManaged
                                             : cudaMemoryTypeDevice;
  result->devicePointer = const_cast<void*>(pointer);
  result->hostPointer = facts.use == Use::device ? nullptr : const_cast<void*>(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy_one(to, from, bytes, kind, nullptr, Waits::yes);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy_one(to, from, bytes, kind, stream, Waits::no);
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return copy_one(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr, Waits::yes);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                cudaStream_t stream) {
  return copy_one(to, from, bytes, cudaMemcpyDeviceToDevice, stream, Waits::no);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, Waits::no);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, Waits::yes);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return as_cuda(rt::copy_to_symbol(symbol, from, bytes, offset, direction(kind), stream, false));
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return as_cuda(rt::copy_to_symbol(symbol, from, bytes, offset, direction(kind), nullptr, true));
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return as_cuda(rt::copy_from_symbol(to, symbol, bytes, offset, direction(kind), stream, false));
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  return as_cuda(rt::copy_from_symbol(to, symbol, bytes, offset, direction(kind), nullptr, true));
}

cudaError_t cudaGetSymbolAddress(void** result, const void* symbol) {
  return result == nullptr ? invalid_value() : as_cuda(rt::symbol(symbol, result, nullptr));
}

cudaError_t cudaGetSymbolSize(size_t* result, const void* symbol) {
  return result == nullptr ? invalid_value() : as_cuda(rt::symbol(symbol, nullptr, result));
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return as_cuda(rt::set_memory(to, pitch, value, width, height, stream));
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}

// Advice on where memory had better be.
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned,
                                 cudaStream_t stream) {
  return as_cuda(rt::check_stream(stream));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* result, const cudaMemPoolProps*) {
  return as_cuda(rt::create_pool(reinterpret_cast<void**>(result)));
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { return as_cuda(rt::destroy_pool(pool)); }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) { return as_cuda(rt::check_pool(pool)); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void*) {
  return as_cuda(rt::check_pool(pool));
}
// The first three are flags, the others sizes; nothing is held back here.
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (value == nullptr) return invalid_value();
  std::memset(value, 0, attribute < cudaMemPoolAttrReleaseThreshold ? 4 : 8);
  return as_cuda(rt::check_pool(pool));
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*, size_t) {
  return as_cuda(rt::check_pool(pool));
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* result, int) {
  if (result == nullptr) return invalid_value();
  *result = static_cast<cudaMemPool_t>(rt::default_pool());
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* result, int device) {
  return cudaDeviceGetDefaultMemPool(result, device);
}
cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t pool) { return as_cuda(rt::check_pool(pool)); }

}  // extern "C"

PTX_PER_THREAD_STREAM(cudaMallocAsync);
PTX_PER_THREAD_STREAM(cudaMallocFromPoolAsync);
PTX_PER_THREAD_STREAM(cudaFreeAsync);
PTX_PER_THREAD_STREAM(cudaMemcpyAsync);
PTX_PER_THREAD_STREAM(cudaMemcpy2DAsync);
PTX_PER_THREAD_STREAM(cudaMemcpyToSymbolAsync);
PTX_PER_THREAD_STREAM(cudaMemcpyFromSymbolAsync);
PTX_PER_THREAD_STREAM(cudaMemsetAsync);
PTX_PER_THREAD_STREAM(cudaMemset2DAsync);
PTX_PER_THREAD_STREAM(cudaMemPrefetchAsync);
PTX_PER_THREAD_DEFAULT(cudaMemcpy);
PTX_PER_THREAD_DEFAULT(cudaMemcpy2D);
PTX_PER_THREAD_DEFAULT(cudaMemcpyToSymbol);
PTX_PER_THREAD_DEFAULT(cudaMemcpyFromSymbol);
PTX_PER_THREAD_DEFAULT(cudaMemset);
PTX_PER_THREAD_DEFAULT(cudaMemset2D);
