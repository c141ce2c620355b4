// Launches: what runs, what is refused as the hardware would, and what errors stay.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "base/errors.h"
#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
namespace rt = ptx::runtime;

Error scale(Library& library, const float* x, float* y, int n, void* stream = nullptr) {
  void* arguments[] = {&x, &y, &n};
  const rt::Configuration asked{.grid = {2}, .block = {32}, .stream = stream};
  return rt::launch(&library.scale, asked, arguments);
}

float* floats(std::size_t count) {
  void* memory = nullptr;
  EXPECT_EQ(rt::allocate(&memory, count * sizeof(float), rt::Use::device), Error::success);
  return static_cast<float*>(memory);
}

TEST(Launch, ComputesAndCounts) {
  Library library;
  const Observation seen = observed([&] {
    const float x[] = {1, 2, 3, 4}, two = 2;
    float y[4] = {};
    float* const in = floats(4);
    float* const out = floats(4);
    EXPECT_EQ(rt::copy({.to = in, .from = x, .width = sizeof x}), Error::success);
    EXPECT_EQ(rt::copy_to_symbol(&library.factor, &two, sizeof two, 0,
                                 rt::Direction::host_to_device, nullptr),
              Error::success);
    EXPECT_EQ(scale(library, in, out, 4), Error::success);
    EXPECT_EQ(rt::copy({.to = y, .from = out, .width = sizeof y}), Error::success);
    EXPECT_THAT(y, testing::ElementsAre(2, 4, 6, 8));
    EXPECT_EQ(rt::release(in, rt::Use::device), Error::success);
    EXPECT_EQ(rt::release(out, rt::Use::device), Error::success);
  });
  EXPECT_FALSE(seen.finding) << seen.finding->text;
  EXPECT_EQ(seen.kernels, 1);
  ASSERT_EQ(seen.counts.size(), 1u);
  EXPECT_EQ(seen.counts[0].kernel, "scale");
  EXPECT_EQ(seen.counts[0].total.global_stores.accesses, 4u);
}

struct Refused {
  const char* name;
  rt::Configuration asked;
  Error error;
  const char* why;
  bool of_bounded = false;
  friend void PrintTo(const Refused& each, std::ostream* out) { *out << each.name; }
};

class Refusal : public testing::TestWithParam<Refused> {};

TEST_P(Refusal, IsAnErrorAndAFinding) {
  Library library;
  const Refused& wanted = GetParam();
  const Observation seen = observed([&] {
    void* const stub = wanted.of_bounded ? &library.bounded : &library.faulty;
    EXPECT_EQ(rt::launch(stub, wanted.asked, nullptr), wanted.error);
    EXPECT_EQ(rt::peek_last_error(), wanted.error);
    EXPECT_EQ(rt::take_last_error(), wanted.error);
    EXPECT_EQ(rt::take_last_error(), Error::success) << "a refused launch is over and done with";
    EXPECT_EQ(rt::launch(stub, {}, nullptr), wanted.error) << "later launches do nothing";
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->fault, Fault::launch_refused);
  EXPECT_THAT(seen.finding->text, HasSubstr(wanted.why));
  EXPECT_EQ(seen.kernels, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, Refusal,
    testing::Values(
        Refused{"no_blocks", {.grid = {0}}, Error::invalid_value, "has no blocks"},
        Refused{"no_threads", {.block = {1, 0, 1}}, Error::invalid_value, "has no threads"},
        Refused{"large_block",
                {.block = {32, 33}},
                Error::invalid_value,
                "a block of 32x33x1 has 1056 threads, 1024 at most"},
        Refused{"deep_block", {.block = {1, 1, 65}}, Error::invalid_value, "z may be 64 at most"},
        Refused{"wide_grid",
                {.grid = {1, 65536}},
                Error::invalid_value,
                "y and z may be 65535 at most"},
        Refused{"launch_bounds",
                {.block = {65}},
                Error::invalid_value,
                "__launch_bounds__ allow 64",
                true},
        Refused{"shared",
                {.dynamic_shared = 49153},
                Error::invalid_value,
                "49153 bytes of dynamic shared memory beside 0 of static, 49152 allowed: "
                "cudaFuncSetAttribute allows up to 232448"},
        Refused{"shared_beside_static",
                {.dynamic_shared = 48129},
                Error::invalid_value,
                "beside 1024 of static, 48128 allowed",
                true},
        Refused{"cooperative",
                {.grid = {132 * 2 + 1}, .block = {1024}, .cooperative = true},
                Error::cooperative_launch_too_large,
                "and 264 fit on the device together"}),
    [](const auto& each) { return each.param.name; });

TEST(Launch, TakesMoreSharedMemoryOnceItIsAllowed) {
  Library library;
  const Observation seen = observed([&] {
    EXPECT_EQ(rt::allow_dynamic_shared(&library.bounded, 227 * 1024), Error::invalid_value)
        << "1024 bytes are static";
    EXPECT_EQ(rt::allow_dynamic_shared(&library.bounded, 226 * 1024), Error::success);
    EXPECT_EQ(rt::launch(&library.bounded, {.dynamic_shared = 226 * 1024}, nullptr),
              Error::success);
  });
  EXPECT_FALSE(seen.finding) << seen.finding->text;
}

TEST(Launch, OfAFaultyKernelEndsAllThatFollows) {
  Library library;
  const Observation seen = observed([&] {
    void* memory = nullptr;
    EXPECT_EQ(rt::allocate(&memory, 4, rt::Use::device), Error::success);
    EXPECT_EQ(rt::launch(&library.faulty, {}, nullptr), Error::illegal_address);
    EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), Error::illegal_address);
    EXPECT_EQ(rt::synchronize(), Error::illegal_address);
    EXPECT_EQ(rt::take_last_error(), Error::illegal_address);
    EXPECT_EQ(rt::take_last_error(), Error::illegal_address) << "it stays";
    void* more = nullptr;
    EXPECT_EQ(rt::allocate(&more, 4, rt::Use::device), Error::illegal_address);
    EXPECT_EQ(rt::release(memory, rt::Use::device), Error::illegal_address);
    EXPECT_EQ(device_memory().find(reinterpret_cast<std::uint64_t>(memory)), nullptr)
        << "but memory is given back";
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->fault, Fault::bad_address);
  EXPECT_EQ(seen.kernels, 1);
  const Observation next = observed([&] {
    EXPECT_EQ(rt::take_last_error(), Error::success);
    EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), Error::success);
  });
  EXPECT_FALSE(next.finding) << "the next observation begins anew";
}

