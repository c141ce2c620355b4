// Stream capture, and what a launch of the graph that came of it does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "ptx/runtime/tests/capturing.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace rt = ptx::runtime;
using rt::Use;

TEST_F(Graphs, run_nothing_until_they_are_launched_and_all_of_it_then) {
  double_floats();
  const Observation seen = observed([&] {
    EXPECT_EQ(
        captured([&] { scale(memory, memory + 1, 1, one), scale(memory + 1, memory + 2, 1, one); }),
        Error::success);
    EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(1, 1, 1));
    EXPECT_EQ(launch(), Error::success);
    EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(1, 2, 4));
    memory[0] = 5;
    EXPECT_EQ(launch(), Error::success);
    EXPECT_THAT(std::vector(memory, memory + 3), ElementsAre(5, 10, 20));
  });
  EXPECT_EQ(text(seen), "");
  EXPECT_EQ(seen.kernels, 4);
}

TEST_F(Graphs, outlive_what_they_were_made_of) {
  EXPECT_EQ(captured([&] { clear(one, 7); }), Error::success);
  EXPECT_EQ(rt::destroy_graph(std::exchange(graph, nullptr)), Error::success);
  EXPECT_EQ(launch(), Error::success);
  EXPECT_EQ(*reinterpret_cast<char*>(memory), 7);
  EXPECT_EQ(rt::destroy_graph(memory), Error::invalid_value);
  EXPECT_EQ(rt::launch_graph(memory, one, nullptr), Error::invalid_value);
}

TEST_F(Graphs, read_host_memory_at_each_launch) {
  static float from = 3;
  const Observation seen = observed([&] {
    EXPECT_EQ(captured([&] { EXPECT_EQ(copy(&from, one), Error::success); }), Error::success);
    launch(), rt::wait_for_stream(one);
    EXPECT_EQ(memory[0], 3);
    from = 4;
    launch(), rt::wait_for_stream(one);
    EXPECT_EQ(memory[0], 4);
  });
  EXPECT_EQ(text(seen), "");
}

TEST_F(Graphs, have_not_read_host_memory_when_the_launch_returns) {
  static float from = 3;
  EXPECT_THAT(text(observed([&] {
                captured([&] { copy(&from, one); });
                launch();
                from = 4;
                rt::wait_for_stream(one);
              })),
              HasSubstr("with which an asynchronous copy of 4 bytes may still be under way"));
}

[[gnu::noinline]] void with_a_local(const std::function<void(const float*)>& use) {
  volatile float local[64] = {3};
  use(const_cast<const float*>(local));
}

TEST_F(Graphs, may_not_read_variables_of_functions_that_have_returned) {
  const auto capture = [&] {
    with_a_local([&](const float* from) { captured([&] { copy(from, one); }); });
  };
  EXPECT_THAT(
      text(observed([&] {
        const void* const frame = __builtin_frame_address(0);
        capture();
        rt::launch_graph(executable, one, frame);
      })),
      HasSubstr("a copy of 4 bytes in a graph reads host memory that was a local variable"));
}

TEST_F(Graphs, may_read_variables_of_functions_that_have_not) {
  EXPECT_EQ(text(observed([&] {
              with_a_local([&](const float* from) {
                captured([&] { copy(from, one); });
                launch(), rt::wait_for_stream(one);
              });
            })),
            "");
}

TEST_F(Graphs, may_not_read_memory_that_the_host_has_given_back) {
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_THAT(text(observed([&] {
                captured([&] { copy(page, one); });
                munmap(page, 4096);
                launch();
              })),
              HasSubstr("in a graph reads host memory that has been given back"));
}

TEST_F(Graphs, and_events_know_nothing_of_earlier_observations) {
  EXPECT_EQ(text(observed([&] {
              for (int i = 0; i < 5; ++i) clear(one);
              rt::record_event(event, one);
              captured([&] { clear(one); });
              launch();
            })),
            "");
  EXPECT_THAT(text(observed([&] {
                clear(one);
                rt::wait_for_event(other, event);
                clear(other);
              })),
              HasSubstr("nothing orders the two"));
  EXPECT_THAT(text(observed([&] {
                clear(one);
                rt::launch_graph(executable, other, __builtin_frame_address(0));
              })),
              HasSubstr("nothing orders the two"));
}

TEST_F(Graphs, order_streams_as_events_do) {
  const auto fork = [&](bool is_joined_at_once) {
    return text(observed([&] {
      captured([&] {
        clear(one);
        order(one, other);
        clear(other);
        if (is_joined_at_once) order(other, one);
        clear(one);
        order(other, one);
      });
      launch(), launch();
    }));
  };
  EXPECT_EQ(fork(true), "");
  EXPECT_THAT(fork(false), HasSubstr("cudaMemset wrote, and nothing orders the two"));
}

TEST_F(Graphs, come_after_what_is_in_their_stream_and_before_what_follows) {
  EXPECT_EQ(captured([&] {
              order(one, other);
              clear(other);
              order(other, one);
            }),
            Error::success);
  EXPECT_EQ(text(observed([&] { clear(one), launch(), clear(one); })), "");
  EXPECT_THAT(text(observed([&] { launch(), clear(blocking); })), HasSubstr("nothing orders"));
  EXPECT_EQ(text(observed([&] {  // no graph overtakes itself
              launch();
              rt::launch_graph(executable, blocking, nullptr);
              clear(blocking);
            })),
            "");
}

