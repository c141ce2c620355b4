// Attributes of streams.
#include "ptx/runtime/tests/calls/calling.h"

namespace ptx::tests {
namespace {

class StreamAttributes : public Calls {
 protected:
  cudaStreamAttrValue get(cudaStreamAttrID id, cudaStream_t of) {
    cudaStreamAttrValue value;
    EXPECT_EQ(cudaStreamGetAttribute(of, id, &value), cudaSuccess);
    return value;
  }
  static cudaStreamAttrValue window(std::size_t bytes) {
    cudaStreamAttrValue value{};
    value.accessPolicyWindow.num_bytes = bytes, value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    return value;
  }
};

TEST_F(StreamAttributes, are_the_usual_ones_until_they_are_set) {
  EXPECT_EQ(get(cudaStreamAttributeAccessPolicyWindow, stream).accessPolicyWindow.num_bytes, 0u);
  EXPECT_EQ(get(cudaStreamAttributeSynchronizationPolicy, stream).syncPolicy, cudaSyncPolicyAuto);
  EXPECT_EQ(get(cudaStreamAttributeMemSyncDomain, nullptr).memSyncDomain,
            cudaLaunchMemSyncDomainDefault);
  EXPECT_EQ(get(cudaStreamAttributeMemSyncDomainMap, nullptr).memSyncDomainMap.remote, 1);
  cudaStream_t urgent = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, -2), cudaSuccess);
  EXPECT_EQ(get(cudaStreamAttributePriority, urgent).priority, -2);
  EXPECT_EQ(cudaStreamDestroy(urgent), cudaSuccess);
}

TEST_F(StreamAttributes, are_kept_for_each_stream_and_copied) {
  const cudaStreamAttrID id = cudaStreamAttributeAccessPolicyWindow;
  const cudaStreamAttrValue told = window(4096);
  ASSERT_EQ(cudaStreamSetAttribute(stream, id, &told), cudaSuccess);
  EXPECT_EQ(get(id, stream).accessPolicyWindow.num_bytes, 4096u);
  EXPECT_EQ(get(id, stream).accessPolicyWindow.hitProp, cudaAccessPropertyPersisting);
  EXPECT_EQ(get(id, cudaStreamPerThread).accessPolicyWindow.num_bytes, 0u);
  EXPECT_EQ(cudaStreamCopyAttributes(cudaStreamPerThread, stream), cudaSuccess);
  EXPECT_EQ(get(id, cudaStreamPerThread).accessPolicyWindow.num_bytes, 4096u);
  const cudaStreamAttrValue none = window(0);
  EXPECT_EQ(cudaStreamSetAttribute(cudaStreamPerThread, id, &none), cudaSuccess);
  EXPECT_EQ(get(id, stream).accessPolicyWindow.num_bytes, 4096u);
}

TEST_F(StreamAttributes, may_change_the_priority) {
  cudaStreamAttrValue value{};
  value.priority = -3;
  int priority = 0;
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaStreamAttributePriority, &value), cudaSuccess);
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  EXPECT_EQ(priority, -3);
}

TEST_F(StreamAttributes, are_those_of_streams_and_have_values_that_there_are) {
  cudaStreamAttrValue value{};
  for (const cudaStreamAttrID id :
       {cudaLaunchAttributeIgnore, cudaLaunchAttributeCooperative,
        cudaLaunchAttributeClusterDimension, static_cast<cudaStreamAttrID>(99)}) {
    EXPECT_EQ(cudaStreamSetAttribute(stream, id, &value), cudaErrorInvalidValue) << id;
    EXPECT_EQ(cudaStreamGetAttribute(stream, id, &value), cudaErrorInvalidValue) << id;
  }
  const cudaStreamAttrID policy = cudaStreamAttributeSynchronizationPolicy;
  EXPECT_EQ(cudaStreamSetAttribute(stream, policy, &value), cudaErrorInvalidValue) << "no policy";
  EXPECT_EQ(cudaStreamSetAttribute(stream, policy, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamGetAttribute(stream, policy, nullptr), cudaErrorInvalidValue);
  value.memSyncDomainMap = {0, 4};
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaStreamAttributeMemSyncDomainMap, &value),
            cudaErrorInvalidValue);
  const auto no_stream = reinterpret_cast<cudaStream_t>(&value);
  EXPECT_EQ(cudaStreamGetAttribute(no_stream, policy, &value), cudaErrorInvalidResourceHandle);
  value.syncPolicy = cudaSyncPolicySpin;
  EXPECT_EQ(cudaStreamSetAttribute(no_stream, policy, &value), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamCopyAttributes(stream, no_stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamCopyAttributes(no_stream, stream), cudaErrorInvalidResourceHandle);
}

}  // namespace
}  // namespace ptx::tests
