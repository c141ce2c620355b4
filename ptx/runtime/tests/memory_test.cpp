// Memory, copies, symbols, and the handles of streams, events and pools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
namespace rt = ptx::runtime;
using rt::Direction;
using rt::Use;

class MemoryOfDevice : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(rt::allocate(&memory_, 64, Use::device), Error::success);
    std::memset(memory_, 0, 64);
  }
  void TearDown() override {
    rt::release(memory_, Use::device);
    rt::take_last_error();
  }
  std::byte* at(std::size_t offset) { return static_cast<std::byte*>(memory_) + offset; }
  Error copy(void* to, const void* from, std::size_t bytes, Direction direction) {
    return rt::copy({.to = to, .from = from, .width = bytes, .direction = direction});
  }

  void* memory_ = nullptr;
  char host_[64] = {};
};

// Which is there only where it is touched, as large operands are.
TEST(LargeMemory, IsNotClearedForALaunchThatIsWatchedOrRunInPart) {
  constexpr std::size_t bytes = (std::size_t{1} << 28) + 4096;
  auto* const first = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(static_cast<void*>(first), MAP_FAILED);
  device_memory().lend({.name = "the workspace",
                        .first = reinterpret_cast<std::uintptr_t>(first),
                        .row_bytes = bytes,
                        .pitch_bytes = bytes,
                        .written = false});
  const auto clear = [&](const Settings& settings, std::size_t some) {
    observe({.settings = settings},
            [&] { EXPECT_EQ(rt::set_memory(first, some, 7, some, 1, nullptr), Error::success); });
    return *first == 7;
  };
  EXPECT_FALSE(clear({.most_watched = 9}, bytes));
  EXPECT_FALSE(clear({.most_blocks = 9}, bytes));
  EXPECT_TRUE(clear({.most_watched = 9}, 4096)) << "little is";
  *first = 0;
  EXPECT_TRUE(clear({}, bytes)) << "nor is a usual launch spared it";
  device_memory().forget(reinterpret_cast<std::uintptr_t>(first));
  munmap(first, bytes);
}

TEST_F(MemoryOfDevice, IsCopiedInEachDirection) {
  host_[0] = 'x';
  EXPECT_EQ(copy(memory_, host_, 8, Direction::host_to_device), Error::success);
  EXPECT_EQ(copy(at(8), memory_, 8, Direction::device_to_device), Error::success);
  EXPECT_EQ(copy(host_ + 8, at(8), 8, Direction::device_to_host), Error::success);
  EXPECT_EQ(host_[8], 'x');
  EXPECT_EQ(copy(host_ + 16, memory_, 8, Direction::any), Error::success);
  EXPECT_EQ(host_[16], 'x');
  EXPECT_EQ(copy(host_ + 24, host_, 8, Direction::host_to_host), Error::success);
  EXPECT_EQ(host_[24], 'x');
}

TEST_F(MemoryOfDevice, IsNotCopiedTheWrongWay) {
  EXPECT_EQ(copy(host_, host_ + 8, 8, Direction::host_to_device), Error::invalid_value);
  EXPECT_EQ(copy(host_, host_ + 8, 8, Direction::device_to_host), Error::invalid_value);
  EXPECT_EQ(copy(memory_, memory_, 8, Direction::host_to_device), Error::invalid_value);
  EXPECT_EQ(copy(nullptr, host_, 8, Direction::any), Error::invalid_value);
  EXPECT_EQ(copy(memory_, host_, 8, static_cast<Direction>(7)), Error::invalid_memcpy_direction);
  EXPECT_EQ(rt::take_last_error(), Error::invalid_memcpy_direction);
}

TEST_F(MemoryOfDevice, IsNotCopiedBeyondItsEnd) {
  char large[128] = {};
  EXPECT_EQ(copy(at(32), large, 33, Direction::host_to_device), Error::invalid_value);
  EXPECT_EQ(copy(large, at(32), 33, Direction::any), Error::invalid_value);
  EXPECT_EQ(rt::set_memory(at(32), 0, 0, 33, 1, nullptr), Error::invalid_value);
  EXPECT_EQ(rt::set_memory(host_, 0, 0, 8, 1, nullptr), Error::invalid_value);
}

