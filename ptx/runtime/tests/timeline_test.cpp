// Which work of several streams may be counted on.
#include "ptx/runtime/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using runtime::Known, runtime::StreamName, runtime::Timeline;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace rt = ptx::runtime;

constexpr StreamName legacy{}, blocking{.number = 7}, other_blocking{.number = 8},
    apart{.number = 9, .is_apart = true}, other_apart{.number = 10, .is_apart = true};

TEST(Known, is_of_the_later_operation_of_each_stream) {
  Known one{{5, 2}, {3, 7}, {9, 1}, {5, 1}};
  EXPECT_EQ(one, (Known{{3, 7}, {5, 2}, {9, 1}}));
  one.learn(Known{{1, 4}, {3, 6}, {5, 3}, {7, 1}, {11, 2}});
  EXPECT_EQ(one, (Known{{1, 4}, {3, 7}, {5, 3}, {7, 1}, {9, 1}, {11, 2}}));
  EXPECT_EQ(one.of(5), 3u);
  EXPECT_EQ(one.of(6), 0u) << "nothing is known of it";
}

TEST(Known, covers_what_knows_no_more_of_any_stream) {
  const Known one{{3, 7}, {5, 2}, {9, 1}};
  for (const Known& less : {Known(), Known{{5, 1}}, Known{{3, 7}, {9, 1}}, one})
    EXPECT_TRUE(one.covers(less));
  for (const Known& more : {Known{{5, 3}}, Known{{1, 1}}, Known{{3, 7}, {4, 1}},
                            Known{{3, 7}, {5, 2}, {9, 1}, {10, 1}}})
    EXPECT_FALSE(one.covers(more));
}

class Order : public testing::Test {
 protected:
  // Adds an operation; those that it may not count on, by name.
  std::vector<std::string> add(const std::string& name, StreamName stream) {
    const Past past = timeline.past_of_next(stream);
    timeline.add(stream, {.numbers = {++number, number + 1}, .name = name});
    return names(past.unordered);
  }
  static std::vector<std::string> names(const std::vector<Unordered>& all) {
    std::vector<std::string> names;
    for (const Unordered& one : all) names.push_back(one.name);
    return names;
  }
  Timeline timeline;
  std::uint32_t number = 0;
};

TEST_F(Order, is_that_of_a_stream) {
  add("a", apart);
  EXPECT_THAT(add("b", apart), IsEmpty());
  EXPECT_THAT(add("c", other_apart), ElementsAre("a", "b"));
}

TEST_F(Order, comes_from_events_as_they_were_recorded) {
  add("a", apart);
  const Known event = timeline.before_next(apart);
  add("b", apart);
  timeline.wait(other_apart, event);
  EXPECT_THAT(add("c", other_apart), ElementsAre("b"));
  timeline.wait(other_apart, timeline.before_next(apart));
  EXPECT_THAT(add("d", other_apart), IsEmpty());
  EXPECT_THAT(add("e", apart), ElementsAre("c", "d"));
}

TEST_F(Order, is_handed_on_from_stream_to_stream) {
  add("a", apart);
  timeline.wait(blocking, timeline.before_next(apart));
  add("b", blocking);
  timeline.wait(other_apart, timeline.before_next(blocking));
  EXPECT_THAT(add("c", other_apart), IsEmpty());
}

TEST_F(Order, of_the_default_stream_binds_all_streams_that_are_not_apart) {
  add("a", blocking);
  EXPECT_THAT(add("b", other_blocking), ElementsAre("a"));
  EXPECT_THAT(add("c", legacy), IsEmpty());
  EXPECT_THAT(add("d", blocking), IsEmpty());
  EXPECT_THAT(add("e", apart), ElementsAre("c", "a", "d", "b"));
  EXPECT_THAT(add("f", legacy), ElementsAre("e"));
}

TEST_F(Order, comes_from_a_host_that_waits) {
  add("a", apart);
  timeline.wait_on_host(timeline.before_next(apart));
  add("b", apart);
  EXPECT_THAT(add("c", other_apart), ElementsAre("b"));
  timeline.wait_on_host(timeline.of_all());
  EXPECT_THAT(add("d", legacy), IsEmpty());
}

TEST_F(Order, of_the_caller_is_not_that_of_kernels_that_start_early) {
  const auto of_next = [&] { return timeline.past_of_next(apart, true).caller; };
  const auto add_kernel = [&](bool overtakes) {
    timeline.add(apart, {.numbers = {++number, number + 1}, .overtakes = overtakes});
  };
  EXPECT_FALSE(of_next()) << "there is no caller";
  timeline.begin({apart});
  ASSERT_TRUE(of_next());
  EXPECT_TRUE(of_next()->until_waited_for);
  EXPECT_FALSE(timeline.past_of_next(apart).caller);
  EXPECT_FALSE(timeline.past_of_next(other_apart, true).caller->until_waited_for);
  add_kernel(true);
  EXPECT_TRUE(of_next()->is_overtaken) << "who waits for that one does not wait for the caller";
  EXPECT_FALSE(of_next()->until_waited_for);
  EXPECT_FALSE(timeline.past_of_next(apart).caller);
  add_kernel(false);
  EXPECT_FALSE(of_next());
  timeline.begin({apart});
  timeline.wait_on_host(timeline.before_next(apart));
  EXPECT_FALSE(of_next()) << "the host has waited";
}

