// Nodes of graphs that do other graphs as a condition says.
#include "ptx/runtime/tests/calls/building.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Conditions : public GraphCalls {
 protected:
  using Handle = cudaGraphConditionalHandle;

  Handle condition(std::optional<unsigned> at_launch, cudaGraph_t of = nullptr) {
    Handle handle = 0;
    EXPECT_EQ(
        cudaGraphConditionalHandleCreate(&handle, of == nullptr ? graph : of, at_launch.value_or(0),
                                         at_launch ? cudaGraphCondAssignDefault : 0),
        cudaSuccess);
    return handle;
  }
  static cudaGraphNodeParams branching(Handle handle, cudaGraphConditionalNodeType type,
                                       unsigned size = 1) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type, params.conditional.size = size;
    return params;
  }
  // Its graphs; `last` is the node.
  std::vector<cudaGraph_t> branches(Handle handle, cudaGraphConditionalNodeType type,
                                    unsigned size = 1, const Nodes& after = {},
                                    cudaGraph_t to = nullptr) {
    cudaGraphNodeParams params = branching(handle, type, size);
    EXPECT_EQ(cudaGraphAddNode(&last, to == nullptr ? graph : to, after.data(), nullptr,
                               after.size(), &params),
              cudaSuccess);
    if (params.conditional.phGraph_out == nullptr) return {};
    return {params.conditional.phGraph_out, params.conditional.phGraph_out + size};
  }
  cudaGraphNode_t sets(Handle handle, unsigned value, const Nodes& after = {},
                       cudaGraph_t to = nullptr) {
    void* arguments[] = {&handle, &value};
    return add_launch(set_kernel(), arguments, after, 1, to);
  }
  cudaGraphNode_t counts_down(Handle handle, const Nodes& after, cudaGraph_t to) {
    void* arguments[] = {&handle, &x};
    return add_launch(countdown_kernel(), arguments, after, 1, to);
  }
  void start_again() {
    EXPECT_EQ(cudaGraphExecDestroy(std::exchange(executable, nullptr)), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  }

  cudaGraphNode_t last = nullptr;
};

constexpr auto if_ = cudaGraphCondTypeIf, while_ = cudaGraphCondTypeWhile,
               switch_ = cudaGraphCondTypeSwitch;

TEST_F(Conditions, decide_whether_a_graph_is_done_or_another_one) {
  const auto result = [&](unsigned value, unsigned size) {
    const Handle handle = condition(std::nullopt);
    const auto graphs = branches(handle, if_, size, {sets(handle, value, {adds(1)})});
    adds(10, {}, graphs.at(0));
    if (size == 2) weighs({adds(4, {}, graphs.at(1))}, graphs.at(1));
    adds(100, {last});
    instantiate();
    float held = 0;
    EXPECT_EQ(found([&] { held = launched(); }), "");
    start_again();
    return held;
  };
  EXPECT_EQ(result(1, 1), 111);
  EXPECT_EQ(result(7, 2), 111);
  EXPECT_EQ(result(0, 1), 101);
  EXPECT_EQ(result(0, 2), 110);
}

TEST_F(Conditions, repeat_a_graph_until_a_kernel_in_it_says_so) {
  const Handle handle = condition(1);
  const auto graphs = branches(handle, while_, 1, {adds(3)});
  counts_down(handle, {}, graphs.at(0));
  float* const other = x + 1;
  float one = 1;
  void* arguments[] = {const_cast<float**>(&other), &one};
  add_launch(add_kernel(), arguments, {}, 1, graphs.at(0));
  weighs({adds(5, {last})});
  instantiate();
  const Observation seen = observe({}, [&] { launch(); });
  EXPECT_FALSE(seen.finding);
  EXPECT_EQ(value(), 10);
  EXPECT_TRUE(seen.is_no_part) << "a part of a grid might not decide";
  EXPECT_EQ(value(1), 3) << "rounds";
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 10) << "the condition is 1 again"; }), "");
  EXPECT_EQ(value(1), 6);
}

TEST_F(Conditions, may_be_0_before_the_first_round) {
  const Handle handle = condition(0);
  adds(1, {}, branches(handle, while_).at(0));
  instantiate();
  EXPECT_EQ(launched(), 0);
}

