// Graphs that are built node by node, on the machine or on a GPU: what their calls return, and what
// a launch leaves.
//
//   on a GPU: nvcc -std=c++20 -arch=sm_90 ptx/tests/hardware/graph_nodes.cu -o graph_nodes
//
// Prints what is not as it should be: on an H100, driver 580.159.04, CUDA 13.0. Exits with 1 if
// anything is not.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace {

__global__ void add(float* p, float more) { *p += more; }
__global__ void twice(float* p, float) { *p *= 2; }
__global__ void __launch_bounds__(64) small_add(float* p, float more) { *p += more; }

int wrong = 0, checked = 0;

void check(const char* call, cudaError_t error, cudaError_t wanted) {
  ++checked;
  cudaGetLastError();
  if (error == wanted) return;
  ++wrong;
  std::printf("%s: %s instead of %s\n", call, cudaGetErrorName(error), cudaGetErrorName(wanted));
}
#define CHECK(wanted, ...) check(#__VA_ARGS__, __VA_ARGS__, wanted)
constexpr cudaError_t fine = cudaSuccess, invalid = cudaErrorInvalidValue;

float* memory = nullptr;
float more = 1;
void* arguments[] = {&memory, &more};
void* const adding = reinterpret_cast<void*>(add);
void* const doubling = reinterpret_cast<void*>(twice);
void* const small = reinterpret_cast<void*>(small_add);

cudaKernelNodeParams kernel(void* function, unsigned threads = 1) {
  cudaKernelNodeParams params = {};
  params.func = function;
  params.gridDim = dim3(1), params.blockDim = dim3(threads);
  params.kernelParams = arguments;
  return params;
}
cudaMemsetParams clear(void* to, unsigned value = 0, unsigned element = 4) {
  cudaMemsetParams params = {};
  params.dst = to, params.value = value, params.elementSize = element;
  params.width = params.height = 1;
  return params;
}
cudaError_t add_kernel(cudaGraphNode_t* node, cudaGraph_t graph,
                       const std::vector<cudaGraphNode_t>& after,
                       const cudaKernelNodeParams& params) {
  return cudaGraphAddKernelNode(node, graph, after.data(), after.size(), &params);
}
cudaError_t add_clear(cudaGraphNode_t* node, cudaGraph_t graph, const cudaMemsetParams& params) {
  return cudaGraphAddMemsetNode(node, graph, nullptr, 0, &params);
}
cudaError_t set_kernel(cudaGraphExec_t executable, cudaGraphNode_t node,
                       const cudaKernelNodeParams& params) {
  return cudaGraphExecKernelNodeSetParams(executable, node, &params);
}
void expect(const char* what, cudaGraphExec_t executable, float wanted) {
  static float* const left = [] {
    void* made = nullptr;
    CHECK(fine, cudaMallocHost(&made, sizeof(float)));
    return static_cast<float*>(made);
  }();
  CHECK(fine, cudaGraphLaunch(executable, nullptr));
  CHECK(fine, cudaMemcpy(left, memory, sizeof(float), cudaMemcpyDeviceToHost));
  ++checked;
  if (*left == wanted) return;
  ++wrong;
  std::printf("%s: %g instead of %g\n", what, *left, wanted);
}

}  // namespace

int main() {
  cudaGraph_t graph = nullptr, other = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaGraphNode_t zero, first, then, node, no_node = nullptr;
  CHECK(fine, cudaMalloc(&memory, 64));
  CHECK(invalid, cudaGraphCreate(&graph, 1));
  CHECK(fine, cudaGraphCreate(&graph, 0));
  CHECK(fine, cudaGraphCreate(&other, 0));

  // (0 + 1) * 2, of which the last is added first.
  CHECK(fine, add_kernel(&then, graph, {}, kernel(doubling)));
  CHECK(fine, add_clear(&zero, graph, clear(memory)));
  CHECK(fine, add_kernel(&first, graph, {zero}, kernel(adding)));
  CHECK(fine, cudaGraphAddDependencies(graph, &first, &then, nullptr, 1));
  CHECK(fine, cudaGraphInstantiate(&executable, graph, 0));
  expect("(0 + 1) * 2", executable, 2);
  more = 4;
  expect("arguments are those of then", executable, 2);
  CHECK(fine, set_kernel(executable, first, kernel(adding)));
  expect("(0 + 4) * 2", executable, 8);
  CHECK(fine, set_kernel(executable, then, kernel(small)));
  expect("0 + 4 + 4", executable, 8);
  CHECK(invalid, set_kernel(executable, zero, kernel(adding)));

  CHECK(invalid, add_kernel(&node, graph, {zero, zero}, kernel(adding)));
  CHECK(invalid, add_kernel(&node, other, {zero}, kernel(adding)));
  CHECK(invalid, add_kernel(&node, graph, {no_node}, kernel(adding)));
  CHECK(invalid, cudaGraphAddEmptyNode(&node, graph, nullptr, 1));
  CHECK(invalid, cudaGraphAddDependencies(graph, &zero, &zero, nullptr, 1));
  CHECK(invalid, cudaGraphAddDependencies(graph, &zero, &first, nullptr, 1));
  CHECK(cudaErrorInvalidDeviceFunction, add_kernel(&node, graph, {}, kernel(nullptr)));
  CHECK(invalid, add_clear(&node, graph, clear(memory, 0, 3)));
  CHECK(invalid, add_clear(&node, graph, clear(nullptr)));
  CHECK(invalid,
        cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, &more, 0, cudaMemcpyDefault));

  std::size_t count = 0;
  CHECK(fine, cudaGraphGetNodes(graph, nullptr, &count));
  CHECK(fine, count == 3 ? cudaSuccess : invalid);
  cudaGraphNode_t nodes[8];
  count = 8;
  CHECK(fine, cudaGraphGetRootNodes(graph, nodes, &count));
  CHECK(fine, count == 1 && nodes[0] == zero && nodes[1] == nullptr ? cudaSuccess : invalid);
  cudaGraphNodeType type;
  CHECK(fine, cudaGraphNodeGetType(zero, &type));
  CHECK(fine, type == cudaGraphNodeTypeMemset ? cudaSuccess : invalid);

  cudaGraphExecUpdateResultInfo result = {};
  CHECK(fine, add_clear(&zero, other, clear(memory)));
  CHECK(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(executable, other, &result));
  CHECK(fine, result.result == cudaGraphExecUpdateErrorTopologyChanged ? cudaSuccess : invalid);
  CHECK(fine, cudaGraphExecUpdate(executable, graph, &result));
  expect("(0 + 1) * 2, as the graph still has it", executable, 2);
  CHECK(fine, cudaGraphAddDependencies(graph, &then, &first, nullptr, 1));
  CHECK(invalid, cudaGraphInstantiate(&executable, graph, 0));

  // Last: the machine runs nothing any more once it has refused a kernel.
  CHECK(invalid, set_kernel(executable, first, kernel(adding, 2048)));
  CHECK(invalid, add_kernel(&node, graph, {}, kernel(adding, 2048)));
  CHECK(invalid, add_kernel(&node, graph, {}, kernel(small, 128)));
  std::printf("%d checked, %d wrong: %s\n", checked, wrong, wrong == 0 ? "PASS" : "FAIL");
  return wrong == 0 ? 0 : 1;
}
