// Graphs in graphs, and copies of graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/runtime/tests/building.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace rt = ptx::runtime;
using rt::NodeKind;
using rt::NodeWork;

TEST_F(Nodes, may_be_graphs_which_come_where_their_node_does) {
  EXPECT_EQ(text(observed([&] {
              void* const first = add(doubles(0, 1));
              void* const inner = add_graph_of(
                  [&](void* its) { add_to(its, doubles(2, 3), {add_to(its, doubles(1, 2))}); },
                  {first});
              add(doubles(3, 4), {inner});
              EXPECT_EQ(instantiate(), Error::success);
              launch();
              EXPECT_THAT(std::vector(memory, memory + 5), ElementsAre(1, 2, 4, 8, 16));
            })),
            "");
}

TEST_F(Nodes, of_a_graph_in_a_graph_are_ordered_by_that_alone) {
  const auto found = [&](bool is_before, bool is_behind) {
    const std::string finding = text(observed([&] {
      void* const first = add(doubles(0, 1));
      void* const inner = add_graph_of([&](void* its) { add_to(its, doubles(1, 2)); },
                                       is_before ? std::vector{first} : std::vector<void*>{});
      add(doubles(2, 3), is_behind ? std::vector{inner} : std::vector<void*>{});
      EXPECT_EQ(instantiate(), Error::success);
      launch();
    }));
    rt::destroy_executable(std::exchange(executable, nullptr));
    rt::destroy_graph(graph), rt::create_graph(&graph);
    return finding;
  };
  EXPECT_EQ(found(true, true), "");
  EXPECT_THAT(found(false, true), HasSubstr("nothing orders the two"));
  EXPECT_THAT(found(true, false), HasSubstr("nothing orders the two"));
}

TEST_F(Nodes, of_a_graph_in_a_graph_are_its_own_and_can_be_set) {
  EXPECT_EQ(text(observed([&] {
              void* outside = nullptr;
              void* const node =
                  add_graph_of([&](void* its) { outside = add_to(its, doubles(0, 1)); });
              EXPECT_EQ(rt::set_node(outside, doubles(0, 2)), Error::invalid_value)
                  << "of a graph that is gone";
              void* inner = nullptr;
              EXPECT_EQ(rt::graph_in(node, inner), Error::success);
              EXPECT_EQ(rt::graph_in(add(nothing()), inner), Error::invalid_value);
              std::vector<void*> all;
              EXPECT_EQ(rt::nodes_of(inner, false, all), Error::success);
              ASSERT_EQ(all.size(), 1u);
              EXPECT_EQ(rt::set_node(all[0], doubles(0, 3)), Error::success);
              EXPECT_EQ(instantiate(), Error::success);
              launch();
              EXPECT_THAT(std::vector(memory, memory + 4), ElementsAre(1, 1, 1, 2));
              EXPECT_EQ(rt::set_node_of(executable, all[0], doubles(0, 1)), Error::success);
              launch();
              EXPECT_THAT(std::vector(memory, memory + 4), ElementsAre(1, 2, 1, 2));
            })),
            "");
}

TEST_F(Nodes, of_a_graph_in_a_graph_are_updated_with_the_others) {
  add_graph_of([&](void* its) { add_to(its, doubles(0, 1)); });
  ASSERT_EQ(instantiate(), Error::success);
  void* const made = graph;
  rt::GraphChange changed{};
  const auto update_by = [&](const NodeWork& work) {
    EXPECT_EQ(rt::create_graph(&graph), Error::success);
    add_graph_of([&](void* its) { add_to(its, work); });
    const Error error = rt::update_executable(executable, graph, changed);
    rt::destroy_graph(graph);
    return error;
  };
  EXPECT_EQ(update_by(doubles(0, 3)), Error::success);
  launch();
  EXPECT_THAT(std::vector(memory, memory + 4), ElementsAre(1, 1, 1, 2));
  EXPECT_EQ(update_by(sets(0, 0)), Error::graph_exec_update_failure);
  EXPECT_EQ(changed, rt::GraphChange::kinds);
  graph = made;
}

TEST_F(Nodes, of_a_graph_in_a_graph_go_with_the_outer_one_and_are_copied_with_it) {
  const auto node_in = [&](void* holder) {
    void* inner = nullptr;
    std::vector<void*> all;
    EXPECT_EQ(rt::graph_in(holder, inner), Error::success);
    EXPECT_EQ(rt::nodes_of(inner, false, all), Error::success);
    return all.at(0);
  };
  void* const holder = add_graph_of([&](void* its) { add_to(its, doubles(0, 1)); });
  void* const own = node_in(holder);
  void *copy = nullptr, *twin = nullptr;
  ASSERT_EQ(rt::copy_graph(graph, &copy), Error::success);
  ASSERT_EQ(rt::node_in_copy(holder, copy, &twin), Error::success);
  void* const in_copy = node_in(twin);
  EXPECT_EQ(rt::set_node(in_copy, doubles(0, 2)), Error::success);
  EXPECT_EQ(instantiate(), Error::success);
  launch();
  EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(1, 2, 1)) << "the copy has changed";
  EXPECT_EQ(rt::destroy_graph(copy), Error::success);
  EXPECT_EQ(rt::set_node(in_copy, doubles(0, 3)), Error::invalid_value);
  EXPECT_EQ(rt::set_node(own, doubles(0, 3)), Error::success);
}

TEST_F(Nodes, have_twins_in_a_copy_of_their_graph) {
  void* const node = add(doubles(0, 1));
  void *copy = nullptr, *twin = nullptr;
  ASSERT_EQ(rt::copy_graph(graph, &copy), Error::success);
  EXPECT_EQ(rt::node_in_copy(node, graph, &twin), Error::invalid_value);
  ASSERT_EQ(rt::node_in_copy(node, copy, &twin), Error::success);
  EXPECT_EQ(rt::set_node(twin, doubles(0, 2)), Error::success);
  EXPECT_EQ(instantiate(), Error::success);
  launch();
  EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(1, 2, 1)) << "the copy has changed";
  rt::destroy_executable(executable);
  EXPECT_EQ(rt::instantiate(&executable, copy, false), Error::success);
  launch();
  EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(1, 2, 2));
  EXPECT_EQ(rt::destroy_graph(copy), Error::success);
}

}  // namespace
}  // namespace ptx::tests