TEST_F(Conditions, choose_one_of_many_graphs) {
  const Handle handle = condition(std::nullopt);
  cudaGraphNode_t const chooses = sets(handle, 0);
  const auto graphs = branches(handle, switch_, 3, {chooses});
  for (unsigned i = 0; i < 3; ++i) adds(static_cast<float>(i + 1), {}, graphs.at(i));
  instantiate();
  const auto result = [&](unsigned value) {
    Handle its = handle;
    void* arguments[] = {&its, &value};
    const cudaKernelNodeParams params = launch_of(set_kernel(), arguments);
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, chooses, &params), cudaSuccess);
    return launched();
  };
  EXPECT_EQ(result(0), 1);
  EXPECT_EQ(result(2), 3);
  EXPECT_EQ(result(3), 0) << "none of them";
  EXPECT_EQ(result(~0u), 0);
}

TEST_F(Conditions, may_be_in_graphs_that_others_decide_about) {
  const Handle outer = condition(1), inner = condition(std::nullopt);
  const cudaGraph_t body = branches(outer, while_, 1, {adds(3)}).at(0);
  cudaGraphNode_t const counts = counts_down(outer, {}, body);
  const auto graphs = branches(inner, if_, 1, {sets(inner, 1, {counts}, body)}, body);
  float* const other = x + 1;
  float two = 2;
  void* arguments[] = {const_cast<float**>(&other), &two};
  add_launch(add_kernel(), arguments, {}, 1, graphs.at(0));
  instantiate();
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 0); }), "");
  EXPECT_EQ(value(1), 6);
}

TEST_F(Conditions, in_graphs_that_others_decide_about_begin_with_each_launch) {
  const Handle outer = condition(1), inner = condition(1);
  const cudaGraph_t body = branches(outer, if_).at(0);
  const cudaGraph_t innermost = branches(inner, if_, 1, {}, body).at(0);
  adds(2, {sets(inner, 0, {}, innermost)}, innermost);
  instantiate();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(launched(), 2);
}

TEST_F(Conditions, decide_about_graphs_that_were_captured) {
  const Handle handle = condition(1);
  cudaGraph_t body = branches(handle, if_).at(0);
  ASSERT_EQ(
      cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal),
      cudaSuccess);
  float more = 3;
  void* arguments[] = {&x, &more};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(cudaLaunchKernel(add_kernel(), dim3{1, 1, 1}, dim3{1, 1, 1}, arguments, 0, stream),
              cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream, &body), cudaSuccess);
  instantiate();
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 6); }), "");
}

TEST_F(Conditions, leave_nodes_that_can_be_set_in_what_was_made_of_the_graph) {
  const Handle handle = condition(1);
  cudaGraphNode_t const node = adds(3, {}, branches(handle, if_).at(0));
  instantiate();
  float more = 8;
  void* arguments[] = {&x, &more};
  const cudaKernelNodeParams params = launch_of(add_kernel(), arguments);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, node, &params), cudaSuccess);
  EXPECT_EQ(launched(), 8);
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, node, 0), cudaSuccess);
  EXPECT_EQ(launched(), 0);
}

TEST_F(Conditions, that_never_become_0_are_found_as_a_kernel_that_never_ends) {
  const Handle handle = condition(1);
  sets(handle, 1, {}, branches(handle, while_).at(0));
  instantiate();
  const Observation seen = observe({.settings = {.cpu_seconds = 0.05}}, [&] {
    EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaErrorLaunchTimeout);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchTimeout);
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->fault, Fault::never_ends);
  EXPECT_THAT(seen.finding->text, AllOf(HasSubstr("cudaGraphCondTypeWhile"),
                                        HasSubstr("and its condition is not 0 yet")));
}

TEST_F(Conditions, of_graphs_without_a_kernel_never_become_0) {
  branches(condition(1), while_);
  instantiate();
  EXPECT_THAT(found([&] { cudaGraphLaunch(executable, stream); }), HasSubstr("no kernel in it"));
}

TEST_F(Conditions, may_become_0_after_more_rounds_than_time_for_one_kernel) {
  const Handle handle = condition(1);
  counts_down(handle, {}, branches(handle, while_, 1, {adds(900)}).at(0));
  instantiate();
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 0); }, {.cpu_seconds = 1e-4}), "");
}

