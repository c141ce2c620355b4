// Other parameters for nodes that are there: in a graph, and in what was made of it.
#include "ptx/runtime/cudart/graph/works.h"

using namespace ptx::cudart;
using ptx::Error;
using rt::NodeWork;

static_assert(static_cast<int>(rt::GraphChange::kinds) == cudaGraphExecUpdateErrorNodeTypeChanged);

extern "C" {

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

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
  return as_cuda(rt::set_node(node, to_symbol_work(symbol, from, bytes, offset, kind)));
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  return as_cuda(rt::set_node(node, from_symbol_work(to, symbol, bytes, offset, kind)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                     cudaGraphNode_t node, const void* symbol,
                                                     const void* from, size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind) {
  return as_cuda(
      rt::set_node_of(executable, node, to_symbol_work(symbol, from, bytes, offset, kind)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node, void* to,
                                                       const void* symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind) {
  return as_cuda(
      rt::set_node_of(executable, node, from_symbol_work(to, symbol, bytes, offset, kind)));
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

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaGraph_t graph) {
  return as_cuda(rt::update_graph_in(executable, node, graph));
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned is_enabled) {
  return as_cuda(rt::enable_node(executable, node, is_enabled != 0));
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned* is_enabled) {
  if (is_enabled == nullptr) return invalid_value();
  bool is = false;
  const Error error = rt::is_node_enabled(executable, node, is);
  if (error == Error::success) *is_enabled = is;
  return as_cuda(error);
}

}  // extern "C"
