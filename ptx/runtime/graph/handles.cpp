#include "ptx/runtime/graph/handles.h"

#include <algorithm>

namespace ptx::runtime {

std::shared_ptr<Graph> graph_of(void* handle) {
  const auto found = find_handle(state().graphs, handle);
  if (found != state().graphs.end()) return *found;
  for (const auto& [_, capture] : state().captures)
    if (capture->graph.get() == handle) return capture->graph;
  throw Failure{Error::invalid_value};
}

const NodeHandle& node_of(void* handle) { return **found_in(state().nodes, handle); }

Node& its_node(void* handle) {
  const NodeHandle& node = node_of(handle);
  return node.graph->nodes[node.number];
}

std::size_t number_in(const std::shared_ptr<Graph>& graph, void* handle) {
  const NodeHandle& node = node_of(handle);
  if (node.graph != graph) throw Failure{Error::invalid_value};
  return node.number;
}

std::vector<std::size_t> numbers_in(const std::shared_ptr<Graph>& graph,
                                    std::span<void* const> handles) {
  std::vector<std::size_t> numbers;
  for (void* const handle : handles) {
    const std::size_t number = number_in(graph, handle);
    if (contains(numbers, number)) throw Failure{Error::invalid_value};
    numbers.push_back(number);
  }
  return numbers;
}

Executable& executable_of(void* handle) { return **found_in(state().executables, handle); }

namespace {
Node* find_in(Executable& executable, const NodeHandle& node) {
  const auto part = executable.parts.find(node.graph.get());
  if (part != executable.parts.end() && contains(part->second.there, node.number))
    return &executable.graph.nodes[part->second.place_of[node.number]];
  for (const Node& other : executable.graph.nodes)
    for (const std::shared_ptr<Executable>& body : other.bodies)
      if (Node* const found = find_in(*body, node); found != nullptr) return found;
  return nullptr;
}
}  // namespace

Node& node_in(Executable& executable, const NodeHandle& node) {
  Node* const found = find_in(executable, node);
  if (found == nullptr) throw Failure{Error::invalid_value};
  return *found;
}

void* handle_of(const std::shared_ptr<Graph>& graph, std::size_t number) {
  std::vector<NodeHandle*>& all = graph->handles;
  all.resize(std::max(all.size(), number + 1));
  if (all[number] == nullptr)
    all[number] =
        state().nodes.insert(std::make_unique<NodeHandle>(NodeHandle{graph, number})).first->get();
  return all[number];
}

void forget_handles(Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) forget_handles(graph, i);
  graph.handles.clear();
}

void forget_handles(Graph& graph, std::size_t number) {
  if (number < graph.handles.size() && graph.handles[number] != nullptr) {
    state().nodes.erase(find_handle(state().nodes, graph.handles[number]));
    graph.handles[number] = nullptr;
  }
  const Node& node = graph.nodes[number];
  std::vector<std::shared_ptr<Graph>> graphs;
  if (node.branches != nullptr) graphs = node.branches->bodies;
  if (node.inner != nullptr) graphs.push_back(node.inner);
  for (const std::shared_ptr<Graph>& inner : graphs) {
    forget_handles(*inner);
    state().graphs.erase(inner);
  }
}

std::vector<std::size_t> nodes_there(const Graph& graph) {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!graph.nodes[i].is_destroyed) there.push_back(i);
  return there;
}

bool contains(const std::vector<std::size_t>& all, std::size_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

void take_attributes(const Configuration& other, Configuration& own) {
  own.cooperative = other.cooperative;
  own.starts_early = other.starts_early;
  own.cluster = other.cluster;
  own.attributes = other.attributes;
}

}  // namespace ptx::runtime
