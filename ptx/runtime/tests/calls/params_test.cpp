// What nodes are asked, and copies from and to variables of kernels.
#include "ptx/runtime/tests/calls/building.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;

class NodeParams : public GraphCalls {};

TEST_F(NodeParams, of_copies_are_told_and_can_be_set_again) {
  const float from[] = {1, 2, 3, 4, 5, 6};
  cudaMemcpy3DParms told{}, asked{};
  told.srcPtr = {const_cast<float*>(from), 12, 3, 2};
  told.srcPos = {4, 0, 0};
  told.dstPtr = {x, 8, 2, 2};
  told.extent = {8, 2, 1};
  told.kind = cudaMemcpyHostToDevice;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &told), cudaSuccess);
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(node, &asked), cudaSuccess);
  EXPECT_EQ(asked.srcPtr.ptr, from + 1);
  EXPECT_EQ(asked.srcPtr.pitch, 12u);
  EXPECT_EQ(asked.dstPtr.ptr, x);
  EXPECT_EQ(asked.extent.width, 8u);
  EXPECT_EQ(asked.extent.height, 2u);
  EXPECT_EQ(asked.kind, cudaMemcpyHostToDevice);
  asked.dstPtr.ptr = x + 4;
  ASSERT_EQ(cudaGraphMemcpyNodeSetParams(node, &asked), cudaSuccess);
  instantiate();
  launch();
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(4), 2);
  EXPECT_EQ(value(7), 6);
  EXPECT_EQ(cudaGraphMemcpyNodeGetParams(node, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemcpyNodeGetParams(nothing(), &asked), cudaErrorInvalidValue);
}

TEST_F(NodeParams, of_copies_in_one_piece_are_those_of_one_row) {
  cudaGraphNode_t node = nullptr;
  cudaMemcpy3DParms asked{};
  ASSERT_EQ(
      cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, x, x + 8, 12, cudaMemcpyDeviceToDevice),
      cudaSuccess);
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(node, &asked), cudaSuccess);
  EXPECT_EQ(asked.srcPtr.ptr, x + 8);
  EXPECT_EQ(asked.extent.width, 12u);
  EXPECT_EQ(asked.extent.height, 1u);
  EXPECT_EQ(asked.extent.depth, 1u);
}

TEST_F(NodeParams, of_memsets_are_told_as_they_were) {
  cudaMemsetParams told{}, asked{};
  told.dst = x, told.elementSize = 4, told.width = 3, told.height = 2, told.pitch = 16;
  told.value = 0x3f800000;  // 1.0f
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &told), cudaSuccess);
  ASSERT_EQ(cudaGraphMemsetNodeGetParams(node, &asked), cudaSuccess);
  EXPECT_EQ(asked.dst, x);
  EXPECT_EQ(asked.value, 0x3f800000u);
  EXPECT_EQ(asked.elementSize, 4u);
  EXPECT_EQ(asked.width, 3u);
  EXPECT_EQ(asked.height, 2u);
  EXPECT_EQ(asked.pitch, 16u);
  instantiate();
  launch();
  EXPECT_EQ(value(2), 1);
  EXPECT_EQ(value(3), 0);
  EXPECT_EQ(value(4), 1);
  asked.elementSize = 3;
  EXPECT_EQ(cudaGraphMemsetNodeSetParams(node, &asked), cudaErrorInvalidValue);
  asked.elementSize = 4, asked.dst = reinterpret_cast<char*>(x) + 2;
  EXPECT_EQ(cudaGraphMemsetNodeSetParams(node, &asked), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemsetNodeGetParams(nothing(), &asked), cudaErrorInvalidValue);
}

void count(void* times) { ++*static_cast<int*>(times); }

TEST_F(NodeParams, of_functions_of_the_host_are_told) {
  int times = 0;
  const cudaHostNodeParams told{count, &times};
  cudaHostNodeParams asked{};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddHostNode(&node, graph, nullptr, 0, &told), cudaSuccess);
  ASSERT_EQ(cudaGraphHostNodeGetParams(node, &asked), cudaSuccess);
  EXPECT_EQ(asked.fn, count);
  EXPECT_EQ(asked.userData, &times);
  EXPECT_EQ(cudaGraphHostNodeGetParams(nothing(), &asked), cudaErrorInvalidValue);
}

TEST_F(NodeParams, of_memory_are_told) {
  cudaMemAllocNodeParams told{}, asked{};
  told.bytesize = 96;
  cudaGraphNode_t node = nullptr, end = nullptr;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &told), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&end, graph, &node, 1, told.dptr), cudaSuccess);
  ASSERT_EQ(cudaGraphMemAllocNodeGetParams(node, &asked), cudaSuccess);
  EXPECT_EQ(asked.dptr, told.dptr);
  EXPECT_EQ(asked.bytesize, 96u);
  EXPECT_EQ(asked.poolProps.location.type, cudaMemLocationTypeDevice);
  void* freed = nullptr;
  EXPECT_EQ(cudaGraphMemFreeNodeGetParams(end, &freed), cudaSuccess);
  EXPECT_EQ(freed, told.dptr);
  EXPECT_EQ(cudaGraphMemFreeNodeGetParams(node, &freed), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemAllocNodeGetParams(end, &asked), cudaErrorInvalidValue);
}

constexpr cudaMemcpyKind to_device = cudaMemcpyHostToDevice, to_host = cudaMemcpyDeviceToHost;

TEST_F(NodeParams, of_copies_to_variables_of_kernels) {
  const float three = 3, five = 5;
  const void* const weight = weight_variable();
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(
      cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, weight, &three, 4, 0, to_device),
      cudaSuccess);
  weighs({adds(1, {node})});
  instantiate();
  EXPECT_EQ(found([&] { EXPECT_EQ(launched(), 3); }), "");
  EXPECT_EQ(
      cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, node, weight, &five, 4, 0, to_device),
      cudaSuccess);
  EXPECT_EQ(launched(), 5);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParamsToSymbol(node, weight, &five, 4, 1, to_device),
            cudaErrorInvalidValue)
      << "it ends behind the variable";
  EXPECT_EQ(cudaGraphMemcpyNodeSetParamsToSymbol(node, weight, &five, 2, 2, to_device),
            cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, &five, &five, 4, 0, to_device),
            cudaErrorInvalidSymbol);
}

TEST_F(NodeParams, of_copies_from_variables_of_kernels) {
  float held = 0, other = 0;
  const void* const weight = weight_variable();
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(
      cudaGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, &held, weight, 4, 0, to_host),
      cudaSuccess);
  instantiate();
  set_weight(7);
  launch();
  EXPECT_EQ(held, 7);
  EXPECT_EQ(
      cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable, node, &other, weight, 4, 0, to_host),
      cudaSuccess);
  set_weight(8);
  launch();
  EXPECT_EQ(held, 7);
  EXPECT_EQ(other, 8);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParamsFromSymbol(node, &other, weight, 8, 0, to_host),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParamsFromSymbol(node, &other, weight, 4, 0, to_host),
            cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, &held, &held, 4, 0, to_host),
            cudaErrorInvalidSymbol);
}

}  // namespace
}  // namespace ptx::tests
