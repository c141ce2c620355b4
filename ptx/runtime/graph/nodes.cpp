// Graphs that are built node by node. A node is what is recorded while a stream of its own is
// captured: so it is checked and done as what a capture records.
#include <algorithm>

#include "ptx/runtime/state.h"

namespace ptx::runtime {
namespace {

// Also of one that is still being captured.
std::shared_ptr<Graph> graph_of(void* handle) {
  const auto found = find_handle(state().graphs, handle);
  if (found != state().graphs.end()) return *found;
  for (const auto& [_, capture] : state().captures)
    if (capture->graph.get() == handle) return capture->graph;
  throw Failure{Error::invalid_value};
}

const NodeHandle& node_of(void* handle) {
  const auto found = find_handle(state().nodes, handle);
  if (found == state().nodes.end()) throw Failure{Error::invalid_value};
  return **found;
}
std::size_t number_in(const std::shared_ptr<Graph>& graph, void* handle) {
  const NodeHandle& node = node_of(handle);
  if (node.graph != graph) throw Failure{Error::invalid_value};
  return node.number;
}

void* handle_of(const std::shared_ptr<Graph>& graph, std::size_t number) {
  std::vector<NodeHandle*>& all = graph->handles;
  all.resize(std::max(all.size(), number + 1));
  if (all[number] == nullptr)
    all[number] =
        state().nodes.insert(std::make_unique<NodeHandle>(NodeHandle{graph, number})).first->get();
  return all[number];
}

bool contains(const std::vector<std::size_t>& all, std::size_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

void replace(Node& node, const NodeWork& work) {
  Node other = recorded(work);
  if (other.kind != node.kind) throw Failure{Error::invalid_value};
  node.run = std::move(other.run);
}

// Two graphs of the same nodes in the same order, but for the order of what each comes after.
GraphChange change_of(const Graph& was, const Graph& is) {
  if (was.nodes.size() != is.nodes.size()) return GraphChange::order;
  for (std::size_t i = 0; i < was.nodes.size(); ++i) {
    if (was.nodes[i].kind != is.nodes[i].kind) return GraphChange::kinds;
    if (!std::ranges::is_permutation(was.nodes[i].after, is.nodes[i].after))
      return GraphChange::order;
  }
  return GraphChange::none;
}

}  // namespace

Node recorded(const NodeWork& work) {
  State& device = state();
  auto made = std::make_unique<Stream>(Stream{{.flags = 1, .id = device.next_stream++}});
  void* const stream = made.get();
  const unsigned long long number = made->facts.id;
  const auto capture = std::make_shared<Capture>();
  capture->origin = number;
  capture->mode = CaptureMode::relaxed;
  capture->last[number] = {};
  device.streams.insert(std::move(made));
  device.captures[number] = capture;
  const Error error = work(stream);
  device.captures.erase(number);
  device.streams.erase(find_handle(device.streams, stream));
  if (error != Error::success) throw Failure{error};
  if (capture->graph->nodes.empty()) return {.run = [](const Turn&) {}};  // of no bytes
  Node node = std::move(capture->graph->nodes.front());
  node.after.clear();
  return node;
}

Error create_graph(void** graph) {
  return call([&] {
    if (graph == nullptr) throw Failure{Error::invalid_value};
    auto made = std::make_shared<Graph>();
    *graph = made.get();
    state().graphs.insert(std::move(made));
  });
}

Error add_node(void** node, void* graph, std::span<void* const> after, const NodeWork& work) {
  return call([&] {
    const std::shared_ptr<Graph> to = graph_of(graph);
    if (node == nullptr) throw Failure{Error::invalid_value};
    std::vector<std::size_t> before;
    for (void* const handle : after) {
      const std::size_t number = number_in(to, handle);
      if (contains(before, number)) throw Failure{Error::invalid_value};
      before.push_back(number);
    }
    Node added = recorded(work);
    added.after = std::move(before);
    to->nodes.push_back(std::move(added));
    *node = handle_of(to, to->nodes.size() - 1);
  });
}

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

Error set_node(void* node, const NodeWork& work) {
  return call([&] {
    const NodeHandle& of = node_of(node);
    replace(of.graph->nodes[of.number], work);
  });
}

Error set_node_of(void* executable, void* node, const NodeWork& work) {
  return call([&] {
    const auto found = find_handle(state().executables, executable);
    if (found == state().executables.end()) throw Failure{Error::invalid_value};
    const NodeHandle& of = node_of(node);
    Executable& changed = **found;
    if (of.graph != changed.made_of || of.number >= changed.place_of.size())
      throw Failure{Error::invalid_value};
    replace(changed.graph.nodes[changed.place_of[of.number]], work);
  });
}

Error kind_of_node(void* node, NodeKind& kind) {
  return call([&] {
    const NodeHandle& of = node_of(node);
    kind = of.graph->nodes[of.number].kind;
  });
}

Error nodes_of(void* graph, bool only_first, std::vector<void*>& nodes) {
  return call([&] {
    const std::shared_ptr<Graph> of = graph_of(graph);
    for (std::size_t i = 0; i < of->nodes.size(); ++i)
      if (!only_first || of->nodes[i].after.empty()) nodes.push_back(handle_of(of, i));
  });
}

Error captured_graph(void* stream, void*& graph, std::span<void* const>& last) {
  return call([&] {
    if (!is_captured(stream)) throw Failure{Error::illegal_state};
    Capture& capture = capture_of(stream);
    graph = capture.graph.get();
    capture.told.clear();
    for (const std::size_t node : capture.last.at(name_of_stream(stream).number))
      capture.told.push_back(handle_of(capture.graph, node));
    last = capture.told;
  });
}

Error go_on_behind(void* stream, std::span<void* const> nodes, bool as_well) {
  return call([&] {
    if (!is_captured(stream)) throw Failure{Error::illegal_state};
    Capture& capture = capture_of(stream);
    std::vector<std::size_t>& last = capture.last[name_of_stream(stream).number];
    std::vector<std::size_t> all = as_well ? last : std::vector<std::size_t>{};
    for (void* const handle : nodes) {
      const std::size_t number = number_in(capture.graph, handle);
      if (!contains(all, number)) all.push_back(number);
    }
    last = std::move(all);
  });
}

Error update_executable(void* executable, void* graph, GraphChange& changed) {
  changed = GraphChange::none;
  return call([&] {
    const auto found = find_handle(state().executables, executable);
    if (found == state().executables.end()) throw Failure{Error::invalid_value};
    const std::shared_ptr<Graph> of = graph_of(graph);
    Executable& updated = **found;
    if (!of->memory.empty() || !updated.graph.memory.empty()) throw Failure{Error::not_supported};
    // In the order in which the nodes of the other graph were added.
    Graph was;
    for (const std::size_t place : updated.place_of) {
      was.nodes.push_back(updated.graph.nodes[place]);
      for (std::size_t& before : was.nodes.back().after)
        before = static_cast<std::size_t>(std::ranges::find(updated.place_of, before) -
                                          updated.place_of.begin());
    }
    if ((changed = change_of(was, *of)) != GraphChange::none)
      throw Failure{Error::graph_exec_update_failure};
    for (std::size_t i = 0; i < of->nodes.size(); ++i)
      updated.graph.nodes[updated.place_of[i]].run = of->nodes[i].run;
  });
}

}  // namespace ptx::runtime
