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

std::string text_of(BranchKind kind) {
  switch (kind) {
    case BranchKind::if_: return "if";
    case BranchKind::while_: return "while";
    default: return "switch";
  }
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
    case NodeKind::branches: return text_of(node.branches->kind);
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

void describe_in_frame(const Graph&, const std::string& name, std::string& text);

// `name`: what all names of nodes begin with.
void describe(const Graph& graph, const std::string& name, std::string& text) {
  for (const std::size_t number : nodes_there(graph)) {
    const Node& node = graph.nodes[number];
    const std::string own = name + std::to_string(number);
    text += fmt::format("{} [label={}];\n", own,
                        in_quotes(fmt::format("{}: {}", number, text_of(node))));
    for (const std::size_t before : node.after)
      text += fmt::format("{}{} -> {};\n", name, before, own);
    if (node.inner != nullptr) describe_in_frame(*node.inner, own, text);
    if (node.branches == nullptr) continue;
    for (std::size_t i = 0; i < node.branches->bodies.size(); ++i)
      describe_in_frame(*node.branches->bodies[i], own + "_" + std::to_string(i), text);
  }
}

void describe_in_frame(const Graph& graph, const std::string& name, std::string& text) {
  text += fmt::format("subgraph cluster_{} {{\nlabel={};\n", name, in_quotes("in " + name));
  describe(graph, name + "_", text);
  text += "}\n";
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
