// When pinned memory that a copy reads may be rewritten: once the host may know that the copy is
// over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
namespace rt = ptx::runtime;

// Under the name of a kernel that every library has: exchanges a word, or stores one.
std::string telling(const std::string& how) {
  return ".visible .const .align 4 .b8 factor[16];\n"
         ".visible .global .align 4 .f32 total;\n"
         ".visible .global .attribute(.managed) .align 4 .u32 shared_with_host = 3;\n"
         ".visible .entry scale(.param .u64 to) {\n"
         ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
         "ld.param.u64 %rd1, [to];\n" +
         how + "\nret;\n}\n";
}

class Pinned : public testing::Test {
 protected:
  void SetUp() override {
    for (void** stream : {&one, &other}) rt::create_stream(stream, 1, 0);
    rt::allocate(&on_host, 64, rt::Use::host);
    rt::allocate(&flag, 4, rt::Use::host);
    rt::allocate(&on_device, 64, rt::Use::device);
  }
  void TearDown() override {
    for (void* memory : {on_host, flag}) rt::release(memory, rt::Use::host);
    rt::release(on_device, rt::Use::device);
    for (void* stream : {one, other}) rt::destroy_stream(stream);
    rt::take_last_error();
  }

  void copy() {
    EXPECT_EQ(rt::copy({.to = on_device, .from = on_host, .width = 64, .stream = one}),
              Error::success);
  }
  void tell_by_function(void* stream) {
    rt::call_host(
        stream, [] {}, nullptr);
  }
  void work_on_device(void* stream) {
    EXPECT_EQ(rt::copy({.to = on_device,
                        .from = static_cast<char*>(on_device) + 32,
                        .width = 16,
                        .stream = stream}),
              Error::success);
  }
  void tell_by_kernel(Library& library, void* stream) {
    void* arguments[] = {&flag};
    EXPECT_EQ(rt::launch(&library.scale, {.stream = stream}, arguments), Error::success);
  }
  void rewrite() {
    rt::peek_last_error();
    rt::query_stream(other);
    ++*static_cast<int*>(on_host);
    rt::query_stream(other);
  }
  // What is found where the host code does this.
  std::string found(const std::function<void()>& host_code) {
    const Observation seen = observe({}, host_code);
    return seen.finding ? seen.finding->text : "";
  }

  void *one = nullptr, *other = nullptr, *on_host = nullptr, *flag = nullptr, *on_device = nullptr;
  static constexpr const char* rewritten = "the host code writes to pinned memory";
};

TEST_F(Pinned, is_in_use_until_the_host_has_waited) {
  EXPECT_THAT(found([&] { copy(), rewrite(); }), HasSubstr(rewritten));
  EXPECT_THAT(found([&] { copy(), rt::wait_for_stream(other), rewrite(); }), HasSubstr(rewritten));
  EXPECT_THAT(found([&] { copy(), rt::wait_for_stream(one), rewrite(); }), IsEmpty());
}

// It is called when something that comes after it begins.
TEST_F(Pinned, is_free_once_a_function_behind_the_copy_was_called) {
  const auto tell = [&](void* stream) { tell_by_function(stream), work_on_device(stream); };
  EXPECT_THAT(found([&] { copy(), tell(one), rewrite(); }), IsEmpty());
  EXPECT_THAT(found([&] { tell(one), copy(), rewrite(); }), HasSubstr(rewritten));
  EXPECT_THAT(found([&] { copy(), tell_by_function(one), rewrite(); }), HasSubstr(rewritten))
      << "nothing was called yet";
  EXPECT_THAT(found([&] {
                copy(), tell_by_function(other);
                rt::wait_for_stream(other), rewrite();
              }),
              HasSubstr(rewritten));
  EXPECT_THAT(found([&] { copy(), tell(one), copy(), rewrite(); }), HasSubstr(rewritten))
      << "there is another copy";
}

