// Graphs that are built node by node.
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

TEST_F(Nodes, do_nothing_until_they_are_launched) {
  const Observation seen = observed([&] {
    void* const first = add(doubles(0, 1));
    add(doubles(1, 2), {first});
    EXPECT_EQ(instantiate(), Error::success);
    EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(1, 1, 1));
    launch();
    EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(1, 2, 4));
  });
  EXPECT_EQ(text(seen), "");
  EXPECT_EQ(seen.kernels, 2);
}

TEST_F(Nodes, come_behind_those_that_were_added_later) {
  EXPECT_EQ(text(observed([&] {
              void* const last = add(doubles(1, 2));
              void* const between = add(nothing());
              EXPECT_EQ(order_nodes(add(doubles(0, 1)), between), Error::success);
              EXPECT_EQ(order_nodes(between, last), Error::success);
              EXPECT_EQ(order_nodes(between, last), Error::invalid_value) << "said twice";
              EXPECT_EQ(instantiate(), Error::success);
              launch();
              EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(1, 2, 4));
            })),
            "");
}

TEST_F(Nodes, that_nothing_orders_may_come_in_any_order) {
  EXPECT_THAT(text(observed([&] {
                add(doubles(0, 1)), add(doubles(1, 2));
                instantiate();
                launch();
              })),
              HasSubstr("nothing orders the two"));
}

TEST_F(Nodes, do_not_come_before_themselves) {
  void* const first = add(nothing());
  void* const then = add(nothing(), {first});
  EXPECT_EQ(order_nodes(first, first), Error::invalid_value);
  EXPECT_EQ(order_nodes(then, first), Error::success);
  EXPECT_EQ(instantiate(), Error::invalid_value);
}

TEST_F(Nodes, are_those_of_their_graph) {
  void *other = nullptr, *node = nullptr;
  void* const own = add(nothing());
  ASSERT_EQ(rt::create_graph(&other), Error::success);
  EXPECT_EQ(rt::add_node(&node, other, std::span(&own, 1), nothing()), Error::invalid_value);
  EXPECT_EQ(rt::add_node(&node, memory, {}, nothing()), Error::invalid_value);
  EXPECT_EQ(rt::add_node(&node, other, {}, nothing()), Error::success);
  EXPECT_EQ(rt::destroy_graph(other), Error::success);
  EXPECT_EQ(rt::set_node(node, nothing()), Error::invalid_value);
}

TEST_F(Nodes, are_set_before_and_after_the_graph_is_made) {
  EXPECT_EQ(text(observed([&] {
              void* const node = add(doubles(0, 1));
              EXPECT_EQ(rt::set_node(node, sets(0, 0)), Error::invalid_value) << "another kind";
              EXPECT_EQ(rt::set_node(node, doubles(0, 2)), Error::success);
              instantiate();
              EXPECT_EQ(rt::set_node(node, doubles(0, 3)), Error::success);
              launch();
              EXPECT_THAT(std::vector(memory, memory + 4), ElementsAre(1, 1, 2, 1));
              EXPECT_EQ(rt::set_node_of(executable, node, doubles(0, 4)), Error::success);
              launch();
              EXPECT_THAT(std::vector(memory, memory + 5), ElementsAre(1, 1, 2, 1, 2));
            })),
            "");
}

TEST_F(Nodes, are_told_of_captured_graphs_too) {
  rt::destroy_graph(std::exchange(graph, nullptr));
  EXPECT_EQ(text(observed([&] {
              captured([&] { clear(one), scale(memory, memory + 1, 1, one); });
              std::vector<void*> all, first;
              EXPECT_EQ(rt::nodes_of(graph, false, all), Error::success);
              EXPECT_EQ(rt::nodes_of(graph, true, first), Error::success);
              ASSERT_EQ(all.size(), 2u);
              EXPECT_THAT(first, ElementsAre(all[0]));
              NodeKind kind = NodeKind::empty;
              EXPECT_EQ(rt::kind_of_node(all[0], kind), Error::success);
              EXPECT_EQ(kind, NodeKind::set);
              EXPECT_EQ(rt::set_node_of(executable, all[1], doubles(40, 41)), Error::success);
              launch();
              EXPECT_EQ(memory[41], 2);
              EXPECT_EQ(memory[1], 0);
            })),
            "");
}

TEST_F(Nodes, go_into_a_graph_that_is_being_captured) {
  void* const apart = std::exchange(graph, nullptr);
  void *its = nullptr, *node = nullptr;
  std::span<void* const> last;
  EXPECT_EQ(rt::captured_graph(one, its, last), Error::illegal_state);
  EXPECT_EQ(text(observed([&] {
              captured([&] {
                scale(memory, memory + 1, 1, one);
                EXPECT_EQ(rt::captured_graph(one, its, last), Error::success);
                ASSERT_EQ(last.size(), 1u);
                EXPECT_EQ(rt::add_node(&node, its, last, doubles(1, 2)), Error::success);
                EXPECT_EQ(rt::destroy_graph(its), Error::invalid_value) << "not yet the caller's";
                EXPECT_EQ(rt::go_on_behind(one, std::span(&apart, 1), false), Error::invalid_value);
                EXPECT_EQ(rt::go_on_behind(one, std::span(&node, 1), false), Error::success);
                scale(memory + 2, memory + 3, 1, one);
              });
              EXPECT_EQ(graph, its);
              launch();
              EXPECT_THAT(std::vector(memory, memory + 4), ElementsAre(1, 2, 4, 8));
            })),
            "");
  rt::destroy_graph(apart);
}

