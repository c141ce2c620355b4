// A graph that is built node by node, of kernels that double floats.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ptx/runtime/tests/capturing.h"

namespace ptx::tests {

class Nodes : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    ASSERT_EQ(runtime::create_graph(&graph), Error::success);
    double_floats();
  }
  // memory[to] = 2 * memory[from]
  runtime::NodeWork doubles(int from, int to) {
    return [this, from, to](void* stream) {
      scale(memory + from, memory + to, 1, stream);
      return Error::success;
    };
  }
  runtime::NodeWork sets(int at, int value) {
    return [this, at, value](void* stream) {
      return runtime::set_memory(memory + at, 4, value, 4, 1, stream);
    };
  }
  static runtime::NodeWork nothing() {
    return [](void*) { return Error::success; };
  }
  void* add(const runtime::NodeWork& work, const std::vector<void*>& after = {}) {
    return add_to(graph, work, after);
  }
  static void* add_to(void* graph, const runtime::NodeWork& work,
                      const std::vector<void*>& after = {}) {
    void* node = nullptr;
    EXPECT_EQ(runtime::add_node(&node, graph, after, work), Error::success);
    return node;
  }
  // A graph of its own, which is destroyed once it has been added.
  void* add_graph_of(const std::function<void(void* inner)>& build,
                     const std::vector<void*>& after = {}) {
    void *inner = nullptr, *node = nullptr;
    EXPECT_EQ(runtime::create_graph(&inner), Error::success);
    build(inner);
    EXPECT_EQ(runtime::add_graph(&node, graph, after, inner), Error::success);
    EXPECT_EQ(runtime::destroy_graph(inner), Error::success);
    return node;
  }
  Error order_nodes(void* before, void* then) {
    return runtime::add_dependencies(graph, std::span(&before, 1), std::span(&then, 1));
  }
  Error instantiate() { return runtime::instantiate(&executable, graph, false); }
};

}  // namespace ptx::tests