TEST_F(MemoryOfDevice, IsSetAndCopiedRowByRow) {
  EXPECT_EQ(rt::set_memory(memory_, 16, 'a', 3, 4, nullptr), Error::success);
  EXPECT_EQ(rt::copy({.to = host_,
                      .to_pitch = 4,
                      .from = memory_,
                      .from_pitch = 16,
                      .width = 4,
                      .height = 4,
                      .direction = Direction::device_to_host}),
            Error::success);
  EXPECT_EQ(std::string(host_, 16), std::string("aaa\0aaa\0aaa\0aaa\0", 16));
  EXPECT_EQ(
      rt::copy(
          {.to = host_, .to_pitch = 2, .from = memory_, .from_pitch = 16, .width = 4, .height = 2}),
      Error::invalid_value)
      << "a row is wider than its pitch";
}

TEST_F(MemoryOfDevice, IsFreedOnceAndByItsOwnKind) {
  EXPECT_EQ(rt::release(memory_, Use::host), Error::invalid_value);
  EXPECT_EQ(rt::release(at(8), Use::device), Error::invalid_value);
  EXPECT_EQ(rt::release(memory_, Use::device), Error::success);
  EXPECT_EQ(rt::release(memory_, Use::device), Error::invalid_value);
  EXPECT_EQ(rt::release(nullptr, Use::device), Error::success);
}

TEST(Memory, IsBounded) {
  void* memory = &memory;
  EXPECT_EQ(rt::allocate(&memory, std::size_t{1} << 40, Use::device), Error::memory_allocation);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(rt::allocate(&memory, 0, Use::device), Error::success);
  EXPECT_EQ(memory, nullptr);
  rt::take_last_error();
}

TEST(Memory, OfInputsIsNotWrittenByTheHostEither) {
  std::vector<float> matrix(16);
  const auto first = reinterpret_cast<std::uint64_t>(matrix.data());
  device_memory().lend({.name = "A",
                        .first = first,
                        .rows = 2,
                        .row_bytes = 24,
                        .pitch_bytes = 32,
                        .writable = false});
  const Observation read = observed([&] {
    float copied[14];
    EXPECT_EQ(rt::copy({.to = copied, .from = matrix.data(), .width = 56}), Error::success);
  });
  EXPECT_FALSE(read.finding);
  const Observation written = observed(
      [&] { EXPECT_NE(rt::set_memory(matrix.data(), 0, 0, 8, 1, nullptr), Error::success); });
  device_memory().forget(first);
  ASSERT_TRUE(written.finding);
  EXPECT_EQ(written.finding->fault, Fault::write_to_input);
  EXPECT_THAT(written.finding->text, HasSubstr("cudaMemset of the host code writes to A"));
}

TEST(Memory, TellsWhatAPointerPointsTo) {
  void *device = nullptr, *host = nullptr, *managed = nullptr;
  ASSERT_EQ(rt::allocate(&device, 8, Use::device), Error::success);
  ASSERT_EQ(rt::allocate(&host, 8, Use::host), Error::success);
  ASSERT_EQ(rt::allocate(&managed, 8, Use::managed), Error::success);
  EXPECT_EQ(rt::facts_of_pointer(static_cast<char*>(device) + 7).use, Use::device);
  EXPECT_EQ(rt::facts_of_pointer(host).use, Use::host);
  EXPECT_EQ(rt::facts_of_pointer(managed).use, Use::managed);
  EXPECT_FALSE(rt::facts_of_pointer(&device).known);
  EXPECT_EQ(
      rt::copy({.to = host, .from = device, .width = 8, .direction = Direction::device_to_host}),
      Error::success);
  EXPECT_EQ(rt::release(host, Use::device), Error::invalid_value);
  EXPECT_EQ(rt::release(host, Use::host), Error::success);
  EXPECT_EQ(rt::release(managed, Use::device), Error::success);
  EXPECT_EQ(rt::release(device, Use::device), Error::success);
  rt::take_last_error();
}

