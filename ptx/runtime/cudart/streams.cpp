// Streams and events.
#include <cstring>

#include "ptx/runtime/cudart/attributes.h"
#include "ptx/runtime/cudart/forward.h"

using namespace ptx::cudart;

namespace {

bool is_of_streams(cudaStreamAttrID id) {
  switch (id) {
    case cudaStreamAttributeAccessPolicyWindow:
    case cudaStreamAttributeSynchronizationPolicy:
    case cudaStreamAttributePriority:
    case cudaStreamAttributeMemSyncDomainMap:
    case cudaStreamAttributeMemSyncDomain:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling: return true;
    default: return false;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* result, unsigned flags, int priority) {
  return as_cuda(rt::create_stream(reinterpret_cast<void**>(result), flags, priority));
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* result, unsigned flags) {
  return cudaStreamCreateWithPriority(result, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* result) {
  return cudaStreamCreateWithFlags(result, cudaStreamDefault);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return as_cuda(rt::destroy_stream(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return as_cuda(rt::wait_for_stream(stream));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return as_cuda(rt::query_stream(stream)); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (flags > cudaEventWaitExternal) return invalid_value();
  const bool is_outside = flags == cudaEventWaitExternal;
  return as_cuda(
      rt::wait_for_event(stream, event, is_outside ? rt::EventOf::outside : rt::EventOf::stream));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  if (callback == nullptr) return invalid_value();
  return as_cuda(rt::call_back(
      stream, [=] { callback(stream, cudaSuccess, data); }, data));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  rt::StreamFacts facts;
  const ptx::Error error = rt::stream_facts(stream, facts);
  *flags = facts.flags;
  return as_cuda(error);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  cudaStreamAttrValue value{};
  const cudaError_t error = cudaStreamGetAttribute(stream, cudaStreamAttributePriority, &value);
  *priority = value.priority;
  return error;
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  rt::StreamFacts facts;
  const ptx::Error error = rt::stream_facts(stream, facts);
  *id = facts.id;
  return as_cuda(error);
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  *device = 0;
  return as_cuda(rt::check_stream(stream));
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   const cudaStreamAttrValue* value) {
  if (value == nullptr || !is_of_streams(id) || !is_valid(id, *value)) return invalid_value();
  return as_cuda(rt::set_attribute(stream, id, as_told(*value)));
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   cudaStreamAttrValue* value) {
  if (value == nullptr || !is_of_streams(id)) return invalid_value();
  rt::StreamFacts facts;
  if (const ptx::Error error = rt::stream_facts(stream, facts); error != ptx::Error::success)
    return as_cuda(error);
  rt::AttributeValue told = as_told(usual_value(id, facts.priority));
  const ptx::Error error = rt::get_attribute(stream, id, told);
  std::memcpy(value, &told, sizeof *value);
  return as_cuda(error);
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return as_cuda(rt::copy_attributes(to, from));
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, size_t, unsigned) {
  return as_cuda(rt::check_stream(stream));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* result, unsigned flags) {
  return as_cuda(
      rt::create_event(reinterpret_cast<void**>(result), (flags & cudaEventDisableTiming) == 0));
}
cudaError_t cudaEventCreate(cudaEvent_t* result) {
  return cudaEventCreateWithFlags(result, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return as_cuda(rt::destroy_event(event)); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags > cudaEventRecordExternal) return invalid_value();
  const bool is_outside = flags == cudaEventRecordExternal;
  return as_cuda(
      rt::record_event(event, stream, is_outside ? rt::EventOf::outside : rt::EventOf::stream));
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return as_cuda(rt::wait_for_event(event)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return as_cuda(rt::query_event(event)); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return milliseconds == nullptr ? invalid_value() : as_cuda(rt::elapsed(*milliseconds, from, to));
}

}  // extern "C"

PTX_PER_THREAD_STREAM(cudaStreamSynchronize);
PTX_PER_THREAD_STREAM(cudaStreamQuery);
PTX_PER_THREAD_STREAM(cudaStreamWaitEvent);
PTX_PER_THREAD_STREAM(cudaStreamAddCallback);
PTX_PER_THREAD_STREAM(cudaStreamGetFlags);
PTX_PER_THREAD_STREAM(cudaStreamGetPriority);
PTX_PER_THREAD_STREAM(cudaStreamGetId);
PTX_PER_THREAD_STREAM(cudaStreamGetDevice);
PTX_PER_THREAD_STREAM(cudaStreamSetAttribute);
PTX_PER_THREAD_STREAM(cudaStreamGetAttribute);
PTX_PER_THREAD_STREAM(cudaStreamCopyAttributes);
PTX_PER_THREAD_STREAM(cudaStreamAttachMemAsync);
PTX_PER_THREAD_STREAM(cudaEventRecord);
PTX_PER_THREAD_STREAM(cudaEventRecordWithFlags);
