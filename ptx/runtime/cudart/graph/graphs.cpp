// Stream capture, and graphs as a whole; their nodes are in the files beside this one.
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "ptx/runtime/cudart/graph/works.h"

using namespace ptx::cudart;
using ptx::Error;
using ptx::runtime::CaptureMode, ptx::runtime::CaptureStatus;

#define PTX_SAME(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
PTX_SAME(CaptureMode::global, cudaStreamCaptureModeGlobal);
PTX_SAME(CaptureMode::thread_local_, cudaStreamCaptureModeThreadLocal);
PTX_SAME(CaptureMode::relaxed, cudaStreamCaptureModeRelaxed);
PTX_SAME(CaptureStatus::active, cudaStreamCaptureStatusActive);
PTX_SAME(CaptureStatus::invalidated, cudaStreamCaptureStatusInvalidated);
PTX_SAME(Error::illegal_state, cudaErrorIllegalState);
PTX_SAME(Error::stream_capture_unsupported, cudaErrorStreamCaptureUnsupported);
PTX_SAME(Error::stream_capture_invalidated, cudaErrorStreamCaptureInvalidated);
PTX_SAME(Error::stream_capture_merge, cudaErrorStreamCaptureMerge);
PTX_SAME(Error::stream_capture_unmatched, cudaErrorStreamCaptureUnmatched);
PTX_SAME(Error::stream_capture_unjoined, cudaErrorStreamCaptureUnjoined);
PTX_SAME(Error::stream_capture_isolation, cudaErrorStreamCaptureIsolation);
PTX_SAME(Error::stream_capture_implicit, cudaErrorStreamCaptureImplicit);
PTX_SAME(Error::captured_event, cudaErrorCapturedEvent);
PTX_SAME(Error::stream_capture_wrong_thread, cudaErrorStreamCaptureWrongThread);

// No edge of a graph here is anything but a plain one.
static constexpr cudaGraphEdgeData plain_edges[64] = {};

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return as_cuda(rt::begin_capture(stream, static_cast<CaptureMode>(mode)));
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData* edges, size_t count,
                                          cudaStreamCaptureMode mode) {
  if (after == nullptr && count != 0) return invalid_value();
  if (!are_plain(edges, count)) return refuse_edges();
  return as_cuda(
      rt::begin_capture_to(graph, as_span(after, count), stream, static_cast<CaptureMode>(mode)));
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return as_cuda(rt::end_capture(stream, reinterpret_cast<void**>(graph)));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (status == nullptr) return invalid_value();
  rt::CaptureFacts facts;
  const Error error = rt::capture_facts(stream, facts);
  *status = static_cast<cudaStreamCaptureStatus>(facts.status);
  return as_cuda(error);
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  if (status == nullptr) return invalid_value();
  rt::CaptureFacts facts;
  const Error error = rt::capture_facts(stream, facts);
  *status = static_cast<cudaStreamCaptureStatus>(facts.status);
  if (error != Error::success || facts.status != CaptureStatus::active) return as_cuda(error);
  if (id != nullptr) *id = facts.id;
  if (graph == nullptr && nodes == nullptr && edges == nullptr && count == nullptr)
    return cudaSuccess;
  void* its = nullptr;
  std::span<void* const> last;
  const Error none = rt::captured_graph(stream, its, last);
  if (graph != nullptr) *graph = static_cast<cudaGraph_t>(its);
  if (nodes != nullptr) *nodes = reinterpret_cast<const cudaGraphNode_t*>(last.data());
  if (edges != nullptr) *edges = plain_edges;
  if (count != nullptr) *count = last.size();
  return as_cuda(none == Error::success && edges != nullptr && last.size() > std::size(plain_edges)
                     ? rt::not_supported("cudaStreamGetCaptureInfo for so many edges")
                     : none);
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData*, size_t count,
                                                unsigned flags) {
  const bool is_known =
      flags == cudaStreamAddCaptureDependencies || flags == cudaStreamSetCaptureDependencies;
  if (!is_known || (nodes == nullptr && count != 0)) return invalid_value();
  void* const* const first = reinterpret_cast<void* const*>(nodes);
  return as_cuda(
      rt::go_on_behind(stream, {first, count}, flags == cudaStreamAddCaptureDependencies));
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (mode == nullptr) return invalid_value();
  auto own = static_cast<CaptureMode>(*mode);
  const Error error = rt::exchange_capture_mode(own);
  *mode = static_cast<cudaStreamCaptureMode>(own);
  return as_cuda(error);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return as_cuda(rt::destroy_graph(graph)); }

// The flags ask for more than names, which is not told.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  if (path == nullptr) return invalid_value();
  std::string text;
  const Error error = rt::describe_graph(graph, text);
  if (error != Error::success) return as_cuda(error);
  std::ofstream file(path);
  return (file << text).flush() ? cudaSuccess : invalid_value();
}

// Other flags say how it is launched, not what it does.
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* result, cudaGraph_t graph,
                                          unsigned long long flags) {
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0)
    return as_cuda(rt::not_supported("cudaGraphInstantiate for launches by the device"));
  return as_cuda(rt::instantiate(reinterpret_cast<void**>(result), graph,
                                 (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0, flags));
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return flags == nullptr ? invalid_value() : as_cuda(rt::flags_of(executable, *flags));
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* result, cudaGraph_t graph,
                                 unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(result, graph, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* result, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  if (params == nullptr) return invalid_value();
  const cudaError_t error = cudaGraphInstantiateWithFlags(result, graph, params->flags);
  params->errNode_out = nullptr;
  params->result_out =
      error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return error;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return as_cuda(rt::destroy_executable(executable));
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  const Error error = rt::check_executable(executable);
  return as_cuda(error != Error::success ? error : rt::check_stream(stream));
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return as_cuda(rt::launch_graph(executable, stream, __builtin_frame_address(0)));
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* kept, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  if (destroy == nullptr || flags != cudaUserObjectNoDestructorSync) return invalid_value();
  return as_cuda(rt::create_object(
      reinterpret_cast<void**>(object), [=] { destroy(kept); }, references));
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return as_cuda(rt::hold_object(object, count));
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return as_cuda(rt::let_go_of_object(object, count));
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  if ((flags & ~static_cast<unsigned>(cudaGraphUserObjectMove)) != 0) return invalid_value();
  return as_cuda(rt::keep_in_graph(graph, object, count, (flags & cudaGraphUserObjectMove) != 0));
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return as_cuda(rt::drop_from_graph(graph, object, count));
}

}  // extern "C"

PTX_PER_THREAD_STREAM(cudaStreamBeginCapture);
PTX_PER_THREAD_STREAM(cudaStreamBeginCaptureToGraph);
PTX_PER_THREAD_STREAM(cudaStreamEndCapture);
PTX_PER_THREAD_STREAM(cudaStreamIsCapturing);
PTX_PER_THREAD_STREAM(cudaStreamGetCaptureInfo);
PTX_PER_THREAD_STREAM(cudaStreamUpdateCaptureDependencies);
PTX_PER_THREAD_STREAM(cudaGraphInstantiateWithParams);
PTX_PER_THREAD_STREAM(cudaGraphUpload);
PTX_PER_THREAD_STREAM(cudaGraphLaunch);