TEST(Memory, OfTheHostIsRegisteredOnce) {
  std::vector<char> mine(64);
  EXPECT_EQ(rt::register_host(mine.data(), 64), Error::success);
  EXPECT_EQ(rt::register_host(mine.data(), 64), Error::host_memory_already_registered);
  EXPECT_EQ(rt::facts_of_pointer(mine.data()).use, Use::host);
  EXPECT_EQ(rt::unregister_host(mine.data()), Error::success);
  EXPECT_EQ(rt::unregister_host(mine.data()), Error::host_memory_not_registered);
  rt::take_last_error();
}

TEST(Memory, IsNumberedWithinAnObservation) {
  for (int i = 0; i < 2; ++i) {
    observed([&] {
      void* memory = nullptr;
      rt::allocate(&memory, 128, Use::device);
      EXPECT_EQ(device_memory().find(reinterpret_cast<std::uint64_t>(memory))->name,
                "memory of 128 bytes (allocation 1)");
      rt::release(memory, Use::device);
    });
  }
}

TEST(Memory, IsGoneAfterAReset) {
  Library library;
  rt::init_module(library.binary());
  void* memory = nullptr;
  ASSERT_EQ(rt::allocate(&memory, 8, Use::device), Error::success);
  *static_cast<int*>(library.managed) = 5;
  EXPECT_EQ(rt::reset(), Error::success);
  EXPECT_EQ(rt::release(memory, Use::device), Error::invalid_value);
  EXPECT_EQ(*static_cast<int*>(library.managed), 3) << "variables hold their first values again";
  rt::take_last_error();
}

// `scale` takes memory of the heap, `bounded` does not.
constexpr const char* kernels_with_a_heap = R"(
.extern .func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0);
.visible .entry scale()
{
  .reg .b64 %rd<3>;
  { .param .b64 param0; .param .b64 retval0; mov.u64 %rd1, 16; st.param.b64 [param0], %rd1;
    call.uni (retval0), malloc, (param0); ld.param.b64 %rd2, [retval0]; }
  ret;
}
.visible .entry bounded() { ret; }
)";

TEST(Heap, IsAsLargeAsItWasWhenAKernelFirstUsedIt) {
  Library library({}, kernels_with_a_heap);
  constexpr int heap = 2, stack = 0;
  const auto launch = [&](const void* kernel, const std::string& program) {
    Request request;
    request.program = program;
    const Observation seen = observe(request, [&] {
      EXPECT_EQ(rt::launch(kernel, {{1, 1, 1}, {1, 1, 1}}, nullptr), Error::success);
    });
    EXPECT_FALSE(seen.finding) << seen.finding->text;
  };
  std::size_t size = 0;
  launch(&library.bounded, "one");
  EXPECT_EQ(rt::set_limit(heap, 1 << 20), Error::success) << "nobody has used it";
  launch(&library.scale, "one");
  EXPECT_EQ(rt::set_limit(heap, 1 << 21), Error::invalid_value);
  EXPECT_EQ(rt::get_limit(heap, size), Error::success);
  EXPECT_EQ(size, std::size_t{1} << 20) << "it stays as it was";
  EXPECT_EQ(rt::set_limit(heap, 1 << 20), Error::success) << "nothing is changed";
  EXPECT_EQ(rt::set_limit(stack, 2048), Error::success) << "that of something else";
  launch(&library.bounded, "one");
  EXPECT_EQ(rt::set_limit(heap, 1 << 21), Error::invalid_value) << "still";
  launch(&library.bounded, "another");
  EXPECT_EQ(rt::set_limit(heap, 1 << 21), Error::success) << "of a program of its own";
  launch(&library.scale, "another");
  EXPECT_EQ(rt::reset(), Error::success);
  EXPECT_EQ(rt::set_limit(heap, 8 << 20), Error::success) << "after a reset it is a new one";
  rt::set_limit(stack, 1024);
  rt::take_last_error();
}