TEST_F(Nodes, of_a_capture_go_on_behind_what_they_had_as_well) {
  rt::destroy_graph(std::exchange(graph, nullptr));
  const auto found = [&](bool as_well) {
    return text(observed([&] {
      captured([&] {
        scale(memory, memory + 1, 1, one);
        void *its = nullptr, *node = nullptr;
        std::span<void* const> last;
        rt::captured_graph(one, its, last);
        rt::add_node(&node, its, {}, doubles(4, 5));
        EXPECT_EQ(rt::go_on_behind(one, std::span(&node, 1), as_well), Error::success);
        scale(memory + 1, memory + 2, 1, one);
      });
      launch();
    }));
  };
  EXPECT_EQ(found(true), "");
  rt::destroy_executable(std::exchange(executable, nullptr));
  rt::destroy_graph(std::exchange(graph, nullptr));
  EXPECT_THAT(found(false), HasSubstr("nothing orders the two"));
}

TEST_F(Nodes, are_all_set_at_once_by_a_graph_of_the_same_kind) {
  void* const first = add(doubles(0, 1));
  add(sets(5, 0), {first});
  ASSERT_EQ(instantiate(), Error::success);
  void* const made = graph;
  rt::GraphChange changed{};
  const auto update_by = [&](const std::function<void()>& build) {
    EXPECT_EQ(rt::create_graph(&graph), Error::success);
    build();
    const Error error = rt::update_executable(executable, graph, changed);
    rt::destroy_graph(graph);
    return error;
  };
  EXPECT_EQ(update_by([&] { add(sets(6, 0), {add(doubles(0, 2))}); }), Error::success);
  EXPECT_EQ(changed, rt::GraphChange::none);
  launch();
  EXPECT_THAT(std::vector(memory, memory + 7), ElementsAre(1, 1, 2, 1, 1, 1, 0));
  EXPECT_EQ(update_by([&] { add(doubles(0, 3)), add(sets(7, 0)); }),
            Error::graph_exec_update_failure);
  EXPECT_EQ(changed, rt::GraphChange::order);
  EXPECT_EQ(update_by([&] { add(doubles(0, 4), {add(doubles(0, 3))}); }),
            Error::graph_exec_update_failure);
  EXPECT_EQ(changed, rt::GraphChange::kinds);
  graph = made;
}

TEST_F(Nodes, record_events_and_wait_for_them_at_each_launch) {
  const auto works_on = [&](bool waits) {
    const std::string finding = text(observed([&] {
      const NodeWork records = [&](void* stream) {
        return rt::record_event(event, stream, rt::EventOf::outside);
      };
      void* const node = add(records, {add(doubles(0, 1))});
      void* its = nullptr;
      EXPECT_EQ(rt::event_of_node(node, NodeKind::wait, its), Error::invalid_value);
      EXPECT_EQ(rt::event_of_node(node, NodeKind::record, its), Error::success);
      EXPECT_EQ(its, event);
      EXPECT_EQ(instantiate(), Error::success);
      launch();
      if (waits) rt::wait_for_event(other, event);
      sets(1, 0)(other);
    }));
    rt::destroy_executable(std::exchange(executable, nullptr));
    rt::destroy_graph(graph), rt::create_graph(&graph);
    return finding;
  };
  EXPECT_EQ(works_on(true), "");
  EXPECT_THAT(works_on(false), HasSubstr("nothing orders the two"));
}

TEST_F(Nodes, wait_for_events_from_outside) {
  const auto works_on = [&](bool waits) {
    const std::string finding = text(observed([&] {
      const NodeWork wait = [&](void* stream) {
        return rt::wait_for_event(stream, event, rt::EventOf::outside);
      };
      add(doubles(1, 2), {add(waits ? wait : nothing())});
      EXPECT_EQ(instantiate(), Error::success);
      scale(memory, memory + 1, 1, other);
      EXPECT_EQ(rt::record_event(event, other), Error::success);
      launch();
    }));
    rt::destroy_executable(std::exchange(executable, nullptr));
    rt::destroy_graph(graph), rt::create_graph(&graph);
    return finding;
  };
  EXPECT_EQ(works_on(true), "");
  EXPECT_THAT(works_on(false), HasSubstr("nothing orders the two"));
  EXPECT_EQ(rt::record_event(event, other, rt::EventOf::outside), Error::illegal_state)
      << "outside of a capture";
}

