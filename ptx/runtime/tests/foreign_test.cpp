// Programs as nvcc compiles them, linked with the substitute runtime and run on the machine.
#include "ptx/runtime/tests/foreign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <string>

#include "ptx/runtime/errors.h"
#include "ptx/runtime/observe.h"
#include "ptx/runtime/runtime.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int ok = 0;

// None of these programs touches memory of the device itself.
[[maybe_unused]] const bool is_hidden = (hide_device_memory(true), true);

// Runs what is right: it has no finding.
int right(const std::function<int()>& host_code) {
  int error = -1;
  const Observation seen = observe({}, [&] { error = host_code(); });
  EXPECT_FALSE(seen.finding) << seen.finding->text;
  return error;
}

Finding finding_of(const std::function<int()>& host_code, Error expected) {
  const Observation seen = observe({}, [&] { EXPECT_EQ(host_code(), static_cast<int>(expected)); });
  EXPECT_TRUE(seen.finding);
  return seen.finding.value_or(Finding{});
}

TEST(Foreign, ATemplateIsLaunched) {
  std::vector<float> x(100), y(100), wanted(100);
  std::iota(x.begin(), x.end(), 1.0f);
  std::ranges::transform(x, wanted.begin(), [](float each) { return 3 * each; });
  EXPECT_EQ(right([&] { return foreign::triple(x.data(), y.data(), 100); }), ok);
  EXPECT_EQ(y, wanted);
}

TEST(Foreign, DynamicSharedMemoryIsAskedFor) {
  for (const int n : {7, 20000}) {
    std::vector<float> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 0.0f);
    std::vector<float> wanted(x.rbegin(), x.rend());
    EXPECT_EQ(right([&] { return foreign::reverse(x.data(), n, true); }), ok);
    EXPECT_EQ(x, wanted);
  }
}

TEST(Foreign, CodeIsLoadedAndLaunchedByItsName) {
  int sum = 0;
  EXPECT_EQ(right([&] { return foreign::loaded("add", 7, &sum); }), ok);
  EXPECT_EQ(sum, 7);
  EXPECT_EQ(right([&] { return foreign::loaded("subtract", 7, &sum); }),
            static_cast<int>(Error::symbol_not_found));
  EXPECT_EQ(right([&] { return foreign::loaded_from("/no/such.ptx"); }),
            static_cast<int>(Error::file_not_found));
  const std::string file = testing::TempDir() + "loaded_from.ptx";
  std::ofstream(file) << ".version 9.0\n.target sm_90\n.address_size 64\n";
  EXPECT_EQ(right([&] { return foreign::loaded_from(file.c_str()); }), ok);
  EXPECT_EQ(right([&] { return foreign::launched_by_driver(8, 16, &sum); }), ok);
  EXPECT_EQ(sum, 8);
  EXPECT_EQ(right([&] { return foreign::launched_by_driver(9, 8, &sum); }),
            static_cast<int>(Error::invalid_value))
      << "the buffer ends before the second argument";
}

TEST(Foreign, TooMuchSharedMemoryIsRefused) {
  std::vector<float> x(60000);
  EXPECT_EQ(right([&] { return foreign::reverse(x.data(), 60000, true); }),
            static_cast<int>(Error::invalid_value))
      << "cudaFuncSetAttribute says so, and nothing is launched";
}

TEST(Foreign, TooManyRegistersAreRefused) {
  int registers = 0;
  EXPECT_EQ(right([&] { return foreign::many_registers(128, &registers); }), ok);
  EXPECT_GT(registers, 80);
  EXPECT_LT(registers, 256);
  const Finding found = finding_of([&] { return foreign::many_registers(1024, &registers); },
                                   Error::launch_out_of_resources);
  EXPECT_EQ(found.fault, Fault::launch_refused);
  EXPECT_THAT(found.text,
              HasSubstr("leaves 64 registers for each, and it takes " + std::to_string(registers)));
}

