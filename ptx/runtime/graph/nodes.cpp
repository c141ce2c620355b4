// Graphs that are built node by node. A node is what is recorded while a stream of its own is
// captured: so it is checked and done as what a capture records.
#include <algorithm>

#include "ptx/runtime/graph/handles.h"

namespace ptx::runtime {
namespace {

std::shared_ptr<Graph> copied(const Graph& graph) {
  auto made = std::make_shared<Graph>();
  made->nodes = graph.nodes;
  made->objects = graph.objects;
  made->copy_of = &graph;
  for (Node& node : made->nodes) {
    if (node.inner != nullptr) node.inner = copied(*node.inner), node.inner->outer = made;
    if (node.branches != nullptr) throw Failure{Error::not_supported};
  }
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

void add_to(const std::shared_ptr<Graph>& to, std::span<void* const> after, void** node,
            const std::function<void()>& add) {
  if (node == nullptr) throw Failure{Error::invalid_value};
  std::vector<std::size_t> before = numbers_in(to, after);
  add();
  to->nodes.back().after = std::move(before);
  *node = handle_of(to, to->nodes.size() - 1);
}

Error add_node(void** node, void* graph, std::span<void* const> after, const NodeWork& work) {
  return call([&] {
    const std::shared_ptr<Graph> to = graph_of(graph);
    add_to(to, after, node, [&] { record_in(to, work); });
  });
}

Error add_graph(void** node, void* graph, std::span<void* const> after, void* inner) {
  return call([&] {
    const std::shared_ptr<Graph> to = graph_of(graph), its = copied(*graph_of(inner));
    its->outer = to;
    add_to(to, after, node, [&] {
      to->nodes.push_back({.run = [](const Turn&) {}, .kind = NodeKind::graph, .inner = its});
    });
  });
}

Error graph_in(void* node, void*& inner) {
  return call([&] {
    const std::shared_ptr<Graph> its = its_node(node).inner;
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
    const bool is_in_it = its->copy_of == of.graph.get() && of.number < its->nodes.size() &&
                          !its->nodes[of.number].is_destroyed;
    if (found == nullptr || !is_in_it) throw Failure{Error::invalid_value};
    *found = handle_of(its, of.number);
  });
}

Error event_of_node(void* node, NodeKind kind, void*& event) {
  return call([&] {
    const Node& its = its_node(node);
    if (its.kind != kind) throw Failure{Error::invalid_value};
    event = its.event;
  });
}

Error done_by_node(void* node, NodeKind kind, DoneByNode& done) {
  return call([&] {
    const Node& its = its_node(node);
    if (its.kind != kind) throw Failure{Error::invalid_value};
    done = its.does;
  });
}

Error launch_of_node(void* node, std::shared_ptr<const LaunchOfNode>& launch) {
  return call([&] {
    launch = its_node(node).launch;
    if (launch == nullptr) throw Failure{Error::invalid_value};
  });
}

Error kind_of_node(void* node, NodeKind& kind) {
  return call([&] { kind = its_node(node).kind; });
}

Error nodes_of(void* graph, bool only_first, std::vector<void*>& nodes) {
  return call([&] {
    const std::shared_ptr<Graph> of = graph_of(graph);
    for (const std::size_t node : nodes_there(*of))
      if (!only_first || of->nodes[node].after.empty()) nodes.push_back(handle_of(of, node));
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

}  // namespace ptx::runtime
