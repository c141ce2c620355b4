// Edges of graphs: told and taken away, with one of the nodes that they join or alone.
#include "ptx/runtime/tests/calls/building.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class Edges : public GraphCalls {
 protected:
  template <class Tell>
  static Nodes told_by(Tell tell, cudaGraphNode_t node) {
    std::size_t count = 0;
    EXPECT_EQ(tell(node, nullptr, nullptr, &count), cudaSuccess);
    Nodes nodes(count);
    EXPECT_EQ(tell(node, nodes.data(), nullptr, &count), cudaSuccess);
    EXPECT_EQ(count, nodes.size());
    return nodes;
  }
  static Nodes before(cudaGraphNode_t node) { return told_by(cudaGraphNodeGetDependencies, node); }
  static Nodes behind(cudaGraphNode_t node) {
    return told_by(cudaGraphNodeGetDependentNodes, node);
  }
  std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>> all() {
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), cudaSuccess);
    Nodes from(count), to(count);
    EXPECT_EQ(cudaGraphGetEdges(graph, from.data(), to.data(), nullptr, &count), cudaSuccess);
    std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>> edges;
    for (std::size_t i = 0; i < count; ++i) edges.emplace_back(from[i], to[i]);
    return edges;
  }
  cudaError_t remove(cudaGraphNode_t from, cudaGraphNode_t to,
                     const cudaGraphEdgeData* data = nullptr) {
    return cudaGraphRemoveDependencies(graph, &from, &to, data, 1);
  }
};

TEST_F(Edges, are_told_from_both_ends) {
  cudaGraphNode_t const first = adds(1), other = nothing(), last = weighs({first, other});
  EXPECT_THAT(all(), UnorderedElementsAre(Pair(first, last), Pair(other, last)));
  EXPECT_THAT(before(last), ElementsAre(first, other));
  EXPECT_THAT(before(first), IsEmpty());
  EXPECT_THAT(behind(first), ElementsAre(last));
  EXPECT_THAT(behind(last), IsEmpty());
}

TEST_F(Edges, are_told_as_far_as_there_is_room) {
  cudaGraphNode_t const first = nothing(), other = nothing(), last = nothing({first, other});
  Nodes nodes(3, last);
  std::size_t count = 3;
  EXPECT_EQ(cudaGraphNodeGetDependencies(last, nodes.data(), nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 2u);
  EXPECT_THAT(nodes, ElementsAre(first, other, nullptr));
  count = 1;
  Nodes from(1), to(1);
  cudaGraphEdgeData data{1, 1, 1, {}};
  EXPECT_EQ(cudaGraphGetEdges(graph, from.data(), to.data(), &data, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from[0], first);
  EXPECT_EQ(data.type, cudaGraphDependencyTypeDefault);
}

TEST_F(Edges, are_asked_for_in_a_way_that_makes_sense) {
  cudaGraphNode_t const node = nothing();
  Nodes nodes(1);
  cudaGraphEdgeData data{};
  std::size_t count = 1;
  const auto no_node = reinterpret_cast<cudaGraphNode_t>(&count);
  EXPECT_EQ(cudaGraphNodeGetDependencies(node, nodes.data(), nullptr, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeGetDependencies(node, nullptr, &data, &count), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeGetDependencies(no_node, nullptr, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeGetDependentNodes(no_node, nullptr, nullptr, &count),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetEdges(graph, nodes.data(), nullptr, nullptr, &count),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetEdges(nullptr, nullptr, nullptr, nullptr, &count), cudaErrorInvalidValue);
}

TEST_F(Edges, order_nothing_any_more_once_they_are_removed) {
  cudaGraphNode_t const first = adds(1), last = weighs({first});
  instantiate();
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 2); }), "");
  ASSERT_EQ(remove(first, last), cudaSuccess);
  EXPECT_THAT(all(), IsEmpty());
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 2); }), "") << "it was made before that";
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  instantiate();
  EXPECT_THAT(found([&] { cudaGraphLaunch(executable, stream); }),
              HasSubstr("nothing orders the two"));
}