TEST_F(Order, of_the_caller_is_that_of_its_streams) {
  timeline.begin({apart});
  EXPECT_FALSE(timeline.past_of_next(apart).caller);
  EXPECT_TRUE(timeline.past_of_next(legacy).caller);
  add("a", blocking);
  EXPECT_THAT(names(timeline.left_over()), ElementsAre("a"));
  timeline.wait(blocking, timeline.before_next(apart));
  EXPECT_FALSE(timeline.past_of_next(blocking).caller);
  timeline.wait(apart, timeline.before_next(blocking));
  EXPECT_THAT(timeline.left_over(), IsEmpty());
}

// What host code does with two streams, and the finding, if any.
std::string found(const std::function<void(void* one, void* other, float* memory)>& host_code,
                  ptx::Order order = ptx::Order::forward) {
  const Observation seen = observe({.settings = {.order = order}}, [&] {
    void *one = nullptr, *other = nullptr, *memory = nullptr;
    rt::create_stream(&one, 1, 0), rt::create_stream(&other, 1, 0);
    rt::allocate(&memory, 256, rt::Use::device);
    host_code(one, other, static_cast<float*>(memory));
    rt::release(memory, rt::Use::device);
    rt::destroy_stream(one), rt::destroy_stream(other);
  });
  return seen.finding ? seen.finding->text : "";
}

TEST(Streams, must_wait_where_they_touch_the_same_memory) {
  const auto clear = [](void* stream, float* memory) {
    rt::set_memory(memory, 128, 0, 128, 1, stream);
  };
  EXPECT_THAT(found([&](void* one, void* other, float* memory) {
                clear(one, memory), clear(other, memory + 16);
              }),
              HasSubstr("cudaMemset writes byte 64 of memory of 256 bytes (allocation 1), which "
                        "cudaMemset wrote, and nothing orders the two"));
  EXPECT_EQ(found([&](void* one, void* other, float* memory) {
              clear(one, memory), clear(other, memory + 32);
            }),
            "");
  EXPECT_EQ(found([&](void* one, void* other, float* memory) {
              clear(one, memory), rt::wait_for_stream(one), clear(other, memory);
            }),
            "");
}

TEST(Streams, must_wait_for_kernels_and_for_copies) {
  Library library;
  const auto scale = [&](void* stream, float* from, float* to) {
    int n = 4;
    void* arguments[] = {&from, &to, &n};
    rt::launch(&library.scale, {.grid = {1}, .block = {32}, .stream = stream}, arguments);
  };
  const auto clear = [](void* stream, float* memory) {
    rt::set_memory(memory, 16, 0, 16, 1, stream);
  };
  EXPECT_THAT(found([&](void* one, void* other, float* memory) {
                clear(one, memory), scale(other, memory, memory + 8);
              }),
              HasSubstr("reads byte 0 of memory of 256 bytes (allocation 1) (line"));
  EXPECT_THAT(found([&](void* one, void* other, float* memory) {
                clear(one, memory), scale(one, memory, memory + 8), clear(other, memory + 8);
              }),
              HasSubstr("cudaMemset writes byte 32 of memory of 256 bytes (allocation 1), which "
                        "kernel `scale` wrote (line"));
  EXPECT_THAT(found([&](void* one, void* other, float* memory) {
                clear(one, memory), scale(one, memory, memory + 8), clear(other, memory);
              }),
              HasSubstr("which kernel `scale` read"));
  EXPECT_EQ(found([&](void* one, void* other, float* memory) {
              void* event = nullptr;
              rt::create_event(&event, false);
              clear(one, memory), rt::record_event(event, one), rt::wait_for_event(other, event);
              scale(other, memory, memory + 8);
              rt::destroy_event(event);
            }),
            "");
}

