// Copies in batches, and what pools of memory are asked.
#include <algorithm>
#include <vector>

#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

// Each of them is that of all copies from its index up to that of the next one.
struct AttributesOfBatch {
  const cudaMemcpyAttributes* attributes;
  const size_t* first;
  size_t count;
};

bool are_valid(const AttributesOfBatch& all, size_t copies) {
  if (all.attributes == nullptr || all.first == nullptr || all.count == 0 || all.first[0] != 0)
    return false;
  for (size_t i = 0; i < all.count; ++i) {
    const auto& [order, from, to, flags] = all.attributes[i];
    const bool is_order = order == cudaMemcpySrcAccessOrderStream ||
                          order == cudaMemcpySrcAccessOrderDuringApiCall ||
                          order == cudaMemcpySrcAccessOrderAny;
    if (!is_order || (flags & ~static_cast<unsigned>(cudaMemcpyFlagPreferOverlapWithCompute)) != 0)
      return false;
    if (all.first[i] >= copies || (i > 0 && all.first[i] <= all.first[i - 1])) return false;
  }
  return true;
}

cudaMemcpySrcAccessOrder order_of(const AttributesOfBatch& all, size_t copy) {
  const size_t* const behind = std::upper_bound(all.first, all.first + all.count, copy);
  return all.attributes[behind - all.first - 1].srcAccessOrder;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes,
                                 size_t count, cudaMemcpyAttributes* attributes, size_t* first,
                                 size_t kinds, cudaStream_t stream) {
  const AttributesOfBatch all{attributes, first, kinds};
  const bool is_legacy = stream == nullptr || stream == cudaStreamLegacy;
  if (is_legacy || to == nullptr || from == nullptr || bytes == nullptr || !are_valid(all, count))
    return invalid_value();
  std::vector<rt::CopyOfBatch> batch;
  for (size_t i = 0; i < count; ++i) {
    const cudaMemcpySrcAccessOrder order = order_of(all, i);
    if (bytes[i] == 0) return invalid_value();
    batch.push_back({.to = to[i],
                     .from = from[i],
                     .bytes = bytes[i],
                     .reads_at_any_time = order != cudaMemcpySrcAccessOrderStream,
                     .reads_at_once = order == cudaMemcpySrcAccessOrderDuringApiCall});
  }
  return as_cuda(rt::copy_batch(batch, stream));
}
cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* to, const void* const* from, const size_t* bytes,
                                      size_t count, cudaMemcpyAttributes* attributes, size_t* first,
                                      size_t kinds, cudaStream_t stream) {
  return cudaMemcpyBatchAsync(to, from, bytes, count, attributes, first, kinds,
                              stream == nullptr ? cudaStreamPerThread : stream);
}

// There are pools of the device's own memory alone.
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  if (pool == nullptr || location == nullptr) return invalid_value();
  if (type != cudaMemAllocationTypePinned && type != cudaMemAllocationTypeManaged)
    return invalid_value();
  if (type == cudaMemAllocationTypePinned && location->type == cudaMemLocationTypeDevice) {
    if (location->id != 0) return as_cuda(rt::fail(ptx::Error::invalid_device));
    *pool = static_cast<cudaMemPool_t>(rt::default_pool());
    return cudaSuccess;
  }
  const bool is_somewhere =
      location->type == cudaMemLocationTypeDevice || location->type == cudaMemLocationTypeHost ||
      location->type == cudaMemLocationTypeHostNuma ||
      (location->type == cudaMemLocationTypeNone && type == cudaMemAllocationTypeManaged);
  return is_somewhere ? as_cuda(rt::not_supported(
                            "cudaMemGetDefaultMemPool for memory that is not the device's own"))
                      : invalid_value();
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  if (flags == nullptr || location == nullptr) return invalid_value();
  if (const ptx::Error error = rt::check_pool(pool); error != ptx::Error::success)
    return as_cuda(error);
  if (location->type != cudaMemLocationTypeDevice) return invalid_value();
  if (location->id != 0) return as_cuda(rt::fail(ptx::Error::invalid_device));
  *flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}

}  // extern "C"
