// What becomes of mistakes in memory of the host.
#include "base/host_heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/child_process.h"

namespace {

using namespace assay;

// Not seen by the compiler, which would warn of what is done here on purpose, or leave it out.
void* hidden(void* pointer) {
  void* volatile same = pointer;
  return same;
}

// What a process says that does this, in an environment that checks the heap, and how it ends.
struct End {
  std::string words;
  int signal;
  bool operator==(const End&) const = default;
};
void PrintTo(const End& end, std::ostream* to) { *to << end.words << ", signal " << end.signal; }

End end_of(const char* mistake) {
  const std::string filter = std::string("--gtest_filter=Mistakes.DISABLED_") + mistake;
  ChildProcess child(this_program, {filter, "--gtest_also_run_disabled_tests"}, Channel::messages,
                     environment_that_checks_the_heap());
  std::string words = child.ask("go on", std::chrono::seconds(20)).value_or("");
  return {std::move(words), child.end().signal};
}

// Each in a process of its own.
struct Mistakes : testing::Test {
  void SetUp() override {
    send_last_words(message_descriptor, "last words: ");
    receive_message(message_descriptor);
  }
};

TEST_F(Mistakes, DISABLED_write_behind_the_end) {
  char* const bytes = static_cast<char*>(hidden(std::malloc(21)));
  bytes[21] = 1;
  std::free(bytes);
}

TEST_F(Mistakes, DISABLED_give_back_twice) {
  void* const bytes = std::malloc(5000);
  void* const same = hidden(bytes);
  std::free(bytes);
  std::free(same);
}

TEST_F(Mistakes, DISABLED_abort) { std::abort(); }

TEST_F(Mistakes, DISABLED_none) {
  std::vector<char> bytes(21);
  bytes[20] = 1;
}

void touch_what_faults() { *static_cast<volatile char*>(hidden(reinterpret_cast<void*>(16))) = 1; }
TEST_F(Mistakes, DISABLED_touch_explained) {
  explain_faults_by([](const void* address) -> const char* {
    return address == reinterpret_cast<void*>(16) ? "it is forbidden" : nullptr;
  });
  touch_what_faults();
}
TEST_F(Mistakes, DISABLED_touch) {
  explain_faults_by([](const void*) -> const char* { return nullptr; });
  touch_what_faults();
}

TEST(HostHeap, explains_a_fault_before_it_ends) {
  EXPECT_EQ(end_of("touch_explained"), (End{"last words: it is forbidden", SIGSEGV}));
  EXPECT_EQ(end_of("touch"), (End{"", SIGSEGV}));
}

TEST(HostHeap, says_why_before_it_ends) {
  if (environment_that_checks_the_heap().empty()) GTEST_SKIP() << "the C library has no checks";
  const End refused{"last words: free(): invalid pointer", SIGABRT};
  EXPECT_EQ(end_of("write_behind_the_end"), refused);
  EXPECT_EQ(end_of("give_back_twice"), refused);
}

TEST(HostHeap, has_nothing_to_say_where_the_c_library_has_not) {
  EXPECT_EQ(end_of("abort"), (End{"", SIGABRT}));
  EXPECT_EQ(end_of("none"), (End{"", 0}));
}

TEST(HostHeap, adds_to_what_is_loaded_first_anyway) {
  setenv("LD_PRELOAD", "other.so", 1);
  const auto environment = environment_that_checks_the_heap();
  unsetenv("LD_PRELOAD");
  if (environment.empty()) GTEST_SKIP() << "the C library has no checks";
  EXPECT_THAT(environment.at("LD_PRELOAD"), testing::StartsWith("other.so:"));
}

#ifndef __SANITIZE_ADDRESS__  // whose heap does not listen
TEST(HostHeap, is_scribbled_on_for_a_time) {
  constexpr std::size_t size = 3000;
  const auto fresh = [&] {
    auto* const bytes = static_cast<unsigned char*>(hidden(std::malloc(size)));
    const std::string held(bytes, bytes + size);
    std::memset(bytes, 0, size);
    std::free(bytes);
    return held;
  };
  {
    const ScribbledHeap scribbled;
    EXPECT_EQ(fresh(), std::string(size, '\x4a'));
    EXPECT_EQ(fresh(), std::string(size, '\x4a'));
  }
  fresh();
  EXPECT_NE(fresh(), std::string(size, '\x4a'));
}
#endif

}  // namespace
