// Nodes that are switched off, given other attributes, or other graphs; and capture into a graph.
#include <fstream>
#include <iterator>

#include "ptx/runtime/tests/calls/building.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class GraphChanges : public GraphCalls {
 protected:
  cudaLaunchAttributeValue get(cudaGraphNode_t node, cudaLaunchAttributeID id) {
    cudaLaunchAttributeValue held{};
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(node, id, &held), cudaSuccess);
    return held;
  }
  cudaGraphNode_t tells_cluster() {
    void* arguments[] = {&x};
    return add_launch(cluster_kernel(), arguments, {}, 4);
  }
  static cudaLaunchAttributeValue cluster_of(unsigned blocks) {
    cudaLaunchAttributeValue value{};
    value.clusterDim = {blocks, 1, 1};
    return value;
  }
};

constexpr cudaLaunchAttributeID cluster_dimension = cudaLaunchAttributeClusterDimension;

TEST_F(GraphChanges, switch_nodes_off_and_on_in_what_was_made_of_the_graph) {
  cudaGraphNode_t const first = adds(1), between = weighs({first});
  adds(4, {between});
  instantiate();
  unsigned is_enabled = 7;
  EXPECT_EQ(cudaGraphNodeGetEnabled(executable, between, &is_enabled), cudaSuccess);
  EXPECT_EQ(is_enabled, 1u);
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, between, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphNodeGetEnabled(executable, between, &is_enabled), cudaSuccess);
  EXPECT_EQ(is_enabled, 0u);
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 5) << "the others stay in order"; }), "");
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, between, 2), cudaSuccess);
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 6); }), "");
}

TEST_F(GraphChanges, switch_off_nothing_but_kernels_copies_and_memsets) {
  cudaGraphNode_t const node = nothing(), kernel = adds(1);
  instantiate();
  unsigned is_enabled = 0;
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, node, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeGetEnabled(executable, node, &is_enabled), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeGetEnabled(executable, kernel, nullptr), cudaErrorInvalidValue);
  cudaGraphNode_t const later = adds(2);
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, later, 0), cudaErrorInvalidValue)
      << "it was not there then";
}

TEST_F(GraphChanges, give_kernels_attributes_that_launches_have) {
  cudaGraphNode_t const node = tells_cluster();
  EXPECT_EQ(get(node, cluster_dimension).clusterDim.x, 0u);
  const cudaLaunchAttributeValue pairs = cluster_of(2);
  ASSERT_EQ(cudaGraphKernelNodeSetAttribute(node, cluster_dimension, &pairs), cudaSuccess);
  EXPECT_EQ(get(node, cluster_dimension).clusterDim.x, 2u);
  instantiate();
  EXPECT_EQ(launched(), 2);
  void* arguments[] = {&x};
  const cudaKernelNodeParams larger = launch_of(cluster_kernel(), arguments, 8);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, node, &larger), cudaSuccess);
  EXPECT_EQ(launched(), 2) << "parameters leave attributes as they are";
}

TEST_F(GraphChanges, copy_attributes_from_kernel_to_kernel) {
  cudaGraphNode_t const from = tells_cluster(), to = tells_cluster();
  const cudaLaunchAttributeValue all = cluster_of(4);
  cudaLaunchAttributeValue priority{};
  priority.priority = -3;
  ASSERT_EQ(cudaGraphKernelNodeSetAttribute(from, cluster_dimension, &all), cudaSuccess);
  ASSERT_EQ(cudaGraphKernelNodeSetAttribute(from, cudaLaunchAttributePriority, &priority),
            cudaSuccess);
  ASSERT_EQ(cudaGraphKernelNodeCopyAttributes(to, from), cudaSuccess);
  EXPECT_EQ(get(to, cudaLaunchAttributePriority).priority, -3);
  EXPECT_EQ(cudaGraphDestroyNode(from), cudaSuccess);
  instantiate();
  EXPECT_EQ(launched(), 4);
}

TEST_F(GraphChanges, tell_attributes_of_captured_kernels) {
  EXPECT_EQ(cudaGraphDestroy(std::exchange(graph, nullptr)), cudaSuccess);
  cudaStreamAttrValue of_stream{};
  of_stream.priority = -1;
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaStreamAttributePriority, &of_stream), cudaSuccess);
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative, cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3{1, 1, 1};
  config.stream = stream, config.attrs = &cooperative, config.numAttrs = 1;
  void* arguments[] = {&x};
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernelExC(&config, weigh_kernel(), arguments), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphNode_t node = nullptr;
  std::size_t count = 1;
  ASSERT_EQ(cudaGraphGetNodes(graph, &node, &count), cudaSuccess);
  EXPECT_EQ(get(node, cudaLaunchAttributeCooperative).cooperative, 1);
  EXPECT_EQ(get(node, cudaLaunchAttributePriority).priority, -1);
}

