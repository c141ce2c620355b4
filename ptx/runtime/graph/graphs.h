// Graphs of the substitute CUDA runtime, which are known by handles. While a stream is captured,
// what is put into it is recorded in one; others are built node by node.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ptx/runtime/runtime.h"

namespace ptx::runtime {

enum class CaptureMode { global, thread_local_, relaxed };
enum class CaptureStatus { none, active, invalidated };
Error begin_capture(void* stream, CaptureMode);
// Into a graph that there is, behind some of its nodes.
Error begin_capture_to(void* graph, std::span<void* const> after, void* stream, CaptureMode);
Error end_capture(void* stream, void** graph);
struct CaptureFacts {
  CaptureStatus status = CaptureStatus::none;
  unsigned long long id = 0;
};
Error capture_facts(void* stream, CaptureFacts&);
Error exchange_capture_mode(CaptureMode&);  // of this thread: which calls it may make meanwhile
Error destroy_graph(void*);
// Graphs that are built node by node: what a node does is what `work` puts into the stream that it
// is given. Handles of nodes go with their graph.
enum class NodeKind {
  kernel,
  copy,
  set,
  host,
  graph,
  empty,
  wait,
  record,
  allocate = 10,
  release,
  branches = 13
};
using NodeWork = std::function<Error(void* stream)>;
Error create_graph(void** graph);
Error add_node(void** node, void* graph, std::span<void* const> after, const NodeWork&);
Error add_dependencies(void* graph, std::span<void* const> from, std::span<void* const> to);
// Another work of the same kind: of a node, and of what was made of its graph before.
Error set_node(void* node, const NodeWork&);
Error set_node_of(void* executable, void* node, const NodeWork&);
Error kind_of_node(void* node, NodeKind&);
// A copy of a graph, as a node or alone; none of one that allocates.
Error add_graph(void** node, void* graph, std::span<void* const> after, void* inner);
Error graph_in(void* node, void*& inner);
// A node that does other graphs, which it has itself, as a condition says: the first of them or the
// second, the first again and again, or that of the condition's number. Kernels set the condition
// by its handle. `at_launch`: what it is at each launch, else nobody may count on anything.
enum class BranchKind { if_, while_, switch_ };
struct Branching {
  unsigned long long condition = 0;
  BranchKind kind = BranchKind::if_;
  unsigned size = 1;  // how many graphs
};
Error create_condition(void* graph, std::optional<unsigned> at_launch, unsigned long long& handle);
Error add_branches(void** node, void* graph, std::span<void* const> after, const Branching&,
                   std::span<void*>& bodies);
Error copy_graph(void* graph, void** copy);
Error node_in_copy(void* node, void* copy, void** found);
Error event_of_node(void* node, NodeKind, void*& event);
// An object that the host gives to graphs. `destroy` is called once it is held no longer: neither
// by the caller's references, nor by a graph, nor by what was made of one.
Error create_object(void** object, std::function<void()> destroy, unsigned references);
Error hold_object(void* object, unsigned more);
Error let_go_of_object(void* object, unsigned fewer);
Error keep_in_graph(void* graph, void* object, unsigned references, bool are_the_callers);
Error drop_from_graph(void* graph, void* object, unsigned references);
// What a node of a kernel launches. Its arguments stay until the node has others.
struct LaunchOfNode {
  const void* stub = nullptr;
  Configuration configuration;
  std::vector<std::byte> params;
  std::vector<void*> arguments;  // into these
};
Error launch_of_node(void* node, std::shared_ptr<const LaunchOfNode>&);
// Other attributes, and how it is launched: not what, nor with which arguments.
Error change_launch(void* node, const std::function<void(Configuration&)>& change);
// What other nodes do. Positions in memory are part of the pointers.
struct SetOfNode {
  void* to = nullptr;
  std::size_t pitch = 0;
  unsigned value = 0;
  std::size_t width = 0, height = 0, element_bytes = 1;
};
struct CallOfNode {
  const void *address = nullptr, *data = nullptr;
};
struct MemoryOfNode {
  void* first = nullptr;
  std::size_t bytes = 0;
};
using DoneByNode = std::variant<std::monostate, Copy, SetOfNode, CallOfNode, MemoryOfNode>;
Error done_by_node(void* node, NodeKind, DoneByNode&);
Error nodes_of(void* graph, bool only_first, std::vector<void*>& nodes);
// Its number goes with it, and so does its handle; none of a graph that allocates.
Error destroy_node(void* node);
// An edge is early where the kernel behind it may start before the one ahead has ended.
struct Edge {
  void *from = nullptr, *to = nullptr;
  bool is_early = false;
};
Error edges_of(void* graph, std::vector<Edge>&);
Error edges_to(void* node, std::vector<Edge>&);
Error edges_from(void* node, std::vector<Edge>&);
Error remove_edges(void* graph, std::span<const Edge>);
// Of a stream that is captured: the graph as far as it is, and the nodes that its next one comes
// after, until somebody asks again; and which these are to be, or also are.
Error captured_graph(void* stream, void*& graph, std::span<void* const>& last);
Error go_on_behind(void* stream, std::span<void* const> nodes, bool as_well);
// That an executable does what a graph of the same nodes does. `changed`: what differs, if that
// fails.
enum class GraphChange { none, order = 2, kinds };
Error update_executable(void* executable, void* graph, GraphChange& changed);
Error update_graph_in(void* executable, void* node, void* graph);  // of a node that holds one
// A kernel, a copy or a memset that is not enabled does nothing.
Error enable_node(void* executable, void* node, bool is_enabled);
Error is_node_enabled(void* executable, void* node, bool& is_enabled);
// `flags` are NVIDIA's: kept, but for those that say what it does.
Error instantiate(void** executable, void* graph, bool frees_at_launch,
                  unsigned long long flags = 0);
Error flags_of(void* executable, unsigned long long& flags);
// What the graph looks like, in the language of Graphviz.
Error describe_graph(void* graph, std::string& text);
Error destroy_executable(void*);
Error check_executable(void*);
// Whatever is below `frame` on this thread's stack is gone: a graph may not read it any more.
Error launch_graph(void* executable, void* stream, const void* frame);

}  // namespace ptx::runtime
