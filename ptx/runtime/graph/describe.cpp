// A graph as text for Graphviz: a box for each node, which says what it does, and an arrow for each
// edge. A node that holds graphs has a frame around each of them beside it.
#include <fmt/format.h>

#include <string>

#include "ptx/runtime/graph/handles.h"

namespace ptx::runtime {
namespace {

std::string text_of_direction(Direction direction) {
  switch (direction) {
    case Direction::host_to_host: return ", host to host";
    case Direction::host_to_device: return ", host to device";
    case Direction::device_to_host: return ", device to host";
    case Direction::device_to_device: return ", device to device";
    case Direction::any: break;
  }
  return "";
}

std::string text_of(const Node& node) {
  const auto bytes = [](std::size_t width, std::size_t height) {
    return fmt::format("{} bytes", width * height);
  };
  if (node.launch != nullptr) return kernel_of(node.launch->stub).shown;
  if (const auto* copy = std::get_if<Copy>(&node.does))
    return "copy of " + bytes(copy->width, copy->height) + text_of_direction(copy->direction);
  if (const auto* set = std::get_if<SetOfNode>(&node.does))
    return "memset of " + bytes(set->width, set->height);
  if (const auto* memory = std::get_if<MemoryOfNode>(&node.does))
    return (node.kind == NodeKind::allocate ? "allocates " : "frees ") + bytes(memory->bytes, 1);
  switch (node.kind) {
    case NodeKind::host: return "function of the host";
    case NodeKind::graph: return "graph";
    case NodeKind::wait: return "waits for an event";
    case NodeKind::record: return "records an event";
    default: return "empty";
  }
}

std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// `name`: what all names of nodes begin with.
void describe(const Graph& graph, const std::string& name, std::string& text) {
  for (const std::size_t number : nodes_there(graph)) {
    const Node& node = graph.nodes[number];
    const std::string own = name + std::to_string(number);
    text += fmt::format("{} [label={}];\n", own,
                        in_quotes(fmt::format("{}: {}", number, text_of(node))));
    for (const std::size_t before : node.after)
      text += fmt::format("{}{} -> {};\n", name, before, own);
    if (node.inner == nullptr) continue;
    text += fmt::format("subgraph cluster_{} {{\nlabel={};\n", own,
                        in_quotes("graph of node " + std::to_string(number)));
    describe(*node.inner, own + "_", text);
    text += "}\n";
  }
}

}  // namespace

Error describe_graph(void* graph, std::string& text) {
  return call([&] {
    text = "digraph graph_of_cuda {\nnode [shape=box];\n";
    describe(*graph_of(graph), "n", text);
    text += "}\n";
  });
}

}  // namespace ptx::runtime
