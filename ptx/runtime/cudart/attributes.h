// Attributes of streams, launches and nodes of graphs that say how fast something is: which values
// a GPU takes, and which ones are there before somebody sets them.
#pragma once

#include <cstring>

#include "ptx/runtime/cudart/forward.h"

namespace ptx::cudart {

static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(rt::AttributeValue));
inline rt::AttributeValue as_told(const cudaLaunchAttributeValue& value) {
  rt::AttributeValue told;
  std::memcpy(&told, &value, sizeof told);
  return told;
}

// As an H100 takes it.
inline bool is_valid(const cudaAccessPolicyWindow& window) {
  return window.num_bytes <= Model::access_window && window.hitRatio >= 0 && window.hitRatio <= 1;
}
inline bool is_valid(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) {
  constexpr unsigned domains = 4;  // of a device: cudaDevAttrMemSyncDomainCount
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: return is_valid(value.accessPolicyWindow);
    case cudaLaunchAttributeSynchronizationPolicy:
      return value.syncPolicy >= cudaSyncPolicyAuto &&
             value.syncPolicy <= cudaSyncPolicyBlockingSync;
    case cudaLaunchAttributeMemSyncDomainMap:
      return value.memSyncDomainMap.default_ < domains && value.memSyncDomainMap.remote < domains;
    case cudaLaunchAttributeMemSyncDomain:
      return value.memSyncDomain == cudaLaunchMemSyncDomainDefault ||
             value.memSyncDomain == cudaLaunchMemSyncDomainRemote;
    default: return true;
  }
}

inline cudaLaunchAttributeValue usual_value(cudaLaunchAttributeID id, int priority) {
  cudaLaunchAttributeValue value{};
  if (id == cudaLaunchAttributeSynchronizationPolicy) value.syncPolicy = cudaSyncPolicyAuto;
  if (id == cudaLaunchAttributePriority) value.priority = priority;
  if (id == cudaLaunchAttributeMemSyncDomainMap) value.memSyncDomainMap = {0, 1};
  return value;
}

}  // namespace ptx::cudart
