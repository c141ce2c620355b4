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
    case cudaLaunchAttributePreferredSharedMemoryCarveout: return value.sharedMemCarveout <= 100;
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

inline void set_attribute(rt::Configuration& launch, cudaLaunchAttributeID id,
                          const cudaLaunchAttributeValue& value) {
  const auto& cluster = value.clusterDim;
  switch (id) {
    case cudaLaunchAttributeIgnore: break;
    case cudaLaunchAttributeCooperative: launch.cooperative = value.cooperative != 0; break;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      launch.starts_early = value.programmaticStreamSerializationAllowed != 0;
      break;
    case cudaLaunchAttributeClusterDimension:
      launch.cluster = {cluster.x, cluster.y, cluster.z};
      break;
    default: launch.attributes[id] = as_told(value);
  }
}
inline cudaLaunchAttributeValue attribute_of(const rt::Configuration& launch,
                                             cudaLaunchAttributeID id) {
  cudaLaunchAttributeValue value = usual_value(id, 0);
  const Dim& cluster = launch.cluster;
  if (id == cudaLaunchAttributeCooperative) value.cooperative = launch.cooperative;
  if (id == cudaLaunchAttributeClusterDimension)
    value.clusterDim = {cluster.x, cluster.y, cluster.z};
  const auto told = launch.attributes.find(id);
  if (told != launch.attributes.end()) std::memcpy(&value, &told->second, sizeof value);
  return value;
}

}  // namespace ptx::cudart