TEST(Launch, ThatIsCooperativeRuns) {
  Library library;
  const Observation seen = observed([&] {
    EXPECT_EQ(rt::launch(&library.bounded, {.grid = {8}, .cooperative = true}, nullptr),
              Error::success);
  });
  EXPECT_FALSE(seen.finding) << seen.finding->text;
}

TEST(Launch, CanBeMadeToFail) {
  Library library;
  const Observation seen = observed(
      [&] { EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), Error::launch_failure); }, true);
  EXPECT_FALSE(seen.finding);
  EXPECT_EQ(seen.kernels, 0);
}

TEST(Launch, IsObservedOnThreadsOfTheHostCode) {
  Library library;
  const Observation seen =
      observed([&] { std::thread([&] { rt::launch(&library.bounded, {}, nullptr); }).join(); });
  EXPECT_EQ(seen.kernels, 1);
}

TEST(Launch, IsToldOfWhenHostCodeEndsTheProcess) {
  Library library;
  const auto host_code = [&] {
    if (rt::launch(&library.faulty, {}, nullptr) != Error::success) std::exit(3);
  };
  EXPECT_EXIT(observed(host_code), testing::ExitedWithCode(3), "ptx: bad address: ");
}

TEST(Launch, OfAnUnknownFunctionIsRefused) {
  const int nothing = 0;
  EXPECT_EQ(rt::launch(&nothing, {}, nullptr), Error::invalid_device_function);
  EXPECT_EQ(rt::take_last_error(), Error::invalid_device_function);
}

// `faulty`, with a loop that carries so many sums.
std::string with_sums(int sums, const std::string& bounds) {
  std::string text = kernels_text;
  text.resize(text.find(".visible .entry faulty"));
  text += fmt::format(".visible .entry faulty()\n{}{{\n  .reg .pred %p<2>; .reg .b32 %s<{}>;\n",
                      bounds, sums + 1);
  for (int i = 0; i < sums; ++i) text += fmt::format("  mov.b32 %s{}, 0f3F800000;\n", i);
  text += "$again:\n";
  for (int i = 0; i < sums; ++i)
    text += fmt::format("  fma.rn.f32 %s{0}, %s{0}, %s{0}, %s{0};\n", i);
  text += "  setp.lt.f32 %p1, %s0, 0f42C80000;\n  @%p1 bra $again;\n";
  for (int i = 1; i < sums; ++i) text += fmt::format("  add.f32 %s0, %s0, %s{};\n", i);
  return text + "  ret;\n}\n";
}

TEST(Launch, IsRefusedWhereLoopsCarryMoreThanTheRegisters) {
  const auto launched = [](int sums, int threads, const std::string& bounds) {
    Library library({}, with_sums(sums, bounds));
    Error error = Error::success;
    const Observation seen = observed([&] {
      error = rt::launch(&library.faulty, {.block = {static_cast<unsigned>(threads)}}, nullptr);
    });
    rt::take_last_error();
    EXPECT_EQ(seen.finding.has_value(), error != Error::success);
    if (seen.finding) {
      EXPECT_THAT(seen.finding->text, HasSubstr(fmt::format("a loop of it carries {} sums", sums)));
    }
    return error;
  };
  EXPECT_EQ(launched(59, 1024, ""), Error::success);
  EXPECT_EQ(launched(64, 1024, ""), Error::launch_out_of_resources);
  EXPECT_EQ(launched(64, 1024, ".maxntid 1024, 1, 1\n"), Error::success)
      << "some of them are spilled";
  EXPECT_EQ(launched(64, 1024, ".maxnreg 64\n"), Error::success);
  EXPECT_EQ(launched(64, 768, ""), Error::success);
  EXPECT_EQ(launched(128, 512, ""), Error::launch_out_of_resources);
  EXPECT_EQ(launched(128, 256, ""), Error::success);
}

