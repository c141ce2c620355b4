// A graph that tests build by CUDA's own calls. Most nodes add to x, or weigh it.
#pragma once

#include <vector>

#include "ptx/runtime/tests/calls/calling.h"

namespace ptx::tests {

class GraphCalls : public Calls {
 protected:
  using Nodes = std::vector<cudaGraphNode_t>;

  void SetUp() override {
    Calls::SetUp();
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    set_weight(2);
  }
  void TearDown() override {
    if (executable != nullptr) cudaGraphExecDestroy(executable);
    if (graph != nullptr) cudaGraphDestroy(graph);
    Calls::TearDown();
  }

  static void set_weight(float weight) {
    EXPECT_EQ(
        cudaMemcpyToSymbol(weight_variable(), &weight, sizeof weight, 0, cudaMemcpyHostToDevice),
        cudaSuccess);
  }
  static cudaKernelNodeParams launch_of(const void* kernel, void** arguments, unsigned blocks = 1) {
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(kernel);
    params.gridDim = dim3{blocks, 1, 1}, params.blockDim = dim3{1, 1, 1};
    params.kernelParams = arguments;
    return params;
  }
  cudaGraphNode_t add_launch(const void* kernel, void** arguments, const Nodes& after,
                             unsigned blocks = 1, cudaGraph_t to = nullptr) {
    const cudaKernelNodeParams params = launch_of(kernel, arguments, blocks);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, to == nullptr ? graph : to, after.data(), after.size(),
                                     &params),
              cudaSuccess);
    return node;
  }
  cudaGraphNode_t adds(float more, const Nodes& after = {}, cudaGraph_t to = nullptr) {
    void* arguments[] = {&x, &more};
    return add_launch(add_kernel(), arguments, after, 1, to);
  }
  cudaGraphNode_t weighs(const Nodes& after = {}, cudaGraph_t to = nullptr) {
    void* arguments[] = {&x};
    return add_launch(weigh_kernel(), arguments, after, 1, to);
  }
  cudaGraphNode_t nothing(const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph, after.data(), after.size()), cudaSuccess);
    return node;
  }
  void instantiate() { ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess); }
  void launch() {
    EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
  // x after one launch that finds 0 there.
  float launched() {
    EXPECT_EQ(cudaMemset(x, 0, sizeof *x), cudaSuccess);
    launch();
    return value();
  }

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

}  // namespace ptx::tests