TEST_F(Edges, are_removed_where_all_of_them_are_there) {
  cudaGraphNode_t const first = nothing(), last = nothing({first}), other = nothing();
  const cudaGraphEdgeData early{1, 0, cudaGraphDependencyTypeProgrammatic, {}};
  EXPECT_EQ(remove(last, first), cudaErrorInvalidValue);
  EXPECT_EQ(remove(first, last, &early), cudaErrorInvalidValue) << "another one";
  EXPECT_EQ(remove(nullptr, last), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, nullptr, nullptr, nullptr, 1),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, nullptr, nullptr, nullptr, 0), cudaSuccess);
  const Nodes from = {first, other}, to = {last, last};
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, from.data(), to.data(), nullptr, 2),
            cudaErrorInvalidValue);
  EXPECT_THAT(all(), ElementsAre(Pair(first, last))) << "nothing was removed";
}

TEST_F(Edges, by_which_a_kernel_starts_early_are_told_as_such) {
  EXPECT_EQ(cudaGraphDestroy(std::exchange(graph, nullptr)), cudaSuccess);
  float more = 1;
  void* arguments[] = {&x, &more};
  cudaLaunchAttribute starts_early{};
  starts_early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  starts_early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3{1, 1, 1};
  config.stream = stream, config.attrs = &starts_early;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  for (const unsigned attributes : {0, 1}) {
    config.numAttrs = attributes;
    EXPECT_EQ(cudaLaunchKernelExC(&config, add_kernel(), arguments), cudaSuccess);
  }
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  std::size_t count = 1;
  Nodes from(1), to(1);
  cudaGraphEdgeData data{};
  EXPECT_EQ(cudaGraphGetEdges(graph, from.data(), to.data(), nullptr, &count), cudaErrorLossyQuery);
  EXPECT_EQ(cudaGraphGetEdges(graph, from.data(), to.data(), &data, &count), cudaSuccess);
  EXPECT_EQ(data.type, cudaGraphDependencyTypeProgrammatic);
  EXPECT_EQ(data.from_port, cudaGraphKernelNodePortProgrammatic);
  EXPECT_EQ(remove(from[0], to[0]), cudaErrorInvalidValue);
  EXPECT_EQ(remove(from[0], to[0], &data), cudaSuccess);
  EXPECT_EQ(cudaGraphAddDependencies(graph, from.data(), to.data(), nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphGetEdges(graph, from.data(), to.data(), nullptr, &count), cudaSuccess)
      << "a plain one is in its place";
}

TEST_F(Edges, go_with_a_node_that_is_destroyed) {
  cudaGraphNode_t const first = adds(1), between = weighs({first}), last = adds(4, {between});
  instantiate();
  ASSERT_EQ(cudaGraphDestroyNode(between), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroyNode(between), cudaErrorInvalidValue) << "it is no more";
  EXPECT_THAT(all(), IsEmpty());
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(launched(), 6) << "what was made before that has it still";
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, between, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &first, &last, nullptr, 1), cudaSuccess);
  weighs({last});
  instantiate();
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 10); }), "");
}

TEST_F(Edges, of_a_destroyed_node_are_no_difference_to_a_graph_that_never_had_it) {
  cudaGraphNode_t const gone = nothing(), first = adds(1, {gone});
  weighs({first});
  ASSERT_EQ(cudaGraphDestroyNode(gone), cudaSuccess);
  instantiate();
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  weighs({adds(3, {}, other)}, other);
  EXPECT_EQ(cudaGraphExecUpdate(executable, other, nullptr), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
  EXPECT_EQ(launched(), 6);
}

TEST_F(Edges, stay_while_a_graph_is_captured_or_where_it_allocates) {
  cudaGraphNode_t node = nullptr;
  cudaMemAllocNodeParams memory{};
  memory.bytesize = 64;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory), cudaSuccess);
  cudaGraphNode_t const behind_it = nothing({node});
  EXPECT_EQ(remove(node, behind_it), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphDestroyNode(behind_it), cudaErrorNotSupported);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, &behind_it, nullptr, 1,
                                          cudaStreamCaptureModeGlobal),
            cudaSuccess);
  EXPECT_NE(cudaGraphDestroyNode(behind_it), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
}

}  // namespace
}  // namespace ptx::tests
