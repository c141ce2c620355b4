// What comes before what in a graph: told, added, taken away.
#include <algorithm>

#include "ptx/runtime/cudart/graph/works.h"

using namespace ptx::cudart;
using ptx::Error;

namespace {

constexpr cudaGraphEdgeData plain{};
constexpr cudaGraphEdgeData early{.from_port = cudaGraphKernelNodePortProgrammatic,
                                  .to_port = cudaGraphKernelNodePortDefault,
                                  .type = cudaGraphDependencyTypeProgrammatic};

bool is_same(const cudaGraphEdgeData& a, const cudaGraphEdgeData& b) {
  return a.from_port == b.from_port && a.to_port == b.to_port && a.type == b.type;
}

// Null pointers: nothing of that is asked. An edge that is not plain must not go unnoticed.
struct Asked {
  cudaGraphNode_t *from = nullptr, *to = nullptr;
  cudaGraphEdgeData* data = nullptr;
  std::size_t* count = nullptr;
};

cudaError_t give(const std::vector<rt::Edge>& all, const Asked& asked, const char* function) {
  const bool is_any_asked = asked.from != nullptr || asked.to != nullptr;
  if (!is_any_asked) {
    *asked.count = all.size();
    return cudaSuccess;
  }
  if (asked.data == nullptr && std::ranges::any_of(all, &rt::Edge::is_early))
    return as_cuda(rt::fail(Error::lossy_query), function);
  for (std::size_t i = 0; i < *asked.count; ++i) {
    const rt::Edge edge = i < all.size() ? all[i] : rt::Edge{};
    if (asked.from != nullptr) asked.from[i] = static_cast<cudaGraphNode_t>(edge.from);
    if (asked.to != nullptr) asked.to[i] = static_cast<cudaGraphNode_t>(edge.to);
    if (asked.data != nullptr) asked.data[i] = edge.is_early ? early : plain;
  }
  *asked.count = std::min(*asked.count, all.size());
  return cudaSuccess;
}

template <class Tell>
cudaError_t give(const Tell& tell, void* of, const Asked& asked,
                 const char* function = __builtin_FUNCTION()) {
  const bool is_data_alone = asked.data != nullptr && asked.from == nullptr && asked.to == nullptr;
  if (asked.count == nullptr || is_data_alone) return invalid_value(function);
  std::vector<rt::Edge> all;
  const Error error = tell(of, all);
  return error == Error::success ? give(all, asked, function) : as_cuda(error, function);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  if ((from == nullptr) != (to == nullptr)) return invalid_value();
  return give(rt::edges_of, graph, {from, to, data, count});
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* from,
                                         cudaGraphEdgeData* data, size_t* count) {
  return give(rt::edges_to, node, {.from = from, .data = data, .count = count});
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* to,
                                           cudaGraphEdgeData* data, size_t* count) {
  return give(rt::edges_from, node, {.to = to, .data = data, .count = count});
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     size_t count) {
  if (count != 0 && (from == nullptr || to == nullptr)) return invalid_value();
  if (!are_plain(edges, count)) return refuse_edges();
  return as_cuda(rt::add_dependencies(graph, as_span(from, count), as_span(to, count)));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        size_t count) {
  if (count != 0 && (from == nullptr || to == nullptr)) return invalid_value();
  std::vector<rt::Edge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_early = data != nullptr && is_same(data[i], early);
    if (data != nullptr && !is_early && !is_same(data[i], plain)) return invalid_value();
    edges.push_back({from[i], to[i], is_early});
  }
  return as_cuda(rt::remove_edges(graph, edges));
}

}  // extern "C"