TEST_F(Graphs, do_so_in_each_of_their_streams) {
  const auto set = [&](void* stream, float* at) { rt::set_memory(at, 64, 0, 64, 1, stream); };
  float* const second_half = memory + 16;
  EXPECT_EQ(captured([&] {
              order(one, other);
              set(one, memory), set(other, second_half);
              order(other, one);
            }),
            Error::success);
  EXPECT_EQ(text(observed([&] { set(one, second_half), launch(); })), "");
  EXPECT_EQ(text(observed([&] { launch(), set(one, second_half); })), "");
}

TEST_F(Graphs, keep_kernels_early_that_follow_a_kernel) {
  const auto early = [&](const std::function<void()>& first) {
    return text(observed([&] {
      captured([&] {
        first();
        scale(memory, memory + 8, 4, one, true);
      });
      clear(one);
      scale(memory + 16, memory, 4, one);
      launch();
    }));
  };
  EXPECT_EQ(early([] {}), "") << "what is ahead of the graph is none of it";
  EXPECT_THAT(early([&] { scale(memory + 16, memory, 4, one); }), HasSubstr("it starts early"));
}

TEST_F(Graphs, call_functions_of_the_host_each_time_and_in_their_order) {
  static float from;
  from = 0;
  const auto count = [] { ++from; };
  const Observation seen = observed([&] {
    captured([&] {
      EXPECT_EQ(rt::call_host(one, count, &from), Error::success);
      copy(&from, one);
    });
    for (const float calls : {1.0f, 2.0f}) {
      launch(), rt::wait_for_stream(one);
      EXPECT_EQ(memory[0], calls);
    }
  });
  EXPECT_EQ(text(seen), "");
}

TEST_F(Graphs, may_not_give_them_variables_of_functions_that_have_returned) {
  EXPECT_THAT(text(observed([&] {
                const void* const frame = __builtin_frame_address(0);
                with_a_local([&](const float* local) {
                  captured([&] {
                    rt::call_host(
                        one, [] {}, local);
                  });
                });
                rt::launch_graph(executable, one, frame);
              })),
              HasSubstr("a function of the host in a graph is given"));
}

TEST_F(Graphs, hold_memory_from_its_allocation_to_its_end) {
  void* own = nullptr;
  const auto use = [&](void* stream) { return rt::set_memory(own, 64, 0, 64, 1, stream); };
  EXPECT_EQ(captured([&] {
              EXPECT_EQ(rt::allocate_in(one, &own, 64), Error::success);
              EXPECT_EQ(use(one), Error::success);
              EXPECT_EQ(rt::release_in(one, own), Error::success);
            }),
            Error::success);
  EXPECT_EQ(use(one), Error::invalid_value) << "it is not there yet";
  const Observation seen = observed([&] {
    EXPECT_EQ(launch(), Error::success);
    EXPECT_EQ(launch(), Error::success);
  });
  EXPECT_EQ(text(seen), "");
  EXPECT_EQ(use(one), Error::invalid_value) << "it is no longer there";
}

TEST_F(Graphs, cannot_be_launched_again_while_their_memory_is_there) {
  void* own = nullptr;
  EXPECT_EQ(captured([&] { rt::allocate_in(one, &own, 64); }), Error::success);
  EXPECT_EQ(launch(), Error::success);
  EXPECT_EQ(launch(), Error::invalid_value);
  EXPECT_EQ(rt::release_in(other, own), Error::success);
  EXPECT_EQ(launch(), Error::success);
  void* freeing = nullptr;
  EXPECT_EQ(rt::instantiate(&freeing, graph, true), Error::not_supported) << "of the same memory";
  EXPECT_EQ(rt::destroy_executable(std::exchange(executable, nullptr)), Error::success);
  EXPECT_EQ(rt::instantiate(&freeing, graph, true), Error::success);
  EXPECT_EQ(rt::launch_graph(freeing, one, nullptr), Error::success);
  EXPECT_EQ(rt::release(own, Use::device), Error::success);
  EXPECT_EQ(rt::destroy_executable(freeing), Error::success);
}

TEST_F(Graphs, free_only_their_own_memory) {
  EXPECT_EQ(captured([&] { EXPECT_EQ(rt::release_in(one, memory), Error::invalid_value); }),
            Error::success);
}

TEST_F(Graphs, are_not_launched_into_a_capture) {
  EXPECT_EQ(captured([&] { clear(one, 7); }), Error::success);
  void* const inner = std::exchange(graph, nullptr);
  void* const launched = std::exchange(executable, nullptr);
  EXPECT_EQ(captured([&] {
              EXPECT_EQ(rt::launch_graph(launched, one, nullptr),
                        Error::stream_capture_unsupported);
            }),
            Error::stream_capture_invalidated);
  EXPECT_EQ(rt::destroy_executable(launched), Error::success);
  EXPECT_EQ(rt::destroy_graph(inner), Error::success);
}

}  // namespace
}  // namespace ptx::tests