// A pool to which a function of the host gives back what a launch has used.
TEST_F(Pinned, functions_wait_for_what_comes_after_them) {
  std::vector<int> called;
  const auto later = [&](void* stream, int number) {
    rt::call_host(
        stream, [&called, number] { called.push_back(number); }, nullptr);
  };
  EXPECT_THAT(found([&] {
                copy(), later(one, 1), later(one, 2);
                rt::query_stream(other), rt::query_stream(one);
                EXPECT_THAT(called, IsEmpty()) << "no GPU need be so fast";
                work_on_device(one), later(one, 3);
                EXPECT_THAT(called, testing::ElementsAre(1, 2));
                rt::wait_for_stream(one);
                EXPECT_THAT(called, testing::ElementsAre(1, 2, 3));
                later(one, 4);
              }),
              IsEmpty());
  EXPECT_THAT(called, testing::ElementsAre(1, 2, 3, 4));
}
TEST_F(Pinned, what_came_before_a_function_is_over_for_all_streams_once_it_was_called) {
  void* elsewhere = nullptr;
  rt::allocate(&elsewhere, 16, rt::Use::device);
  const auto clear = [](void* memory, void* stream) {
    rt::set_memory(memory, 16, 0, 16, 1, stream);
  };
  const auto in_other_stream = [&](const std::function<void()>& before) {
    return found([&] {
      copy(), tell_by_function(one), before();
      clear(on_device, other);
    });
  };
  EXPECT_THAT(in_other_stream([] {}), HasSubstr("nothing orders the two"));
  EXPECT_THAT(in_other_stream([&] { clear(elsewhere, one); }), IsEmpty());
  rt::release(elsewhere, rt::Use::device);
}

TEST_F(Pinned, is_free_once_a_kernel_behind_the_copy_has_said_so) {
  Library library({}, telling("atom.exch.sys.b32 %r1, [%rd1], 1;"));
  EXPECT_THAT(found([&] { copy(), tell_by_kernel(library, one), rewrite(); }), IsEmpty());
  EXPECT_THAT(found([&] { tell_by_kernel(library, one), copy(), rewrite(); }),
              HasSubstr(rewritten));
  EXPECT_THAT(found([&] { copy(), tell_by_kernel(library, other), rewrite(); }),
              HasSubstr(rewritten));
  EXPECT_THAT(found([&] {
                void* event = nullptr;
                rt::create_event(&event, false);
                copy(), rt::record_event(event, one), rt::wait_for_event(other, event);
                tell_by_kernel(library, other), rewrite();
                rt::destroy_event(event);
              }),
              IsEmpty());
}

TEST_F(Pinned, is_in_use_where_a_kernel_reads_it) {
  Library library;
  const auto read = [&](int words) {
    void* arguments[] = {&on_host, &on_device, &words};
    EXPECT_EQ(rt::launch(&library.scale, {.block = {16}, .stream = one}, arguments),
              Error::success);
  };
  EXPECT_THAT(found([&] { read(8), rewrite(); }),
              AllOf(HasSubstr(rewritten), HasSubstr("which kernel `scale` reads")));
  EXPECT_THAT(found([&] { read(8), rt::wait_for_stream(other), rewrite(); }), HasSubstr(rewritten));
  EXPECT_THAT(found([&] { read(8), rt::wait_for_stream(one), rewrite(); }), IsEmpty());
  EXPECT_THAT(found([&] {
                read(8), ++static_cast<int*>(on_host)[8];
                rt::query_stream(other);
              }),
              IsEmpty())
      << "it read the words before that";
}

TEST_F(Pinned, is_in_use_as_managed_memory_is) {
  Library library;
  void* managed = nullptr;
  ASSERT_EQ(rt::allocate(&managed, 64, rt::Use::managed), Error::success);
  const auto rewritten_behind_a_kernel = [&](bool waits) {
    return found([&] {
      int words = 8;
      void* arguments[] = {&managed, &on_device, &words};
      rt::launch(&library.scale, {.block = {16}, .stream = one}, arguments);
      if (waits) rt::wait_for_stream(one);
      ++*static_cast<int*>(managed);
      rt::query_stream(other);
    });
  };
  EXPECT_THAT(rewritten_behind_a_kernel(false), HasSubstr("or to managed memory"));
  EXPECT_THAT(rewritten_behind_a_kernel(true), IsEmpty());
  rt::release(managed, rt::Use::managed);
}

TEST_F(Pinned, is_not_free_for_what_a_kernel_merely_leaves_on_the_host) {
  Library library({}, telling("st.global.u32 [%rd1], 1;"));
  EXPECT_THAT(found([&] { copy(), tell_by_kernel(library, one), rewrite(); }),
              HasSubstr(rewritten));
  Library telling_library({}, telling("st.volatile.global.u32 [%rd1], 1;"));
  EXPECT_THAT(found([&] { copy(), tell_by_kernel(telling_library, one), rewrite(); }), IsEmpty());
}

}  // namespace
}  // namespace ptx::tests