TEST_F(Conditions, have_no_value_until_somebody_sets_it) {
  const Handle handle = condition(std::nullopt);
  adds(1, {}, branches(handle, if_).at(0));
  instantiate();
  const Observation seen =
      observe({}, [&] { EXPECT_NE(cudaGraphLaunch(executable, stream), cudaSuccess); });
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->fault, Fault::uninitialised);
}

TEST_F(Conditions, are_set_before_they_are_asked_or_nothing_orders_the_two) {
  const Handle handle = condition(1);
  sets(handle, 0);
  adds(1, {}, branches(handle, if_).at(0));
  instantiate();
  EXPECT_THAT(found([&] { cudaGraphLaunch(executable, stream); }),
              AllOf(HasSubstr("the condition of a graph"), HasSubstr("nothing orders the two")));
}

TEST_F(Conditions, are_set_by_one_thread) {
  Handle handle = condition(1);
  void* arguments[] = {&handle};
  cudaKernelNodeParams params = launch_of(set_all_kernel(), arguments);
  params.blockDim.x = 64;
  ASSERT_EQ(cudaGraphAddKernelNode(&last, graph, nullptr, 0, &params), cudaSuccess);
  instantiate();
  EXPECT_THAT(found([&] { cudaGraphLaunch(executable, stream); }),
              HasSubstr("the condition of a graph"));
}

TEST_F(Conditions, are_known_by_their_handles_alone) {
  void* arguments[] = {&x, &x};
  auto no_handle = reinterpret_cast<Handle>(x);
  unsigned value = 1;
  arguments[0] = &no_handle, arguments[1] = &value;
  EXPECT_NE(found([&] {
              cudaLaunchKernel(set_kernel(), dim3{1, 1, 1}, dim3{1, 1, 1}, arguments, 0, stream);
            }),
            "");
}

TEST_F(Conditions, have_one_node_of_a_size_that_there_is) {
  const Handle handle = condition(1);
  const auto refused = [&](Handle its, cudaGraphConditionalNodeType type, unsigned size,
                           cudaGraph_t to) {
    cudaGraphNodeParams params = branching(its, type, size);
    cudaGraphNode_t node = nullptr;
    const cudaError_t error = cudaGraphAddNode(&node, to, nullptr, nullptr, 0, &params);
    std::size_t count = 1;
    EXPECT_EQ(cudaGraphGetNodes(to, nullptr, &count), cudaSuccess);
    EXPECT_EQ(count, 0u);
    return error == cudaErrorInvalidValue;
  };
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  EXPECT_TRUE(refused(handle, if_, 0, graph));
  EXPECT_TRUE(refused(handle, if_, 3, graph));
  EXPECT_TRUE(refused(handle, while_, 2, graph));
  EXPECT_TRUE(refused(handle, switch_, 0, graph));
  EXPECT_TRUE(refused(handle, static_cast<cudaGraphConditionalNodeType>(9), 1, graph));
  EXPECT_TRUE(refused(handle + 4, if_, 1, graph));
  EXPECT_TRUE(refused(handle, if_, 1, other)) << "of another graph";
  branches(handle, if_);
  cudaGraphNodeType type{};
  EXPECT_EQ(cudaGraphNodeGetType(last, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeConditional);
  cudaGraphNodeParams again = branching(handle, if_);
  EXPECT_EQ(cudaGraphAddNode(&last, graph, nullptr, nullptr, 0, &again), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
}

TEST_F(Conditions, have_their_node_in_a_graph_within_theirs_or_within_its_copy) {
  cudaGraph_t inner = nullptr, copy = nullptr;
  cudaGraphNode_t twin = nullptr;
  ASSERT_EQ(cudaGraphCreate(&inner, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&last, graph, nullptr, 0, inner), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(inner), cudaSuccess);
  ASSERT_EQ(cudaGraphClone(&copy, graph), cudaSuccess);
  ASSERT_EQ(cudaGraphNodeFindInClone(&twin, last, copy), cudaSuccess);
  for (const auto& [whole, node] : {std::pair(graph, last), std::pair(copy, twin)}) {
    ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &inner), cudaSuccess);
    adds(7, {}, branches(condition(1, whole), if_, 1, {}, inner).at(0));
    EXPECT_EQ(cudaGraphInstantiate(&executable, whole, 0), cudaSuccess);
    EXPECT_EQ(launched(), 7);
    EXPECT_EQ(cudaGraphExecDestroy(std::exchange(executable, nullptr)), cudaSuccess);
  }
  EXPECT_EQ(cudaGraphDestroy(copy), cudaSuccess);
}