TEST(Foreign, ConstantsAreSetByTheHost) {
  const float weights[] = {2, 10}, x[] = {1, 2, 3, 4};
  float y[3] = {};
  EXPECT_EQ(right([&] { return foreign::smooth(weights, x, y, 3); }), ok);
  EXPECT_THAT(y, ElementsAre(22, 34, 46));
}

TEST(Foreign, AWorkspaceIsShared) {
  std::vector<float> x(1000, 0.5f);
  float result = 0;
  EXPECT_EQ(right([&] { return foreign::sum(x.data(), 1000, &result); }), ok);
  EXPECT_EQ(result, 500);
}

TEST(Foreign, VariablesOfTheDeviceAreRead) {
  int managed = 0, device = 0;
  EXPECT_EQ(right([&] { return foreign::count(40, &managed, &device); }), ok);
  EXPECT_EQ(managed, 50);
  EXPECT_EQ(device, 60);
}

TEST(Foreign, OccupancyIsThatOfTheDevice) {
  int blocks = 0, best = 0;
  EXPECT_EQ(right([&] { return foreign::occupancy(256, 100 * 1024, &blocks, &best); }), ok);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(best, 1024);
}

TEST(Foreign, EventsTellTheTime) {
  float milliseconds = -1;
  EXPECT_EQ(right([&] { return foreign::timed(&milliseconds); }), ok);
  EXPECT_GT(milliseconds, 0);
}

TEST(Foreign, TheDeviceIsAnH200) {
  char name[256];
  int multiprocessors = 0, capability = 0;
  EXPECT_EQ(right([&] { return foreign::describe(name, &multiprocessors, &capability); }), ok);
  EXPECT_STREQ(name, "NVIDIA H200");
  EXPECT_EQ(multiprocessors, 132);
  EXPECT_EQ(capability, 90);
}

TEST(Foreign, APartOfADeviceHasItsShareOfTheCache) {
  const auto cache = [](int multiprocessors) {
    runtime::choose_multiprocessors(multiprocessors);
    int bytes = 0;
    EXPECT_EQ(right([&] { return foreign::cache(&bytes); }), ok);
    runtime::choose_multiprocessors(0);
    return bytes;
  };
  constexpr int mib = 1 << 20;
  EXPECT_EQ(cache(0), 60 * mib);
  EXPECT_EQ(cache(66), 30 * mib);
  EXPECT_EQ(cache(148), 60 * mib) << "a larger one is taken to have no more";
}

TEST(Foreign, AnOverrunIsFound) {
  float x[4] = {};
  const Finding found = finding_of([&] { return foreign::overrun(x, 4); }, Error::illegal_address);
  EXPECT_EQ(found.fault, Fault::bad_address);
  EXPECT_TRUE(found.is_write);
  EXPECT_THAT(found.text, HasSubstr("foreign.cu"));
}

TEST(Foreign, ALargeBlockIsRefused) {
  const Finding found = finding_of(foreign::large_block, Error::invalid_value);
  EXPECT_EQ(found.fault, Fault::launch_refused);
  EXPECT_THAT(found.text, AllOf(HasSubstr("add_one"), HasSubstr("2048 threads")));
}

TEST(Foreign, VolumesAreCopiedAndSetInSlices) {
  constexpr int slices = 3, rows = 5, columns = 7;
  std::vector<float> x(slices * rows * columns), y(x.size(), -1.0f), wanted(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto row = i / columns % rows, column = i % columns;
    x[i] = static_cast<float>(i + 1);
    if (row % (rows - 1) != 0 && column % (columns - 1) != 0) wanted[i] = x[i];
  }
  EXPECT_EQ(
      right([&] { return foreign::through_volumes(x.data(), y.data(), slices, rows, columns); }),
      ok);
  EXPECT_EQ(y, wanted);
}

