// Graphs that are built node by node.
#include <algorithm>

#include "ptx/runtime/cudart/graph/works.h"

using namespace ptx::cudart;
using ptx::Error;

namespace {

using rt::NodeKind, rt::NodeWork;

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, const NodeWork& work,
                const char* function = __builtin_FUNCTION()) {
  if (after == nullptr && count != 0) return invalid_value(function);
  return as_cuda(rt::add_node(as_handles(node), graph, as_span(after, count), work), function);
}

cudaError_t add_branches(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                         std::size_t count, cudaConditionalNodeParams& params,
                         const char* function = __builtin_FUNCTION()) {
  const bool is_known = params.type == cudaGraphCondTypeIf ||
                        params.type == cudaGraphCondTypeWhile ||
                        params.type == cudaGraphCondTypeSwitch;
  if (!is_known || (after == nullptr && count != 0)) return invalid_value(function);
  std::span<void*> bodies;
  const Error error = rt::add_branches(
      as_handles(node), graph, as_span(after, count),
      {params.handle, static_cast<rt::BranchKind>(params.type), params.size}, bodies);
  if (error == Error::success) params.phGraph_out = reinterpret_cast<cudaGraph_t*>(bodies.data());
  return as_cuda(error, function);
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
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, size_t count,
                                           const void* symbol, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return add(node, graph, after, count, to_symbol_work(symbol, from, bytes, offset, kind));
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, size_t count, void* to,
                                             const void* symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind) {
  return add(node, graph, after, count, from_symbol_work(to, symbol, bytes, offset, kind));
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

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned at_launch, unsigned flags) {
  if (handle == nullptr || (flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)) != 0)
    return invalid_value();
  const bool is_given = flags == cudaGraphCondAssignDefault;
  return as_cuda(rt::create_condition(
      graph, is_given ? std::optional<unsigned>(at_launch) : std::nullopt, *handle));
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
  if (params->type == cudaGraphNodeTypeConditional)
    return add_branches(node, graph, after, count, params->conditional);
  const NodeWork work = work_of(*params);
  return work == nullptr ? as_cuda(rt::not_supported("cudaGraphAddNode for nodes of that type"))
                         : add(node, graph, after, count, work);
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

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { return as_cuda(rt::destroy_node(node)); }

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