TEST_F(GraphChanges, give_no_attributes_that_kernels_in_graphs_do_not_have) {
  cudaGraphNode_t const node = adds(1), empty = nothing();
  cudaLaunchAttributeValue value{};
  for (const cudaLaunchAttributeID id :
       {cudaLaunchAttributeSynchronizationPolicy, cudaLaunchAttributeProgrammaticEvent,
        static_cast<cudaLaunchAttributeID>(99)}) {
    EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, id, &value), cudaErrorInvalidValue) << id;
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(node, id, &value), cudaErrorInvalidValue) << id;
  }
  const cudaLaunchAttributeID priority = cudaLaunchAttributePriority;
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cluster_dimension, &value), cudaErrorInvalidValue)
      << "of no blocks";
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(empty, priority, &value), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(empty, priority, &value), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphKernelNodeCopyAttributes(empty, node), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphKernelNodeCopyAttributes(node, empty), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, priority, nullptr), cudaErrorInvalidValue);
  value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  EXPECT_THAT(found([&] {
                EXPECT_EQ(cudaGraphKernelNodeSetAttribute(
                              node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value),
                          cudaErrorNotSupported);
              }),
              HasSubstr("that the device may update"));
}

TEST_F(GraphChanges, put_another_graph_in_the_place_of_one_in_a_graph) {
  cudaGraph_t inner = nullptr, other = nullptr, unlike = nullptr;
  for (cudaGraph_t* const made : {&inner, &other, &unlike})
    ASSERT_EQ(cudaGraphCreate(made, 0), cudaSuccess);
  adds(1, {}, inner), adds(5, {}, other);
  weighs({adds(5, {}, unlike)}, unlike);
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner), cudaSuccess);
  cudaGraphNode_t const last = weighs({node});
  instantiate();
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(executable, node, other), cudaSuccess);
  EXPECT_EQ(launched(), 10);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(executable, node, unlike),
            cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(executable, last, other), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(executable, node, nullptr), cudaErrorInvalidValue);
  for (cudaGraph_t const made : {inner, other, unlike})
    EXPECT_EQ(cudaGraphDestroy(made), cudaSuccess);
}

TEST_F(GraphChanges, capture_what_comes_behind_nodes_that_are_there) {
  cudaGraphNode_t const first = adds(1);
  ASSERT_EQ(
      cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, cudaStreamCaptureModeGlobal),
      cudaSuccess);
  void* arguments[] = {&x};
  EXPECT_EQ(cudaLaunchKernel(weigh_kernel(), dim3{1, 1, 1}, dim3{1, 1, 1}, arguments, 0, stream),
            cudaSuccess);
  cudaGraph_t ended = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &ended), cudaSuccess);
  EXPECT_EQ(ended, graph);
  instantiate();
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 2); }), "");
}

TEST_F(GraphChanges, capture_into_a_graph_as_into_none) {
  cudaGraphNode_t const last = nothing();
  const cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  const Nodes twice = {last, last};
  EXPECT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, twice.data(), nullptr, 2, mode),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 1, mode),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, mode),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamBeginCaptureToGraph(nullptr, graph, nullptr, nullptr, 0, mode),
            cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, &last, nullptr, 1, mode), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, &last, nullptr, 1, mode),
            cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
}

TEST_F(GraphChanges, know_what_comes_before_the_end_of_a_capture_whenever_it_was_added) {
  cudaGraphNode_t last = nothing();
  cudaGraphNode_t const first = adds(1);
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  const auto end = [&] {
    EXPECT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1,
                                            cudaStreamCaptureModeGlobal),
              cudaSuccess);
    EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
    EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream, &last, nullptr, 1,
                                                  cudaStreamSetCaptureDependencies),
              cudaSuccess);
    cudaGraph_t ended = nullptr;
    return cudaStreamEndCapture(stream, &ended);
  };
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &first, &last, nullptr, 1), cudaSuccess);
  EXPECT_EQ(end(), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

TEST_F(GraphChanges, are_seen_in_a_picture) {
  cudaGraph_t inner = nullptr;
  ASSERT_EQ(cudaGraphCreate(&inner, 0), cudaSuccess);
  weighs({}, inner);
  cudaGraphNode_t const first = adds(1);
  cudaGraphNode_t copy = nullptr, node = nullptr;
  ASSERT_EQ(
      cudaGraphAddMemcpyNode1D(&copy, graph, &first, 1, x + 1, x, 4, cudaMemcpyDeviceToDevice),
      cudaSuccess);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, graph, &copy, 1, inner), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(inner), cudaSuccess);
  const std::string path = testing::TempDir() + "graph.dot";
  ASSERT_EQ(cudaGraphDebugDotPrint(graph, path.c_str(), 0), cudaSuccess);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, AllOf(HasSubstr("digraph"), HasSubstr("add(float*, float)"),
                          HasSubstr("n1 [label=\"1: copy of 4 bytes, device to device\"];"),
                          HasSubstr("n0 -> n1;"), HasSubstr("subgraph cluster_n2"),
                          HasSubstr("n2_0 [label=")));
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDebugDotPrint(nullptr, path.c_str(), 0), cudaErrorInvalidValue);
}

TEST_F(GraphChanges, keep_the_flags_of_what_was_made) {
  const unsigned long long told =
      cudaGraphInstantiateFlagUseNodePriority | cudaGraphInstantiateFlagAutoFreeOnLaunch;
  unsigned long long flags = 0;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, told), cudaSuccess);
  EXPECT_EQ(cudaGraphExecGetFlags(executable, &flags), cudaSuccess);
  EXPECT_EQ(flags, told);
  EXPECT_EQ(cudaGraphExecGetFlags(executable, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecGetFlags(nullptr, &flags), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ptx::tests