TEST(Foreign, AGraphIsLaunched) {
  float sum = 0;
  EXPECT_EQ(right([&] { return foreign::captured(3, &sum); }), ok);
  EXPECT_EQ(sum, 4.5f);
}

TEST(Foreign, ClustersAreLaunchedAndCounted) {
  int sum = 0, fit = 0, most = 0;
  EXPECT_EQ(right([&] { return foreign::clusters(4, &sum, &fit, &most); }), ok);
  EXPECT_EQ(sum, 4 * 3 * (0 + 1 + 2 + 3));
  EXPECT_EQ(fit, 32 * 30) << "of 132 multiprocessors those that lie together";
  EXPECT_EQ(most, 16);
  const Finding found = finding_of(
      [] {
        int n;
        return foreign::clusters(3, &n, &n, &n);
      },
      Error::invalid_cluster_size);
  EXPECT_THAT(found.text, AllOf(HasSubstr("add_ranks"), HasSubstr("no multiple of its clusters")));
}

// What an H100 answers.
TEST(Foreign, keeps_as_much_in_cache_as_hardware_allows) {
  constexpr std::size_t most = 128 << 20;
  constexpr int refused = 1;  // cudaErrorInvalidValue
  EXPECT_EQ(right([] { return foreign::keep_in_cache(most, 1); }), ok);
  EXPECT_EQ(foreign::keep_in_cache(most + 1, 1), refused);
  EXPECT_EQ(foreign::keep_in_cache(4096, 1.5f), refused);
}

TEST(Foreign, AGraphIsBuiltByHand) {
  float sum = 0;
  EXPECT_EQ(right([&] { return foreign::built_by_hand(4, true, &sum); }), ok);
  EXPECT_EQ(sum, 5.5f);
  const Finding found =
      finding_of([&] { return foreign::built_by_hand(4, false, &sum); }, Error::launch_failure);
  EXPECT_EQ(found.fault, Fault::unordered_work);
}

TEST(Foreign, LayersAreWrittenBySurfaces) {
  constexpr int n = 8;
  std::vector<float> x(2 * n * n), y(x.size()), copied(x.size());
  std::iota(x.begin(), x.end(), 1.0f);
  EXPECT_EQ(right([&] { return foreign::through_layers(x.data(), y.data(), copied.data(), n); }),
            ok);
  EXPECT_EQ(copied, x);
  for (int layer = 0; layer < 2; ++layer)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const auto at = [&](int r, int c) {
          return static_cast<std::size_t>((layer * n + r) * n + c);
        };
        EXPECT_EQ(y[at(i, j)], x[at(j, i)]);
      }
}

TEST(Foreign, AGraphHoldsOthers) {
  float sum = 0;
  EXPECT_EQ(right([&] { return foreign::built_of_graphs(4, &sum); }), ok);
  EXPECT_EQ(sum, 5.5f);
}

TEST(Foreign, WhatThereIsNotIsRefusedByName) {
  EXPECT_THAT(finding_of(foreign::share_memory, Error::not_supported).text,
              HasSubstr("cudaIpcGetMemHandle"));
}

TEST(Foreign, ObjectsThatCannotRunSayWhatToDo) {
  const auto why = [](int (*function)(), Error error) {
    const Finding found = finding_of(function, error);
    EXPECT_EQ(found.fault, Fault::unsupported);
    EXPECT_THAT(found.text, HasSubstr("kernel `nothing()` of "));
    return found.text;
  };
  const Error no_image = Error::no_kernel_image_for_device;
  EXPECT_THAT(why(machine_code_only, no_image),
              AllOf(HasSubstr("machine_code_only"), HasSubstr("arch=compute_90,code=compute_90")));
  EXPECT_THAT(why(compressed, no_image), HasSubstr("--no-compress"));
  EXPECT_THAT(why(for_a_newer_device, no_image), HasSubstr("its PTX is for sm_100"));
}

}  // namespace
}  // namespace ptx::tests
