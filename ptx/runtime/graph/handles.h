// Graphs, nodes and executables as host code knows them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ptx/runtime/state.h"

namespace ptx::runtime {

// All of these throw invalid_value where there is none.
template <class Set>
auto found_in(Set& set, void* handle) {
  const auto found = find_handle(set, handle);
  if (found == set.end()) throw Failure{Error::invalid_value};
  return found;
}
std::shared_ptr<Graph> graph_of(void* handle);  // also of one that is still being captured
const NodeHandle& node_of(void* handle);
Node& its_node(void* handle);
std::size_t number_in(const std::shared_ptr<Graph>&, void* handle);
// Of several, of which none may be said twice.
std::vector<std::size_t> numbers_in(const std::shared_ptr<Graph>&, std::span<void* const> handles);
Executable& executable_of(void* handle);
Node& node_in(Executable&, const NodeHandle&);  // what was made of that node
// `add` adds one node.
void add_to(const std::shared_ptr<Graph>&, std::span<void* const> after, void** node,
            const std::function<void()>& add);

void* handle_of(const std::shared_ptr<Graph>&, std::size_t number);
// Those of a graph that is no more, with those of what is in it; and of a node.
void forget_handles(Graph&);
void forget_handles(Graph&, std::size_t number);

// Numbers of the nodes that were not destroyed.
std::vector<std::size_t> nodes_there(const Graph&);
bool contains(const std::vector<std::size_t>& all, std::size_t one);
// Attributes of a launch, and how it is launched.
void take_attributes(const Configuration& other, Configuration& own);

// Does all of it, once.
void run(Executable&, StreamName, const void* frame);
void run_branches(const Node&, const Turn&);
void begin_conditions(const Executable&, StreamName);  // of a launch
void expect_that_may_branch(const Graph& body);

}  // namespace ptx::runtime
