// Clusters of a launch: which ones run, and which ones are refused, as an H100 answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using testing::HasSubstr;
namespace rt = ptx::runtime;

struct Refused {
  const char* name;
  Dim grid, cluster;
  const char* why;
  bool of_pairs = false, allows_large = false;
  friend void PrintTo(const Refused& each, std::ostream* out) { *out << each.name; }
};
class ClusterRefusal : public testing::TestWithParam<Refused> {};

TEST_P(ClusterRefusal, IsAnErrorAndAFinding) {
  Library library;
  const Refused& wanted = GetParam();
  const Observation seen = observed([&] {
    void* const stub = wanted.of_pairs ? &library.pairs : &library.bounded;
    EXPECT_EQ(rt::allow_large_clusters(stub, wanted.allows_large), Error::success);
    const rt::Configuration asked{.grid = wanted.grid, .cluster = wanted.cluster};
    EXPECT_EQ(rt::launch(stub, asked, nullptr), Error::invalid_cluster_size);
    int clusters = -1;
    EXPECT_EQ(rt::clusters_that_fit(stub, asked, clusters), Error::invalid_cluster_size);
    EXPECT_EQ(clusters, -1);
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->fault, Fault::launch_refused);
  EXPECT_THAT(seen.finding->text, HasSubstr(wanted.why));
  EXPECT_EQ(seen.kernels, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, ClusterRefusal,
    testing::Values(
        Refused{
            "half_a_cluster", {3}, {2}, "a grid of 3x1x1 is no multiple of its clusters of 2x1x1"},
        Refused{
            "other_way", {4}, {1, 2}, "a grid of 4x1x1 is no multiple of its clusters of 1x2x1"},
        Refused{"compiled", {3}, {0, 0, 0}, "no multiple of its clusters of 2x1x1", true},
        Refused{
            "not_as_compiled", {4}, {4}, "clusters of 4x1x1, and the kernel requires 2x1x1", true},
        Refused{
            "one_though_compiled", {4}, {1}, "clusters of 1x1x1, and the kernel requires", true},
        Refused{"empty", {4}, {2, 0, 1}, "a cluster of 2x0x1 has no blocks"},
        Refused{
            "large", {16}, {16}, "clusters of 16 blocks, 8 at most: cudaFuncAttributeNonPortable"},
        Refused{"too_large", {32}, {32}, "clusters of 32 blocks, 16 at most", false, true}),
    [](const auto& each) { return each.param.name; });

TEST(Clusters, run_as_compiled_and_as_asked) {
  Library library;
  const Observation seen = observed([&] {
    EXPECT_EQ(rt::launch(&library.pairs, {.grid = {4}}, nullptr), Error::success);
    EXPECT_EQ(rt::launch(&library.pairs, {.grid = {4}, .cluster = {2}}, nullptr), Error::success);
    EXPECT_EQ(rt::launch(&library.bounded, {.grid = {6, 2}, .cluster = {3, 2}}, nullptr),
              Error::success);
    EXPECT_EQ(rt::allow_large_clusters(&library.bounded, true), Error::success);
    EXPECT_EQ(rt::launch(&library.bounded, {.grid = {16}, .cluster = {16}}, nullptr),
              Error::success);
  });
  EXPECT_FALSE(seen.finding) << seen.finding->text;
  EXPECT_EQ(seen.kernels, 4);
}

TEST(Clusters, run_as_the_host_requires_once_it_has_said_it_all) {
  Library library;
  const Observation seen = observed([&] {
    for (const int dimension : {0, 1, 2})
      EXPECT_EQ(rt::require_cluster(&library.bounded, dimension, dimension == 0 ? 2 : 1),
                Error::success);
    EXPECT_EQ(rt::launch(&library.bounded, {.grid = {4}}, nullptr), Error::success);
    EXPECT_EQ(rt::require_cluster(&library.pairs, 0, 4), Error::not_permitted);
    rt::KernelAttributes known;
    EXPECT_EQ(rt::attributes_of(&library.bounded, known), Error::success);
    EXPECT_EQ(known.cluster.x, 2u);
    EXPECT_EQ(rt::attributes_of(&library.pairs, known), Error::success);
    EXPECT_EQ(known.cluster.count(), 2u);
  });
  EXPECT_FALSE(seen.finding) << seen.finding->text;
  const Observation half = observed([&] {
    Library other;
    EXPECT_EQ(rt::require_cluster(&other.bounded, 0, 2), Error::success);
    EXPECT_EQ(rt::launch(&other.bounded, {.grid = {4}}, nullptr), Error::invalid_cluster_size);
  });
  EXPECT_THAT(half.finding->text, HasSubstr("a dimension is not set: it is 2x0x0"));
}

// One block for each multiprocessor; as an H100 answers, see docs/measured/h100-clusters.txt.
TEST(Clusters, have_as_much_room_as_multiprocessors_lie_together) {
  Library library;
  rt::allow_large_clusters(&library.bounded, true);
  rt::allow_dynamic_shared(&library.bounded, 200 * 1024);
  const auto asked = [](unsigned size, unsigned clusters) {
    return rt::Configuration{.grid = {size * clusters},
                             .block = {64},
                             .dynamic_shared = 200 * 1024,
                             .cooperative = true,
                             .cluster = {size}};
  };
  for (const auto& [size, most] :
       std::map<unsigned, unsigned>{{2, 66}, {4, 30}, {8, 15}, {16, 7}}) {
    int clusters = -1;
    EXPECT_EQ(rt::clusters_that_fit(&library.bounded, asked(size, 1), clusters), Error::success);
    EXPECT_EQ(clusters, static_cast<int>(most)) << size;
    const auto error_of = [&, size = size](unsigned clusters) {
      Error error = Error::success;
      observe({}, [&] { error = rt::launch(&library.bounded, asked(size, clusters), nullptr); });
      return error;
    };
    EXPECT_EQ(error_of(most), Error::success) << size;
    EXPECT_EQ(error_of(most + 1), Error::cooperative_launch_too_large) << size;
  }
  rt::take_last_error();
}

TEST(Clusters, are_counted_and_measured) {
  Library library;
  int clusters = -1, blocks = -1;
  const rt::Configuration threes{.grid = {3}, .block = {64}, .cluster = {3}};
  EXPECT_EQ(rt::clusters_that_fit(&library.bounded, threes, clusters), Error::success);
  EXPECT_EQ(clusters, 32 * (5 * 6 + 2 * 5 + 3)) << "of five times 18, twice 16, and 10";
  EXPECT_EQ(rt::clusters_that_fit(&library.bounded, {.grid = {3}}, clusters), Error::success);
  EXPECT_EQ(clusters, 0) << "it has none";
  EXPECT_EQ(rt::largest_cluster(&library.bounded, threes, blocks), Error::success);
  EXPECT_EQ(blocks, 8);
  EXPECT_EQ(rt::allow_large_clusters(&library.bounded, true), Error::success);
  EXPECT_EQ(rt::largest_cluster(&library.bounded, threes, blocks), Error::success);
  EXPECT_EQ(blocks, 16);
}

TEST(Clusters, are_on_devices_that_have_them) {
  rt::choose_model("a100");
  Library library({.target = "sm_80"});
  const Observation seen = observed([&] {
    EXPECT_EQ(rt::launch(&library.bounded, {.grid = {4}, .cluster = {2}}, nullptr),
              Error::invalid_cluster_size);
  });
  rt::choose_model("h200");
  ASSERT_TRUE(seen.finding);
  EXPECT_THAT(seen.finding->text, HasSubstr("this device has none (compute capability 8.0)"));
}

}  // namespace
}  // namespace ptx::tests
