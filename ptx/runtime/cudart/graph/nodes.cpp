// Graphs that are built node by node.
#include <algorithm>

#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;
using ptx::Error;

namespace {

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
static_assert(static_cast<int>(rt::GraphChange::kinds) == cudaGraphExecUpdateErrorNodeTypeChanged);

// Nothing where CUDA's handle is what it is here.
void** as_handles(cudaGraphNode_t* nodes) { return reinterpret_cast<void**>(nodes); }
std::span<void* const> as_span(const cudaGraphNode_t* nodes, std::size_t count) {
  return {reinterpret_cast<void* const*>(nodes), nodes == nullptr ? 0 : count};
}
cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

// ---- What nodes do, by their parameters. Those are read when the node is made. What a launch
// calls an invalid configuration is an invalid value here.
template <class Params>
NodeWork kernel_work(const Params& p) {
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

NodeWork copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return [=](void* stream) {
    if (bytes == 0) return rt::fail(Error::invalid_value);
    return static_cast<Error>(cudaMemcpyAsync(to, from, bytes, kind, as_stream(stream)));
  };
}

void* place_in(const cudaPitchedPtr& memory, const cudaPos& at) {
  return static_cast<char*>(memory.ptr) + at.y * memory.pitch + at.x;
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

template <class Params>
NodeWork set_work(const Params& p) {
  return [p](void* stream) {
    const unsigned byte = p.value & 0xff;
    if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
      return rt::fail(Error::invalid_value);
    for (unsigned i = 1; i < p.elementSize; ++i)
      if ((p.value >> 8 * i & 0xff) != byte)
        return rt::not_supported("nodes of memsets whose elements have different bytes");
    const std::size_t width = p.width * p.elementSize;
    return static_cast<Error>(cudaMemset2DAsync(p.dst, p.height == 1 ? width : p.pitch,
                                                static_cast<int>(byte), width, p.height,
                                                as_stream(stream)));
  };
}

template <class Params>
NodeWork host_work(const Params& p) {
  return [p](void* stream) {
    return static_cast<Error>(cudaLaunchHostFunc(as_stream(stream), p.fn, p.userData));
  };
}

NodeWork record_work(cudaEvent_t event) {
  return [event](void* stream) { return rt::record_event(event, stream, rt::EventOf::outside); };
}
NodeWork wait_work(cudaEvent_t event) {
  return [event](void* stream) { return rt::wait_for_event(stream, event, rt::EventOf::outside); };
}
template <class Params>
NodeWork allocate_work(Params& p) {  // which tells there where the memory is
  return [&p](void* stream) { return rt::allocate_in(stream, &p.dptr, p.bytesize); };
}
NodeWork free_work(void* memory) {
  return [memory](void* stream) { return rt::release_in(stream, memory); };
}

Error no_work(void*) { return Error::success; }

// Nothing for a type that is not supported.
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

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, const NodeWork& work,
                const char* function = __builtin_FUNCTION()) {
  if (after == nullptr && count != 0) return invalid_value(function);
  return as_cuda(rt::add_node(as_handles(node), graph, as_span(after, count), work), function);
}

bool are_plain(const cudaGraphEdgeData* edges, std::size_t count) {
  return edges == nullptr || std::all_of(edges, edges + count, [](const cudaGraphEdgeData& e) {
           return e.from_port == 0 && e.to_port == 0 && e.type == cudaGraphDependencyTypeDefault;
         });
}
cudaError_t refuse_edges() {
  return as_cuda(rt::not_supported("edges of graphs by which kernels start early"));
}

cudaError_t give_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count,
                       bool only_first) {
  if (count == nullptr) return invalid_value();
  std::vector<void*> all;
  const Error error = rt::nodes_of(graph, only_first, all);
  if (error != Error::success) return as_cuda(error);
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < *count; ++i)
      nodes[i] = i < all.size() ? static_cast<cudaGraphNode_t>(all[i]) : nullptr;
    *count = std::min(*count, all.size());
  } else {
    *count = all.size();
  }
  return cudaSuccess;
}

