// What nodes of graphs do, by the parameters that host code tells: those are read when the node is
// made. A node's work is what it puts into a stream.
#pragma once

#include <cstddef>
#include <span>

#include "ptx/runtime/cudart/forward.h"
#include "ptx/runtime/graph/graphs.h"

namespace ptx::cudart {

// Nothing where CUDA's handle is what it is here.
inline void** as_handles(cudaGraphNode_t* nodes) { return reinterpret_cast<void**>(nodes); }
inline std::span<void* const> as_span(const cudaGraphNode_t* nodes, std::size_t count) {
  return {reinterpret_cast<void* const*>(nodes), nodes == nullptr ? 0 : count};
}
inline cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

// What a launch calls an invalid configuration is an invalid value here.
template <class Params>
rt::NodeWork kernel_work(const Params& p) {
  return [p](void* stream) {
    if (p.extra != nullptr)
      return rt::not_supported("nodes of kernels whose arguments are in one buffer");
    const auto error = static_cast<Error>(cudaLaunchKernel(
        p.func, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes, as_stream(stream)));
    const bool is_of_sizes =
        error == Error::invalid_configuration || error == Error::launch_out_of_resources;
    return is_of_sizes ? Error::invalid_value : error;
  };
}

template <class Params>
rt::NodeWork set_work(const Params& p) {
  return [p](void* stream) {
    const bool is_known = p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4;
    const auto is_multiple = [&](std::size_t at) { return at % p.elementSize == 0; };
    if (!is_known || !is_multiple(reinterpret_cast<std::size_t>(p.dst)) ||
        (p.height > 1 && !is_multiple(p.pitch)))
      return rt::fail(Error::invalid_value);
    return rt::set_memory(p.dst, p.pitch, static_cast<int>(p.value), p.width * p.elementSize,
                          p.height, stream, p.elementSize);
  };
}

template <class Params>
rt::NodeWork host_work(const Params& p) {
  return [p](void* stream) {
    return static_cast<Error>(cudaLaunchHostFunc(as_stream(stream), p.fn, p.userData));
  };
}

template <class Params>
rt::NodeWork allocate_work(Params& p) {  // which tells there where the memory is
  return [&p](void* stream) { return rt::allocate_in(stream, &p.dptr, p.bytesize); };
}
rt::NodeWork copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind);
rt::NodeWork copy_work(const cudaMemcpy3DParms&);
rt::NodeWork to_symbol_work(const void* symbol, const void* from, std::size_t bytes,
                            std::size_t offset, cudaMemcpyKind);
rt::NodeWork from_symbol_work(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                              cudaMemcpyKind);
rt::NodeWork record_work(cudaEvent_t);
rt::NodeWork wait_work(cudaEvent_t);
rt::NodeWork free_work(void* memory);
Error no_work(void* stream);
rt::NodeWork work_of(cudaGraphNodeParams&);  // nothing for a type that is not supported

// Whether all edges are plain ones. Edges that let a kernel start early can be captured and asked
// for, but not added: `refuse_edges` says so.
bool are_plain(const cudaGraphEdgeData*, std::size_t count);
cudaError_t refuse_edges();

}  // namespace ptx::cudart
