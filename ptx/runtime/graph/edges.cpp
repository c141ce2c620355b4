// What comes before what in a graph, and the end of a node.
#include <algorithm>

#include "ptx/runtime/graph/handles.h"

namespace ptx::runtime {
namespace {

// Of a graph that allocates, nothing may be taken away. What is being captured still needs it.
void expect_that_parts_may_go(const Graph& graph) {
  if (!graph.memory.empty()) throw Failure{Error::not_supported};
  for (const auto& [_, capture] : state().captures)
    if (capture->graph.get() == &graph) throw Failure{Error::illegal_state};
}

// As a kernel is captured that may start early, behind one other.
bool is_early(const Graph& graph, std::size_t from, std::size_t to) {
  const Node& node = graph.nodes[to];
  return node.launch != nullptr && node.launch->configuration.starts_early &&
         node.after.size() == 1 && graph.nodes[from].kind == NodeKind::kernel;
}

void add_edges(const std::shared_ptr<Graph>& graph, std::size_t to, std::vector<Edge>& edges) {
  for (const std::size_t from : graph->nodes[to].after)
    edges.push_back({handle_of(graph, from), handle_of(graph, to), is_early(*graph, from, to)});
}

void expect_edge(const std::shared_ptr<Graph>& graph, const Edge& edge) {
  const std::size_t from = number_in(graph, edge.from), to = number_in(graph, edge.to);
  if (!contains(graph->nodes[to].after, from) || is_early(*graph, from, to) != edge.is_early)
    throw Failure{Error::invalid_value};
}

void remove(const std::shared_ptr<Graph>& graph, const Edge& edge) {
  std::erase(graph->nodes[number_in(graph, edge.to)].after, number_in(graph, edge.from));
  if (edge.is_early)
    change_launch(edge.to, [](Configuration& launch) { launch.starts_early = false; });
}

}  // namespace

Error add_dependencies(void* graph, std::span<void* const> from, std::span<void* const> to) {
  return call([&] {
    const std::shared_ptr<Graph> of = graph_of(graph);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t before = number_in(of, from[i]), node = number_in(of, to[i]);
      std::vector<std::size_t>& after = of->nodes[node].after;
      if (before == node || contains(after, before)) throw Failure{Error::invalid_value};
      after.push_back(before);
    }
  });
}

Error remove_edges(void* graph, std::span<const Edge> edges) {
  return call([&] {
    const std::shared_ptr<Graph> of = graph_of(graph);
    if (!edges.empty()) expect_that_parts_may_go(*of);
    for (const Edge& edge : edges) expect_edge(of, edge);
    for (const Edge& edge : edges) remove(of, edge);
  });
}

Error edges_of(void* graph, std::vector<Edge>& edges) {
  return call([&] {
    const std::shared_ptr<Graph> of = graph_of(graph);
    for (const std::size_t node : nodes_there(*of)) add_edges(of, node, edges);
  });
}

Error edges_to(void* node, std::vector<Edge>& edges) {
  return call([&] {
    const NodeHandle& of = node_of(node);
    add_edges(of.graph, of.number, edges);
  });
}

Error edges_from(void* node, std::vector<Edge>& edges) {
  return call([&] {
    const std::shared_ptr<Graph> graph = node_of(node).graph;
    for (const std::size_t other : nodes_there(*graph)) add_edges(graph, other, edges);
    std::erase_if(edges, [&](const Edge& edge) { return edge.from != node; });
  });
}

Error destroy_node(void* node) {
  return call([&] {
    const NodeHandle of = node_of(node);
    expect_that_parts_may_go(*of.graph);
    forget_handles(*of.graph, of.number);
    for (Node& other : of.graph->nodes) std::erase(other.after, of.number);
    of.graph->nodes[of.number] = {.is_destroyed = true};
  });
}

}  // namespace ptx::runtime
