// Changes of nodes that are there: in a graph, and in what was made of it.
#include <algorithm>

#include "ptx/runtime/graph/handles.h"

namespace ptx::runtime {
namespace {

// What it does; not where it comes.
void take_work_of(const Node& other, Node& node) {
  node.run = other.run;
  node.launch = other.launch;
  node.event = other.event;
  node.does = other.does;
}

void launch_otherwise(Node& node, const std::function<void(Configuration&)>& change) {
  if (node.launch == nullptr) throw Failure{Error::invalid_value};
  Configuration changed = node.launch->configuration;
  change(changed);
  take_work_of(node_of_launch(node.launch->stub, changed, node.launch->params), node);
}

// What allocates or frees stays as it is. A kernel keeps its attributes.
void replace(Node& node, const NodeWork& work) {
  if (node.kind == NodeKind::allocate || node.kind == NodeKind::release)
    throw Failure{Error::invalid_value};
  const auto scratch = std::make_shared<Graph>();
  record_in(scratch, work);
  const Node& other = scratch->nodes.front();
  if (other.kind != node.kind) throw Failure{Error::invalid_value};
  const std::shared_ptr<const LaunchOfNode> before = node.launch;
  take_work_of(other, node);
  if (before == nullptr) return;
  launch_otherwise(node, [&](Configuration& own) { take_attributes(before->configuration, own); });
}

// Those nodes, by how many of `there` come before each.
std::vector<std::size_t> places_among(const std::vector<std::size_t>& there,
                                      std::vector<std::size_t> nodes) {
  for (std::size_t& node : nodes)
    node = static_cast<std::size_t>(std::ranges::lower_bound(there, node) - there.begin());
  return nodes;
}

// Two graphs of the same nodes in the same order, but for the order of what each comes after.
GraphChange change_of(const Executable& executable, const Graph& was, const Graph& is) {
  const Executable::Part& part = executable.parts.at(&was);
  const std::vector<std::size_t> there = nodes_there(is);
  if (part.there.size() != there.size()) return GraphChange::order;
  for (std::size_t i = 0; i < there.size(); ++i) {
    const Node& own = executable.graph.nodes[part.place_of[part.there[i]]];
    const Node& its = is.nodes[there[i]];
    if (own.kind != its.kind) return GraphChange::kinds;
    if (own.branches != nullptr)
      throw Failure{Error::not_supported,
                    Finding{Fault::unsupported,
                            "the host code updates (cudaGraphExecUpdate) what was made of a graph "
                            "with a node that goes by a condition, which this machine does not do: "
                            "kernels of the other graph set conditions of their own"}};
    if (!std::ranges::is_permutation(places_among(part.there, part.after[part.there[i]]),
                                     places_among(there, its.after)))
      return GraphChange::order;
    if (own.inner == nullptr) continue;
    const GraphChange change = change_of(executable, *own.inner, *its.inner);
    if (change != GraphChange::none) return change;
  }
  return GraphChange::none;
}

void take_work_of(const Graph& is, Executable& executable, const Graph& was) {
  const Executable::Part& part = executable.parts.at(&was);
  const std::vector<std::size_t> there = nodes_there(is);
  for (std::size_t i = 0; i < there.size(); ++i) {
    Node& own = executable.graph.nodes[part.place_of[part.there[i]]];
    const Node& its = is.nodes[there[i]];
    take_work_of(its, own);
    if (own.inner != nullptr) take_work_of(*its.inner, executable, *own.inner);
  }
}

void update(Executable& executable, const Graph& was, const Graph& is, GraphChange& changed) {
  if (!is.memory.empty() || !executable.graph.memory.empty()) throw Failure{Error::not_supported};
  if ((changed = change_of(executable, was, is)) != GraphChange::none)
    throw Failure{Error::graph_exec_update_failure};
  take_work_of(is, executable, was);
}

Node& that_may_be_disabled(void* executable, void* node) {
  Node& its = node_in(executable_of(executable), node_of(node));
  if (its.kind != NodeKind::kernel && its.kind != NodeKind::copy && its.kind != NodeKind::set)
    throw Failure{Error::invalid_value};
  return its;
}

}  // namespace

Error set_node(void* node, const NodeWork& work) {
  return call([&] { replace(its_node(node), work); });
}

Error set_node_of(void* executable, void* node, const NodeWork& work) {
  return call([&] { replace(node_in(executable_of(executable), node_of(node)), work); });
}

Error change_launch(void* node, const std::function<void(Configuration&)>& change) {
  return call([&] { launch_otherwise(its_node(node), change); });
}

Error update_executable(void* executable, void* graph, GraphChange& changed) {
  changed = GraphChange::none;
  return call([&] {
    Executable& updated = executable_of(executable);
    update(updated, *updated.made_of, *graph_of(graph), changed);
  });
}

Error update_graph_in(void* executable, void* node, void* graph) {
  return call([&] {
    Executable& updated = executable_of(executable);
    const std::shared_ptr<const Graph> inner = node_in(updated, node_of(node)).inner;
    if (inner == nullptr) throw Failure{Error::invalid_value};
    GraphChange changed;
    update(updated, *inner, *graph_of(graph), changed);
  });
}

Error enable_node(void* executable, void* node, bool is_enabled) {
  return call([&] { that_may_be_disabled(executable, node).is_enabled = is_enabled; });
}

Error is_node_enabled(void* executable, void* node, bool& is_enabled) {
  return call([&] { is_enabled = that_may_be_disabled(executable, node).is_enabled; });
}

}  // namespace ptx::runtime
