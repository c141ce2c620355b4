// What nodes do, as host code asks for it. Positions in memory are part of the pointers; handed
// back to the functions that set parameters, all of it is the same work again.
#include <variant>

#include "ptx/runtime/cudart/attributes.h"
#include "ptx/runtime/cudart/graph/works.h"

using namespace ptx::cudart;
using ptx::Error;
using rt::NodeKind;

namespace {

cudaError_t give_event(cudaGraphNode_t node, NodeKind kind, cudaEvent_t* event) {
  if (event == nullptr) return invalid_value();
  void* its = nullptr;
  const Error error = rt::event_of_node(node, kind, its);
  if (error == Error::success) *event = static_cast<cudaEvent_t>(its);
  return as_cuda(error);
}

// Gives what a node of that kind does.
template <class Done, class Params, class Fill>
cudaError_t give(cudaGraphNode_t node, NodeKind kind, Params* params, const Fill& fill,
                 const char* function = __builtin_FUNCTION()) {
  if (params == nullptr) return invalid_value(function);
  rt::DoneByNode done;
  const Error error = rt::done_by_node(node, kind, done);
  if (error != Error::success) return as_cuda(error, function);
  *params = {};
  fill(std::get<Done>(done));
  return cudaSuccess;
}

cudaPitchedPtr rows(const void* first, std::size_t pitch, const rt::Copy& copy) {
  return {const_cast<void*>(first), pitch == 0 ? copy.width : pitch, copy.width, copy.height};
}

bool is_of_nodes(cudaLaunchAttributeID id) {
  switch (id) {
    case cudaKernelNodeAttributeAccessPolicyWindow:
    case cudaKernelNodeAttributeCooperative:
    case cudaKernelNodeAttributePriority:
    case cudaKernelNodeAttributeClusterDimension:
    case cudaKernelNodeAttributeClusterSchedulingPolicyPreference:
    case cudaKernelNodeAttributeMemSyncDomainMap:
    case cudaKernelNodeAttributeMemSyncDomain:
    case cudaKernelNodeAttributePreferredSharedMemoryCarveout:
    case cudaKernelNodeAttributeDeviceUpdatableKernelNode:
    case cudaKernelNodeAttributeNvlinkUtilCentricScheduling: return true;
    default: return false;
  }
}

}  // namespace

extern "C" {

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

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return give<rt::Copy>(node, NodeKind::copy, params, [&](const rt::Copy& copy) {
    params->srcPtr = rows(copy.from, copy.from_pitch, copy);
    params->dstPtr = rows(copy.to, copy.to_pitch, copy);
    params->extent = {copy.width, copy.height, 1};
    params->kind = static_cast<cudaMemcpyKind>(copy.direction);
  });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return give<rt::SetOfNode>(node, NodeKind::set, params, [&](const rt::SetOfNode& set) {
    params->dst = set.to;
    params->pitch = set.pitch;
    params->value = set.value;
    params->elementSize = static_cast<unsigned>(set.element_bytes);
    params->width = set.width / set.element_bytes;
    params->height = set.height;
  });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return give<rt::CallOfNode>(node, NodeKind::host, params, [&](const rt::CallOfNode& call) {
    params->fn = reinterpret_cast<cudaHostFn_t>(const_cast<void*>(call.address));
    params->userData = const_cast<void*>(call.data);
  });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return give<rt::MemoryOfNode>(node, NodeKind::allocate, params,
                                [&](const rt::MemoryOfNode& memory) {
                                  params->poolProps.allocType = cudaMemAllocationTypePinned;
                                  params->poolProps.location = {cudaMemLocationTypeDevice, 0};
                                  params->bytesize = memory.bytes;
                                  params->dptr = memory.first;
                                });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* memory) {
  void** const first = static_cast<void**>(memory);
  return give<rt::MemoryOfNode>(node, NodeKind::release, first,
                                [&](const rt::MemoryOfNode& freed) { *first = freed.first; });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return give_event(node, NodeKind::record, event);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return give_event(node, NodeKind::wait, event);
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
  if (value == nullptr || !is_of_nodes(id) || !is_valid(id, *value)) return invalid_value();
  const auto& cluster = value->clusterDim;
  if (id == cudaLaunchAttributeClusterDimension &&
      (cluster.x == 0 || cluster.y == 0 || cluster.z == 0))
    return invalid_value();
  if (id == cudaLaunchAttributeDeviceUpdatableKernelNode &&
      value->deviceUpdatableKernelNode.deviceUpdatable != 0)
    return as_cuda(rt::not_supported("nodes of kernels that the device may update"));
  return as_cuda(rt::change_launch(
      node, [&](rt::Configuration& launch) { set_attribute(launch, id, *value); }));
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
  if (value == nullptr || !is_of_nodes(id)) return invalid_value();
  std::shared_ptr<const rt::LaunchOfNode> launch;
  const Error error = rt::launch_of_node(node, launch);
  if (error == Error::success) *value = attribute_of(launch->configuration, id);
  return as_cuda(error);
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  std::shared_ptr<const rt::LaunchOfNode> launch;
  const Error error = rt::launch_of_node(from, launch);
  return as_cuda(error != Error::success ? error
                                         : rt::change_launch(to, [&](rt::Configuration& own) {
                                             own.cooperative = launch->configuration.cooperative;
                                             own.cluster = launch->configuration.cluster;
                                             own.attributes = launch->configuration.attributes;
                                           }));
}

}  // extern "C"
