// Graphs that are built node by node. A node is what is recorded while a stream of its own is
// captured: so it is checked and done as what a capture records.
#include <algorithm>

#include "ptx/runtime/state.h"

namespace ptx::runtime {
std::shared_ptr<Graph> graph_of(void* handle) {
  const auto found = find_handle(state().graphs, handle);
  if (found != state().graphs.end()) return *found;
  for (const auto& [_, capture] : state().captures)
    if (capture->graph.get() == handle) return capture->graph;
  throw Failure{Error::invalid_value};
}

namespace {

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

// What it does; not where it comes.
void take_work_of(const Node& other, Node& node) {
  node.run = other.run;
  node.launch = other.launch;
  node.event = other.event;
}

// What allocates or frees stays as it is.
void replace(Node& node, const NodeWork& work) {
  if (node.kind == NodeKind::allocate || node.kind == NodeKind::release)
    throw Failure{Error::invalid_value};
  const auto scratch = std::make_shared<Graph>();
  record_in(scratch, work);
  const Node& other = scratch->nodes.front();
  if (other.kind != node.kind) throw Failure{Error::invalid_value};
  take_work_of(other, node);
}

// Two graphs of the same nodes in the same order, but for the order of what each comes after.
GraphChange change_of(const Executable& executable, const Graph& was, const Graph& is) {
  const Executable::Part& part = executable.parts.at(&was);
  if (part.after.size() != is.nodes.size()) return GraphChange::order;
  for (std::size_t i = 0; i < is.nodes.size(); ++i) {
    const Node& own = executable.graph.nodes[part.place_of[i]];
    if (own.kind != is.nodes[i].kind) return GraphChange::kinds;
    if (!std::ranges::is_permutation(part.after[i], is.nodes[i].after)) return GraphChange::order;
    if (own.inner == nullptr) continue;
    const GraphChange change = change_of(executable, *own.inner, *is.nodes[i].inner);
    if (change != GraphChange::none) return change;
  }
  return GraphChange::none;
}
void take_work_of(const Graph& is, Executable& executable, const Graph& was) {
  const Executable::Part& part = executable.parts.at(&was);
  for (std::size_t i = 0; i < is.nodes.size(); ++i) {
    Node& own = executable.graph.nodes[part.place_of[i]];
    take_work_of(is.nodes[i], own);
    if (own.inner != nullptr) take_work_of(*is.nodes[i].inner, executable, *own.inner);
  }
}

Executable& executable_of(void* handle) {
  const auto found = find_handle(state().executables, handle);
  if (found == state().executables.end()) throw Failure{Error::invalid_value};
  return **found;
}

std::shared_ptr<Graph> copied(const Graph& graph) {
  auto made = std::make_shared<Graph>();
  made->nodes = graph.nodes;
  made->objects = graph.objects;
  made->copy_of = &graph;
  for (Node& node : made->nodes)
    if (node.inner != nullptr) node.inner = copied(*node.inner);
  if (!graph.memory.empty()) throw Failure{Error::not_supported};  // it would be that of both
  return made;
}

}  // namespace

void record_in(const std::shared_ptr<Graph>& graph, const NodeWork& work) {
  State& device = state();
  auto made = std::make_unique<Stream>(Stream{{.flags = 1, .id = device.next_stream++}});
  void* const stream = made.get();
  const unsigned long long number = made->facts.id;
  const auto capture = std::make_shared<Capture>();
  const std::size_t nodes = graph->nodes.size(), memory = graph->memory.size();
  capture->graph = graph;
  capture->origin = number;
  capture->mode = CaptureMode::relaxed;
  capture->last[number] = {};
  device.streams.insert(std::move(made));
  device.captures[number] = capture;
  const Error error = work(stream);
  device.captures.erase(number);
  device.streams.erase(find_handle(device.streams, stream));
  if (error != Error::success) {
    graph->nodes.resize(nodes);
    graph->memory.resize(memory);
    throw Failure{error};
  }
  if (graph->nodes.size() == nodes)
    graph->nodes.push_back({.run = [](const Turn&) {}});  // no bytes
}

Error create_graph(void** graph) {
  return call([&] {
    if (graph == nullptr) throw Failure{Error::invalid_value};
    auto made = std::make_shared<Graph>();
    *graph = made.get();
    state().graphs.insert(std::move(made));
  });
}

namespace {
// `add` adds one node.
void add_to(const std::shared_ptr<Graph>& to, std::span<void* const> after, void** node,
            const std::function<void()>& add) {
  if (node == nullptr) throw Failure{Error::invalid_value};
  std::vector<std::size_t> before;
  for (void* const handle : after) {
    const std::size_t number = number_in(to, handle);
    if (contains(before, number)) throw Failure{Error::invalid_value};
    before.push_back(number);
  }
  add();
  to->nodes.back().after = std::move(before);
  *node = handle_of(to, to->nodes.size() - 1);
}
}  // namespace

Error add_node(void** node, void* graph, std::span<void* const> after, const NodeWork& work) {
  return call([&] {
    const std::shared_ptr<Graph> to = graph_of(graph);
    add_to(to, after, node, [&] { record_in(to, work); });
  });
}

Error add_graph(void** node, void* graph, std::span<void* const> after, void* inner) {
  return call([&] {
    const std::shared_ptr<Graph> to = graph_of(graph), its = copied(*graph_of(inner));
    add_to(to, after, node, [&] {
      to->nodes.push_back({.run = [](const Turn&) {}, .kind = NodeKind::graph, .inner = its});
    });
  });
}

Error graph_in(void* node, void*& inner) {
  return call([&] {
    const NodeHandle& of = node_of(node);
    const std::shared_ptr<Graph> its = of.graph->nodes[of.number].inner;
    if (its == nullptr) throw Failure{Error::invalid_value};
    inner = its.get();
    state().graphs.insert(its);
  });
}

Error copy_graph(void* graph, void** copy) {
  return call([&] {
    if (copy == nullptr) throw Failure{Error::invalid_value};
    std::shared_ptr<Graph> made = copied(*graph_of(graph));
    *copy = made.get();
    state().graphs.insert(std::move(made));
  });
}

Error node_in_copy(void* node, void* copy, void** found) {
  return call([&] {
    const NodeHandle& of = node_of(node);
    const std::shared_ptr<Graph> its = graph_of(copy);
    const bool is_in_it = its->copy_of == of.graph.get() && of.number < its->nodes.size();
    if (found == nullptr || !is_in_it) throw Failure{Error::invalid_value};
    *found = handle_of(its, of.number);
  });
}

Error event_of_node(void* node, NodeKind kind, void*& event) {
  return call([&] {
    const NodeHandle& of = node_of(node);
    const Node& its = of.graph->nodes[of.number];
    if (its.kind != kind) throw Failure{Error::invalid_value};
    event = its.event;
  });
}

Error launch_of_node(void* node, std::shared_ptr<const LaunchOfNode>& launch) {
  return call([&] {
    const NodeHandle& of = node_of(node);
    launch = of.graph->nodes[of.number].launch;
    if (launch == nullptr) throw Failure{Error::invalid_value};
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
    Executable& changed = executable_of(executable);
    const NodeHandle& of = node_of(node);
    const auto part = changed.parts.find(of.graph.get());
    if (part == changed.parts.end() || of.number >= part->second.place_of.size())
      throw Failure{Error::invalid_value};
    replace(changed.graph.nodes[part->second.place_of[of.number]], work);
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
    Executable& updated = executable_of(executable);
    const std::shared_ptr<Graph> of = graph_of(graph);
    if (!of->memory.empty() || !updated.graph.memory.empty()) throw Failure{Error::not_supported};
    if ((changed = change_of(updated, *updated.made_of, *of)) != GraphChange::none)
      throw Failure{Error::graph_exec_update_failure};
    take_work_of(*of, updated, *updated.made_of);
  });
}

}  // namespace ptx::runtime
