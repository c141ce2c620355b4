// The worked example comes out as its article has it.
#include "ptx/counts/tests/worked_example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "ptx/runtime/observe.h"

namespace ptx::tests {
namespace {

using worked_example::Kernel;
using worked_example::n;

LaunchCounts counted(Kernel kernel, Order order = Order::forward, std::uint64_t seed = 0) {
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[static_cast<std::size_t>(i)] = static_cast<float>(i % 7 - 3);
    b[static_cast<std::size_t>(i)] = static_cast<float>(i % 5 - 2);
  }
  const Observation seen = observe(
      {.settings = {.order = order, .seed = seed, .counts = true}},
      [&] { EXPECT_EQ(worked_example::multiply(kernel, a.data(), b.data(), c.data()), 0); });
  EXPECT_FALSE(seen.finding) << seen.finding->text;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < n; ++p)
        sum += a[static_cast<std::size_t>(i * n + p)] * b[static_cast<std::size_t>(p * n + j)];
      EXPECT_EQ(c[static_cast<std::size_t>(i * n + j)], sum);
    }
  }
  EXPECT_EQ(seen.counts.size(), 1u);
  return seen.counts.empty() ? LaunchCounts{} : seen.counts[0];
}

// How far the first threads are apart where the source has this comment, in floats.
std::vector<double> strides(const LaunchCounts& counts, const std::string& comment) {
  std::ifstream source(ASSAY_WORKED_EXAMPLE);
  std::vector<double> all;
  int number = 1;
  for (std::string text; std::getline(source, text); ++number) {
    if (!text.ends_with("// " + comment)) continue;
    for (const LineCounts& line : counts.lines) {
      if (line.line != number || !line.file.ends_with("worked_example.cu")) continue;
      for (const AccessCounts& access : line.accesses) {
        EXPECT_TRUE(access.stride.is_known);
        all.push_back(static_cast<double>(access.stride.bytes) / 4);
      }
    }
  }
  return all;
}

double intensity(const LaunchCounts& counts) {  // FLOP per byte loaded
  return 2 * static_cast<double>(counts.total.ffma()) /
         static_cast<double>(counts.total.global_loads.bytes_asked);
}

TEST(WorkedExample, OneThreadPerElement) {
  for (const Kernel kernel : {Kernel::x_walks_columns, Kernel::x_walks_rows}) {
    const LaunchCounts counts = counted(kernel);
    EXPECT_EQ(counts.blocks, 16u);
    EXPECT_EQ(counts.threads_per_block, 16u);
    EXPECT_EQ(counts.total.global_loads.accesses, 512u * 16) << "512 global loads per block";
    EXPECT_EQ(counts.total.global_loads.bytes_asked, 32768u);
    EXPECT_EQ(2 * counts.total.ffma(), 8192u) << "FLOPs";
    EXPECT_EQ(intensity(counts), 0.25);
    EXPECT_EQ(counts.total.barriers, 0u);
  }
}

TEST(WorkedExample, Tiled) {
  const LaunchCounts counts = counted(Kernel::tiled);
  EXPECT_EQ(counts.blocks, 16u);
  EXPECT_EQ(counts.total.global_loads.accesses, 128u * 16) << "128 global loads per block";
  EXPECT_EQ(counts.total.global_loads.bytes_asked, 8192u);
  EXPECT_EQ(2 * counts.total.ffma(), 8192u) << "FLOPs";
  EXPECT_EQ(intensity(counts), 1.0);
  EXPECT_EQ(counts.total.barriers, 16u * 8) << "two for each of four slices, one warp in a block";
}

TEST(WorkedExample, NeighboursWalkTheirRowsOrTheirColumns) {
  using testing::Each;
  using testing::SizeIs;
  const LaunchCounts columns = counted(Kernel::x_walks_columns),
                     rows = counted(Kernel::x_walks_rows);
  EXPECT_THAT(strides(columns, "reads A"), testing::AllOf(SizeIs(testing::Ge(1u)), Each(0)))
      << "broadcast";
  EXPECT_THAT(strides(columns, "reads B"), testing::AllOf(SizeIs(testing::Ge(1u)), Each(1)));
  EXPECT_THAT(strides(columns, "writes C"), testing::ElementsAre(1));
  EXPECT_THAT(strides(rows, "reads A"), testing::AllOf(SizeIs(testing::Ge(1u)), Each(16)));
  EXPECT_THAT(strides(rows, "reads B"), testing::AllOf(SizeIs(testing::Ge(1u)), Each(0)))
      << "broadcast";
  EXPECT_THAT(strides(rows, "writes C"), testing::ElementsAre(16));
}

TEST(WorkedExample, FollowsNoSchedule) {
  const LaunchCounts first = counted(Kernel::tiled);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const LaunchCounts again = counted(Kernel::tiled, Order::shuffled, seed);
    EXPECT_EQ(again.total.global_loads, first.total.global_loads);
    EXPECT_EQ(again.total.shared_loads, first.total.shared_loads);
    EXPECT_EQ(again.total.shared_stores, first.total.shared_stores);
    EXPECT_EQ(again.total.instructions.warps, first.total.instructions.warps);
    EXPECT_EQ(again.total.barriers, first.total.barriers);
  }
}

}  // namespace
}  // namespace ptx::tests
