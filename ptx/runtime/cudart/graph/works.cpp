#include "ptx/runtime/cudart/graph/works.h"

#include <algorithm>

namespace ptx::cudart {

using rt::NodeKind, rt::NodeWork;

static_assert(static_cast<int>(NodeKind::kernel) == cudaGraphNodeTypeKernel);
static_assert(static_cast<int>(NodeKind::copy) == cudaGraphNodeTypeMemcpy);
static_assert(static_cast<int>(NodeKind::set) == cudaGraphNodeTypeMemset);
static_assert(static_cast<int>(NodeKind::host) == cudaGraphNodeTypeHost);
static_assert(static_cast<int>(NodeKind::graph) == cudaGraphNodeTypeGraph);
static_assert(static_cast<int>(NodeKind::empty) == cudaGraphNodeTypeEmpty);
static_assert(static_cast<int>(NodeKind::wait) == cudaGraphNodeTypeWaitEvent);
static_assert(static_cast<int>(NodeKind::record) == cudaGraphNodeTypeEventRecord);
static_assert(static_cast<int>(NodeKind::allocate) == cudaGraphNodeTypeMemAlloc);
static_assert(static_cast<int>(NodeKind::release) == cudaGraphNodeTypeMemFree);
static_assert(static_cast<int>(NodeKind::branches) == cudaGraphNodeTypeConditional);
static_assert(static_cast<int>(rt::BranchKind::if_) == cudaGraphCondTypeIf);
static_assert(static_cast<int>(rt::BranchKind::while_) == cudaGraphCondTypeWhile);
static_assert(static_cast<int>(rt::BranchKind::switch_) == cudaGraphCondTypeSwitch);

NodeWork copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return [=](void* stream) {
    if (bytes == 0) return rt::fail(Error::invalid_value);
    return static_cast<Error>(cudaMemcpyAsync(to, from, bytes, kind, as_stream(stream)));
  };
}

namespace {
void* place_in(const cudaPitchedPtr& memory, const cudaPos& at) {
  return static_cast<char*>(memory.ptr) + at.y * memory.pitch + at.x;
}
}  // namespace

NodeWork to_symbol_work(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind) {
  return [=](void* stream) {
    if (bytes == 0) return rt::fail(Error::invalid_value);
    return rt::copy_to_symbol(symbol, from, bytes, offset, static_cast<rt::Direction>(kind),
                              stream);
  };
}
NodeWork from_symbol_work(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                          cudaMemcpyKind kind) {
  return [=](void* stream) {
    if (bytes == 0) return rt::fail(Error::invalid_value);
    return rt::copy_from_symbol(to, symbol, bytes, offset, static_cast<rt::Direction>(kind),
                                stream);
  };
}

NodeWork copy_work(const cudaMemcpy3DParms& p) {
  return [p](void* stream) {
    if (p.srcArray != nullptr || p.dstArray != nullptr || p.extent.depth != 1 || p.srcPos.z != 0 ||
        p.dstPos.z != 0)
      return rt::not_supported("nodes of copies of arrays, or in three dimensions");
    return static_cast<Error>(cudaMemcpy2DAsync(
        place_in(p.dstPtr, p.dstPos), p.dstPtr.pitch, place_in(p.srcPtr, p.srcPos), p.srcPtr.pitch,
        p.extent.width, p.extent.height, p.kind, as_stream(stream)));
  };
}

NodeWork record_work(cudaEvent_t event) {
  return [event](void* stream) { return rt::record_event(event, stream, rt::EventOf::outside); };
}
NodeWork wait_work(cudaEvent_t event) {
  return [event](void* stream) { return rt::wait_for_event(stream, event, rt::EventOf::outside); };
}
NodeWork free_work(void* memory) {
  return [memory](void* stream) { return rt::release_in(stream, memory); };
}

Error no_work(void*) { return Error::success; }

NodeWork work_of(cudaGraphNodeParams& p) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel: return kernel_work(p.kernel);
    case cudaGraphNodeTypeMemcpy: return copy_work(p.memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return set_work(p.memset);
    case cudaGraphNodeTypeHost: return host_work(p.host);
    case cudaGraphNodeTypeWaitEvent: return wait_work(p.eventWait.event);
    case cudaGraphNodeTypeEventRecord: return record_work(p.eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return allocate_work(p.alloc);
    case cudaGraphNodeTypeMemFree: return free_work(p.free.dptr);
    case cudaGraphNodeTypeEmpty: return no_work;
    default: return nullptr;
  }
}

bool are_plain(const cudaGraphEdgeData* edges, std::size_t count) {
  return edges == nullptr || std::all_of(edges, edges + count, [](const cudaGraphEdgeData& e) {
           return e.from_port == 0 && e.to_port == 0 && e.type == cudaGraphDependencyTypeDefault;
         });
}
cudaError_t refuse_edges() {
  return as_cuda(rt::not_supported("edges of graphs by which kernels start early"));
}

}  // namespace ptx::cudart