TEST(Streams, must_wait_for_memory_that_another_one_allocates_or_frees) {
  const auto in_pool = [](bool waits_for_memory, bool frees_in_other) {
    return found([&](void* one, void* other, float*) {
      void *event = nullptr, *memory = nullptr;
      rt::create_event(&event, false);
      if (!waits_for_memory) rt::record_event(event, one);
      rt::allocate_in(one, &memory, 256);
      if (waits_for_memory) rt::record_event(event, one);
      rt::wait_for_event(other, event);
      rt::set_memory(memory, 256, 0, 256, 1, other);
      if (!frees_in_other) rt::record_event(event, other), rt::wait_for_event(one, event);
      rt::release_in(one, memory);
      rt::destroy_event(event);
    });
  };
  EXPECT_EQ(in_pool(true, false), "");
  EXPECT_THAT(in_pool(false, false),
              HasSubstr("cudaMemset writes byte 0 of memory of 256 bytes (allocation 2), which "
                        "cudaMallocAsync allocated, and nothing orders the two"));
  EXPECT_THAT(in_pool(true, true), HasSubstr("cudaFreeAsync frees byte 0 of memory"));
}

TEST(Streams, must_wait_for_memory_that_a_kernel_uses) {
  Library library;
  const auto in_pool = [&](bool is_in_other) {
    return found([&](void* one, void* other, float* from) {
      void* to = nullptr;
      int n = 4;
      rt::set_memory(from, 256, 0, 256, 1, one);
      rt::wait_for_stream(one);
      rt::allocate_in(one, &to, 256);
      void* arguments[] = {&from, &to, &n};
      void* const stream = is_in_other ? other : one;
      rt::launch(&library.scale, {.grid = {1}, .block = {32}, .stream = stream}, arguments);
    });
  };
  EXPECT_EQ(in_pool(false), "");
  EXPECT_THAT(in_pool(true), HasSubstr("which cudaMallocAsync allocated, and nothing orders"));
}

// A kernel of two warps reads what the one ahead of it in its stream writes, in the first warp.
std::string found_early(const std::string& before_it_reads, bool starts_early,
                        ptx::Order order = ptx::Order::forward) {
  std::string text = kernels_text;
  text.insert(text.find("setp.ge.s32 %p1"), before_it_reads);
  Library library({}, text);
  const auto host_code = [&](void* one, void*, float* memory) {
    rt::set_memory(memory, 256, 0, 256, 1, one);
    for (float* from : {memory, memory + 8}) {
      float* to = memory + 8 - (from - memory);
      int n = 4;
      void* arguments[] = {&from, &to, &n};
      rt::launch(&library.scale,
                 {.grid = {1}, .block = {64}, .stream = one, .starts_early = starts_early},
                 arguments);
    }
  };
  return found(host_code, order);
}

TEST(KernelsThatStartEarly, must_wait_for_the_one_ahead) {
  EXPECT_EQ(found_early("", false), "");
  EXPECT_EQ(found_early("griddepcontrol.wait;", true), "");
  const auto names_what_is_missing =
      testing::AllOf(HasSubstr("which kernel `scale` wrote"),
                     HasSubstr("it starts early, and a griddepcontrol.wait "
                               "(cudaGridDependencySynchronize) is missing"));
  EXPECT_THAT(found_early("", true), names_what_is_missing);
  EXPECT_THAT(found_early("griddepcontrol.launch_dependents;", true), names_what_is_missing);
}

TEST(KernelsThatStartEarly, may_hear_from_others_of_their_block_that_these_have_waited) {
  const std::string second_warp_waits =
      "setp.lt.u32 %p1, %r4, 32; @%p1 bra $over; griddepcontrol.wait; $over:";
  for (const ptx::Order order : {ptx::Order::forward, ptx::Order::reverse}) {
    EXPECT_THAT(found_early(second_warp_waits, true, order), HasSubstr("griddepcontrol.wait"));
    EXPECT_EQ(found_early(second_warp_waits + "bar.sync 0;", true, order), "");
  }
}

// Of three kernels in a stream, the last reads what the first writes.
std::string found_behind_two(const std::string& second_waits) {
  std::string text = kernels_text;
  text.insert(text.find("ld.global.f32 %f1"), "griddepcontrol.wait;");
  text.insert(text.find("{", text.find(".visible .entry bounded")) + 1, second_waits);
  Library library({}, text);
  return found([&](void* one, void*, float* memory) {
    rt::set_memory(memory, 256, 0, 256, 1, one);
    const auto scale = [&](float* from, float* to) {
      int n = 4;
      void* arguments[] = {&from, &to, &n};
      rt::launch(&library.scale,
                 {.grid = {1}, .block = {32}, .stream = one, .starts_early = from != memory},
                 arguments);
    };
    scale(memory, memory + 8);
    rt::launch(&library.bounded, {.grid = {1}, .block = {32}, .stream = one, .starts_early = true},
               nullptr);
    scale(memory + 8, memory + 16);
  });
}

TEST(KernelsThatStartEarly, wait_for_no_more_than_the_one_ahead_has_waited_for) {
  EXPECT_EQ(found_behind_two("griddepcontrol.wait;"), "");
  EXPECT_THAT(found_behind_two(""),
              testing::AllOf(HasSubstr("which kernel `scale` wrote"),
                             HasSubstr("the kernel between the two started early and did not")));
}

}  // namespace
}  // namespace ptx::tests