cudaError_t give_event(cudaGraphNode_t node, NodeKind kind, cudaEvent_t* event) {
  if (event == nullptr) return invalid_value();
  void* its = nullptr;
  const Error error = rt::event_of_node(node, kind, its);
  if (error == Error::success) *event = static_cast<cudaEvent_t>(its);
  return as_cuda(error);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (flags != 0) return invalid_value();
  return as_cuda(rt::create_graph(reinterpret_cast<void**>(graph)));
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* params) {
  return params == nullptr ? invalid_value() : add(node, graph, after, count, kernel_work(*params));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* to,
                                     const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add(node, graph, after, count, copy_work(to, from, bytes, kind));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* params) {
  return params == nullptr ? invalid_value() : add(node, graph, after, count, copy_work(*params));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* params) {
  return params == nullptr ? invalid_value() : add(node, graph, after, count, set_work(*params));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* params) {
  return params == nullptr ? invalid_value() : add(node, graph, after, count, host_work(*params));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return add(node, graph, after, count, no_work);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, size_t count,
                             cudaGraphNodeParams* params) {
  if (params == nullptr) return invalid_value();
  if (!are_plain(edges, count)) return refuse_edges();
  if (params->type == cudaGraphNodeTypeGraph)
    return params->graph.ownership == cudaGraphChildGraphOwnershipClone
               ? cudaGraphAddChildGraphNode(node, graph, after, count, params->graph.graph)
               : as_cuda(rt::not_supported("cudaGraphAddNode that takes a graph over"));
  const NodeWork work = work_of(*params);
  return work == nullptr ? as_cuda(rt::not_supported("cudaGraphAddNode for nodes of that type"))
                         : add(node, graph, after, count, work);
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  if (params == nullptr) return invalid_value();
  const NodeWork work = work_of(*params);
  return as_cuda(work == nullptr
                     ? rt::not_supported("cudaGraphNodeSetParams for nodes of that type")
                     : rt::set_node(node, work));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* params) {
  if (params == nullptr) return invalid_value();
  const NodeWork work = work_of(*params);
  return as_cuda(work == nullptr
                     ? rt::not_supported("cudaGraphExecNodeSetParams for nodes of that type")
                     : rt::set_node_of(executable, node, work));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t inner) {
  if (after == nullptr && count != 0) return invalid_value();
  return as_cuda(rt::add_graph(as_handles(node), graph, as_span(after, count), inner));
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* inner) {
  if (inner == nullptr) return invalid_value();
  void* its = nullptr;
  const Error error = rt::graph_in(node, its);
  *inner = static_cast<cudaGraph_t>(its);
  return as_cuda(error);
}
cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph) {
  return as_cuda(rt::copy_graph(graph, reinterpret_cast<void**>(copy)));
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t node,
                                     cudaGraph_t copy) {
  return as_cuda(rt::node_in_copy(node, copy, as_handles(found)));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  return add(node, graph, after, count, record_work(event));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
  return add(node, graph, after, count, wait_work(event));
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return give_event(node, NodeKind::record, event);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return give_event(node, NodeKind::wait, event);
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return as_cuda(rt::set_node(node, record_work(event)));
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return as_cuda(rt::set_node(node, wait_work(event)));
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return as_cuda(rt::set_node_of(executable, node, record_work(event)));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return as_cuda(rt::set_node_of(executable, node, wait_work(event)));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* params) {
  return params == nullptr ? invalid_value()
                           : add(node, graph, after, count, allocate_work(*params));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* memory) {
  return add(node, graph, after, count, free_work(memory));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  if (params == nullptr) return invalid_value();
  std::shared_ptr<const rt::LaunchOfNode> launch;
  const Error error = rt::launch_of_node(node, launch);
  if (error != Error::success) return as_cuda(error);
  const rt::Configuration& of = launch->configuration;
  *params = {};
  params->func = const_cast<void*>(launch->stub);
  params->gridDim = {of.grid.x, of.grid.y, of.grid.z};
  params->blockDim = {of.block.x, of.block.y, of.block.z};
  params->sharedMemBytes = static_cast<unsigned>(of.dynamic_shared);
  params->kernelParams = const_cast<void**>(launch->arguments.data());
  return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     size_t count) {
  if (count != 0 && (from == nullptr || to == nullptr)) return invalid_value();
  if (!are_plain(edges, count)) return refuse_edges();
  return as_cuda(rt::add_dependencies(graph, as_span(from, count), as_span(to, count)));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return params == nullptr ? invalid_value() : as_cuda(rt::set_node(node, kernel_work(*params)));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
  return as_cuda(rt::set_node(node, copy_work(to, from, bytes, kind)));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return params == nullptr ? invalid_value() : as_cuda(rt::set_node(node, copy_work(*params)));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return params == nullptr ? invalid_value() : as_cuda(rt::set_node(node, set_work(*params)));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return params == nullptr ? invalid_value() : as_cuda(rt::set_node(node, host_work(*params)));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  return params == nullptr ? invalid_value()
                           : as_cuda(rt::set_node_of(executable, node, kernel_work(*params)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void* to, const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return as_cuda(rt::set_node_of(executable, node, copy_work(to, from, bytes, kind)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  return params == nullptr ? invalid_value()
                           : as_cuda(rt::set_node_of(executable, node, copy_work(*params)));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return params == nullptr ? invalid_value()
                           : as_cuda(rt::set_node_of(executable, node, set_work(*params)));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return params == nullptr ? invalid_value()
                           : as_cuda(rt::set_node_of(executable, node, host_work(*params)));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  rt::GraphChange changed;
  const Error error = rt::update_executable(executable, graph, changed);
  if (result != nullptr) {
    *result = {};
    result->result = error == Error::success ? cudaGraphExecUpdateSuccess
                     : changed == rt::GraphChange::none
                         ? cudaGraphExecUpdateError
                         : static_cast<cudaGraphExecUpdateResult>(changed);
  }
  return as_cuda(error);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (type == nullptr) return invalid_value();
  NodeKind kind = NodeKind::empty;
  const Error error = rt::kind_of_node(node, kind);
  *type = static_cast<cudaGraphNodeType>(kind);
  return as_cuda(error);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return give_nodes(graph, nodes, count, false);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return give_nodes(graph, nodes, count, true);
}

}  // extern "C"