TEST_F(Nodes, allocate_what_only_they_may_free) {
  EXPECT_EQ(
      text(observed([&] {
        void* its = nullptr;
        void* const first = add([&](void* stream) { return rt::allocate_in(stream, &its, 128); });
        const auto copies = [&](void* to, const void* from) -> NodeWork {
          return [=](void* stream) {
            return rt::copy({.to = to, .from = from, .width = 128, .stream = stream});
          };
        };
        void* const there = add(copies(its, memory), {first});
        void* const back = add(copies(memory + 32, its), {there});
        add([&](void* stream) { return rt::release_in(stream, its); }, {back});
        void* node = nullptr;
        const NodeWork allocates_more = [&](void* stream) {
          return rt::allocate_in(stream, &node, 256);
        };
        EXPECT_EQ(rt::set_node(first, allocates_more), Error::invalid_value);
        const NodeWork frees_other = [&](void* stream) { return rt::release_in(stream, memory); };
        EXPECT_EQ(rt::add_node(&node, graph, {}, frees_other), Error::invalid_value);
        EXPECT_EQ(rt::copy_graph(graph, &node), Error::not_supported);
        EXPECT_EQ(instantiate(), Error::success);
        launch(), launch();
      })),
      "");
}

TEST_F(Nodes, have_objects_kept_for_the_host_until_no_graph_needs_them) {
  int destroyed = 0;
  void *object = nullptr, *copy = nullptr;
  ASSERT_EQ(rt::create_object(
                &object, [&] { ++destroyed; }, 2),
            Error::success);
  EXPECT_EQ(rt::let_go_of_object(object, 3), Error::invalid_value);
  EXPECT_EQ(rt::keep_in_graph(graph, object, 1, true), Error::success) << "one of two moves";
  EXPECT_EQ(rt::keep_in_graph(graph, object, 1, false), Error::success);
  EXPECT_EQ(rt::let_go_of_object(object, 1), Error::success);
  EXPECT_EQ(rt::let_go_of_object(object, 1), Error::invalid_value) << "no longer the caller's";
  EXPECT_EQ(rt::drop_from_graph(graph, object, 3), Error::invalid_value);
  EXPECT_EQ(rt::drop_from_graph(graph, object, 1), Error::success);
  EXPECT_EQ(rt::copy_graph(graph, &copy), Error::success);
  EXPECT_EQ(instantiate(), Error::success);
  EXPECT_EQ(rt::drop_from_graph(graph, object, 1), Error::success);
  EXPECT_EQ(rt::destroy_graph(copy), Error::success);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(rt::destroy_executable(std::exchange(executable, nullptr)), Error::success);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Nodes, keep_objects_while_a_graph_that_was_made_of_theirs_is_there) {
  int destroyed = 0;
  void* object = nullptr;
  ASSERT_EQ(rt::create_object(
                &object, [&] { ++destroyed; }, 1),
            Error::success);
  EXPECT_EQ(rt::keep_in_graph(graph, object, 1, true), Error::success);
  EXPECT_EQ(instantiate(), Error::success);
  EXPECT_EQ(rt::destroy_graph(std::exchange(graph, nullptr)), Error::success);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(rt::destroy_executable(std::exchange(executable, nullptr)), Error::success);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Nodes, tell_what_they_launch) {
  std::shared_ptr<const rt::LaunchOfNode> launched;
  EXPECT_EQ(rt::launch_of_node(add(nothing()), launched), Error::invalid_value);
  void* const node = add(doubles(3, 7));
  ASSERT_EQ(rt::launch_of_node(node, launched), Error::success);
  EXPECT_EQ(launched->stub, &library.scale);
  EXPECT_EQ(launched->configuration.block.x, 32u);
  ASSERT_EQ(launched->arguments.size(), 3u);
  EXPECT_EQ(*static_cast<float**>(launched->arguments[1]), memory + 7);
  ASSERT_EQ(rt::set_node(node, doubles(3, 8)), Error::success);
  ASSERT_EQ(rt::launch_of_node(node, launched), Error::success);
  EXPECT_EQ(*static_cast<float**>(launched->arguments[1]), memory + 8);
}

TEST_F(Nodes, are_refused_where_their_kernel_is) {
  const Observation seen = observed([&] {
    void* node = nullptr;
    const NodeWork too_large = [&](void* stream) {
      return rt::launch(&library.bounded, {.block = {128}, .stream = stream}, nullptr);
    };
    const NodeWork fails_late = [&](void* stream) {
      sets(0, 0)(stream);
      return Error::invalid_value;
    };
    EXPECT_NE(rt::add_node(&node, graph, {}, fails_late), Error::success);
    EXPECT_NE(rt::add_node(&node, graph, {}, too_large), Error::success);
    std::vector<void*> all;
    EXPECT_EQ(rt::nodes_of(graph, false, all), Error::success);
    EXPECT_TRUE(all.empty());
  });
  EXPECT_THAT(text(seen), HasSubstr("bounded"));
}

}  // namespace
}  // namespace ptx::tests