TEST_F(Conditions, are_made_as_they_can_be) {
  Handle handle = 0;
  EXPECT_EQ(cudaGraphConditionalHandleCreate(nullptr, graph, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, nullptr, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 0, 2), cudaErrorInvalidValue);
  const cudaGraph_t body = branches(condition(1), while_).at(0);
  EXPECT_EQ(cudaGraphDestroy(body), cudaErrorInvalidValue) << "it is the node's own";
  EXPECT_THAT(found([&] {
                EXPECT_EQ(
                    cudaGraphConditionalHandleCreate(&handle, body, 1, cudaGraphCondAssignDefault),
                    cudaErrorNotSupported);
              }),
              HasSubstr("a value for each launch of a graph in another one"));
}

TEST_F(Conditions, are_not_asked_where_blocks_are_left_out_that_may_set_them) {
  const Handle handle = condition(std::nullopt);
  void* arguments[] = {&x};
  branches(handle, if_, 1, {add_launch(cluster_kernel(), arguments, {}, 1 << 18)});
  instantiate();
  const Observation seen =
      observe({.settings = {.most_blocks = 2}}, [&] { cudaGraphLaunch(executable, stream); });
  EXPECT_TRUE(seen.is_part);
  EXPECT_TRUE(seen.is_no_part);
  EXPECT_FALSE(seen.finding) << seen.finding->text;
}

void do_nothing(void*) {}

TEST_F(Conditions, decide_about_work_of_the_device_alone) {
  const Handle handle = condition(1);
  const cudaGraph_t body = branches(handle, if_).at(0);
  const cudaHostNodeParams host{do_nothing, nullptr};
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddHostNode(&node, body, nullptr, 0, &host), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroyNode(node), cudaSuccess);
  instantiate();
}

TEST_F(Conditions, keep_their_graph_from_being_copied_or_an_update) {
  const Handle handle = condition(1);
  adds(1, {}, branches(handle, if_).at(0));
  instantiate();
  cudaGraph_t copy = nullptr;
  EXPECT_EQ(cudaGraphClone(&copy, graph), cudaErrorNotSupported);
  EXPECT_THAT(found([&] {
                EXPECT_EQ(cudaGraphExecUpdate(executable, graph, nullptr), cudaErrorNotSupported);
              }),
              HasSubstr("cudaGraphExecUpdate"));
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&last, other, nullptr, 0, graph), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
}

TEST_F(Conditions, are_not_asked_where_no_kernel_is_run) {
  const Handle handle = condition(1), other = condition(1);
  counts_down(handle, {}, branches(handle, while_, 1, {adds(3)}).at(0));
  adds(0, {}, branches(other, if_, 1, {last}).at(0));
  instantiate();
  EXPECT_EQ(launched(), 0);
  const Observation dry =
      observe({.runs_nothing = true}, [&] { cudaGraphLaunch(executable, stream); });
  EXPECT_FALSE(dry.finding);
  EXPECT_EQ(dry.kernels, 1) << "whether there are more, nobody knows";
  EXPECT_FALSE(
      observe({.settings = {.most_watched = 1}}, [&] { cudaGraphLaunch(executable, stream); })
          .finding)
      << "enough has been seen after the first round";
  for (const int refused : {0, 1, 2}) {
    float none = 0;
    void* arguments[] = {&x, &none};
    const dim3 one{1, 1, 1};
    EXPECT_FALSE(observe({.refused_launch = refused}, [&] {
                   cudaLaunchKernel(add_kernel(), one, one, arguments, 0, stream);
                   cudaGraphLaunch(executable, stream);
                 }).finding);
  }
}

}  // namespace
}  // namespace ptx::tests