TEST(Symbol, IsReadAndWrittenWithinItsBytes) {
  Library library;
  const float factors[] = {1, 2, 3, 4};
  const auto write = [&](std::size_t bytes, std::size_t offset) {
    return rt::copy_to_symbol(&library.factor, factors, bytes, offset, Direction::host_to_device,
                              nullptr);
  };
  EXPECT_EQ(write(16, 0), Error::success);
  EXPECT_EQ(write(4, 12), Error::success);
  EXPECT_EQ(write(4, 13), Error::invalid_value);
  EXPECT_EQ(write(4, 17), Error::invalid_value);
  float total = 0;
  EXPECT_EQ(rt::copy_from_symbol(&total, &library.total, 4, 0, Direction::device_to_host, nullptr),
            Error::success);
  EXPECT_EQ(total, 2.5f);
  void* address = nullptr;
  EXPECT_EQ(rt::symbol(&library.factor, &address, nullptr), Error::success);
  EXPECT_EQ(rt::copy({.to = address, .from = factors, .width = 16}), Error::success)
      << "by its address, too, the host writes a constant";
  EXPECT_EQ(rt::symbol(&total, &address, nullptr), Error::invalid_symbol);
  rt::take_last_error();
}

TEST(Handle, OfAStreamTellsHowItWasMade) {
  void* stream = nullptr;
  ASSERT_EQ(rt::create_stream(&stream, 1, -2), Error::success);
  rt::StreamFacts facts;
  EXPECT_EQ(rt::stream_facts(stream, facts), Error::success);
  EXPECT_EQ(facts.flags, 1u);
  EXPECT_EQ(facts.priority, -2);
  EXPECT_EQ(rt::destroy_stream(stream), Error::success);
  EXPECT_EQ(rt::destroy_stream(stream), Error::invalid_resource_handle);
  EXPECT_EQ(rt::check_stream(reinterpret_cast<void*>(2)), Error::success) << "the per-thread one";
  rt::take_last_error();
}

TEST(Handle, OfAnEventTellsTheTimeBetween) {
  void *from = nullptr, *to = nullptr, *untimed = nullptr;
  ASSERT_EQ(rt::create_event(&from, true), Error::success);
  ASSERT_EQ(rt::create_event(&to, true), Error::success);
  ASSERT_EQ(rt::create_event(&untimed, false), Error::success);
  float milliseconds = -1;
  EXPECT_EQ(rt::elapsed(milliseconds, from, to), Error::invalid_resource_handle) << "not recorded";
  EXPECT_EQ(rt::record_event(to, nullptr), Error::success);
  EXPECT_EQ(rt::elapsed(milliseconds, from, to), Error::invalid_resource_handle) << "only one is";
  for (void* event : {from, to, untimed})
    EXPECT_EQ(rt::record_event(event, nullptr), Error::success);
  EXPECT_EQ(rt::elapsed(milliseconds, from, untimed), Error::invalid_resource_handle);
  EXPECT_EQ(rt::wait_for_event(to), Error::success);
  EXPECT_EQ(rt::elapsed(milliseconds, from, to), Error::success);
  EXPECT_GE(milliseconds, 0);
  for (void* event : {from, to, untimed}) EXPECT_EQ(rt::destroy_event(event), Error::success);
  EXPECT_EQ(rt::record_event(from, nullptr), Error::invalid_resource_handle);
  rt::take_last_error();
}

TEST(Handle, OfAPoolIsKnown) {
  void* pool = nullptr;
  ASSERT_EQ(rt::create_pool(&pool), Error::success);
  EXPECT_EQ(rt::check_pool(pool), Error::success);
  EXPECT_EQ(rt::check_pool(rt::default_pool()), Error::success);
  EXPECT_EQ(rt::destroy_pool(pool), Error::success);
  EXPECT_EQ(rt::check_pool(pool), Error::invalid_value);
  rt::take_last_error();
}

TEST(Errors, HaveTheNamesThatNvidiaGaveThem) {
  EXPECT_STREQ(name_of(Error::illegal_address), "cudaErrorIllegalAddress");
  EXPECT_STREQ(text_of(Error::illegal_address), "an illegal memory access was encountered");
  EXPECT_STREQ(name_of(static_cast<Error>(12345)), "unrecognized error code");
}

}  // namespace
}  // namespace ptx::tests