TEST(Launch, WantsALiveStream) {
  Library library;
  void* stream = nullptr;
  ASSERT_EQ(rt::create_stream(&stream, 1, 0), Error::success);
  EXPECT_EQ(rt::launch(&library.bounded, {.stream = stream}, nullptr), Error::success);
  ASSERT_EQ(rt::destroy_stream(stream), Error::success);
  EXPECT_EQ(rt::launch(&library.bounded, {.stream = stream}, nullptr),
            Error::invalid_resource_handle);
  EXPECT_EQ(rt::take_last_error(), Error::invalid_resource_handle);
}

TEST(Launch, TakesTheLastConfigurationThatWasPushed) {
  EXPECT_EQ(rt::push_configuration({.dynamic_shared = 1}), Error::success);
  EXPECT_EQ(rt::push_configuration({.dynamic_shared = 2}), Error::success);
  rt::Configuration asked;
  EXPECT_EQ(rt::pop_configuration(asked), Error::success);
  EXPECT_EQ(asked.dynamic_shared, 2u);
  EXPECT_EQ(rt::pop_configuration(asked), Error::success);
  EXPECT_EQ(asked.dynamic_shared, 1u);
  EXPECT_EQ(rt::pop_configuration(asked), Error::missing_configuration);
  EXPECT_EQ(rt::take_last_error(), Error::missing_configuration);
}

TEST(Attributes, TellWhatPtxSettles) {
  Library library;
  rt::KernelAttributes known;
  ASSERT_EQ(rt::attributes_of(&library.bounded, known), Error::success);
  EXPECT_EQ(known.facts.static_shared, 1024u);
  EXPECT_EQ(known.facts.max_threads, 64u);
  EXPECT_EQ(known.max_dynamic_shared, 47u * 1024);
  EXPECT_EQ(known.ptx_version, 90);
  EXPECT_EQ(known.binary_version, 90);
  EXPECT_EQ(known.registers, 255);
  ParamPlace place;
  EXPECT_EQ(rt::parameter_of(&library.scale, 2, place), Error::success);
  EXPECT_EQ(place.at, 16u);
  EXPECT_EQ(place.bytes, 4u);
  EXPECT_EQ(rt::parameter_of(&library.scale, 3, place), Error::invalid_value);
  rt::take_last_error();
}

TEST(Occupancy, IsBoundByThreadsSharedMemoryAndBlocks) {
  Library library;
  const auto blocks = [&](int threads, std::size_t shared) {
    int found = -1;
    EXPECT_EQ(rt::occupancy(&library.faulty, threads, shared, found), Error::success);
    return found;
  };
  EXPECT_EQ(blocks(1024, 0), 2);
  EXPECT_EQ(blocks(33, 0), 32);
  EXPECT_EQ(blocks(256, 0), 8);
  EXPECT_EQ(blocks(256, 100 * 1024), 2);
  EXPECT_EQ(blocks(256, 57 * 1024), 3) << "1 KiB of each is reserved";
  EXPECT_EQ(blocks(256, 228 * 1024), 0);
  EXPECT_EQ(blocks(1025, 0), 0);
  std::size_t bytes = 0;
  EXPECT_EQ(rt::dynamic_shared_for(&library.faulty, 2, 256, bytes), Error::success);
  EXPECT_EQ(blocks(256, bytes), 2);
  EXPECT_EQ(blocks(256, bytes + 1024), 1);
}

TEST(Model, SettlesWhatIsRefused) {
  Library library({.target = "sm_80"});
  EXPECT_EQ(rt::model().name, "h200");
  rt::choose_model("rtx4090");
  EXPECT_EQ(rt::allow_dynamic_shared(&library.faulty, 100 * 1024), Error::invalid_value);
  EXPECT_EQ(rt::allow_dynamic_shared(&library.faulty, 99 * 1024), Error::success);
  int blocks = 0;
  EXPECT_EQ(rt::occupancy(&library.faulty, 1024, 0, blocks), Error::success);
  EXPECT_EQ(blocks, 1);
  rt::choose_model("h200");
  rt::take_last_error();
  try {
    rt::choose_model("h2000");
    FAIL();
  } catch (const assay::BadInput& error) {
    EXPECT_STREQ(error.what(),
                 "there is no device model \"h2000\": take one of h200, a100, rtx4090");
  }
}

}  // namespace
}  // namespace ptx::tests
