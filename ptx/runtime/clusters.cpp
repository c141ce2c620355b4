#include "ptx/runtime/clusters.h"

#include <algorithm>
#include <vector>

#include "ptx/runtime/launch/limits.h"

namespace ptx::runtime {

namespace {

// Blocks that all devices allow, and that those allow which were asked to.
constexpr std::uint64_t portable = 8, most = 16;

bool is_said(const Dim& cluster) { return cluster.x != 0 || cluster.y != 0 || cluster.z != 0; }
bool is_same(const Dim& a, const Dim& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

std::string text(const Dim& d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

Dim required_of(const Kernel& kernel, const KernelFacts& facts) {
  return is_said(facts.cluster) ? facts.cluster : kernel.cluster;
}
std::uint64_t most_of(const Kernel& kernel, const KernelFacts& facts) {
  const std::uint64_t allowed = kernel.allows_large_clusters ? most : portable;
  return facts.max_cluster == 0 ? allowed : std::min<std::uint64_t>(allowed, facts.max_cluster);
}

// Of those that are said, whether they fit together; whatever the grid and the size.
std::string why_wrong_dimensions(const Kernel& kernel, const KernelFacts& facts, const Dim& asked) {
  const Dim required = required_of(kernel, facts);
  if (is_said(asked) && asked.count() == 0) return "a cluster of " + text(asked) + " has no blocks";
  if (is_said(required) && required.count() == 0)
    return "of the cluster that cudaFuncSetAttribute requires, a dimension is not set: it is " +
           text(required);
  if (is_said(required) && is_said(asked) && !is_same(required, asked))
    return "clusters of " + text(asked) + ", and the kernel requires " + text(required);
  return {};
}

// The blocks of a cluster are on multiprocessors that lie together. How many do differs from card
// to card; one H100 has room for as many clusters as if it had these
// (docs/measured/h100-clusters.txt).
std::vector<std::uint64_t> multiprocessors_together() {
  constexpr std::uint64_t most_together = 18;
  const auto all = static_cast<std::uint64_t>(multiprocessors());
  if (all == 132) return {18, 18, 18, 18, 18, 16, 16, 10};
  std::vector<std::uint64_t> groups(all / most_together, most_together);
  groups.push_back(all % most_together);
  return groups;
}

Failure wrong_size() { return Failure{Error::invalid_cluster_size}; }

}  // namespace

std::uint64_t blocks_on_device(const Kernel& kernel, const KernelFacts& facts,
                               const Configuration& asked) {
  const auto on_each =
      static_cast<std::uint64_t>(blocks_that_fit(facts, asked.block.count(), asked.dynamic_shared));
  const std::uint64_t size = std::max<std::uint64_t>(1, cluster_of(kernel, facts, asked).count());
  std::uint64_t places = 0;
  for (const std::uint64_t together : multiprocessors_together()) places += together / size * size;
  return on_each * places;
}

Dim cluster_of(const Kernel& kernel, const KernelFacts& facts, const Configuration& asked) {
  if (is_said(asked.cluster)) return asked.cluster;
  const Dim required = required_of(kernel, facts);
  return is_said(required) ? required : Dim{};
}

std::string why_no_such_cluster(const Kernel& kernel, const KernelFacts& facts,
                                const Configuration& asked) {
  std::string why = why_wrong_dimensions(kernel, facts, asked.cluster);
  const Dim cluster = cluster_of(kernel, facts, asked);
  if (!why.empty() || cluster.count() == 1) return why;
  const Dim& grid = asked.grid;
  if (model().major < 9)
    return "clusters of " + text(cluster) + " blocks: this device has none (compute capability " +
           std::to_string(model().major) + "." + std::to_string(model().minor) + ")";
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    return "a grid of " + text(grid) + " is no multiple of its clusters of " + text(cluster);
  const std::uint64_t allowed = most_of(kernel, facts);
  if (cluster.count() <= allowed) return {};
  return "clusters of " + std::to_string(cluster.count()) + " blocks, " + std::to_string(allowed) +
         " at most" +
         (allowed == portable ? ": cudaFuncAttributeNonPortableClusterSizeAllowed allows up to 16"
                              : "");
}

Error require_cluster(const void* stub, int dimension, int blocks) {
  return call([&] {
    Kernel& kernel = kernel_of(stub);
    if (blocks < 0) throw Failure{Error::invalid_value};
    unsigned* const all[] = {&kernel.cluster.x, &kernel.cluster.y, &kernel.cluster.z};
    const Dim& compiled = facts_of(code_of(kernel)).cluster;
    const unsigned fixed[] = {compiled.x, compiled.y, compiled.z};
    if (is_said(compiled) && fixed[dimension] != static_cast<unsigned>(blocks))
      throw Failure{Error::not_permitted};
    *all[dimension] = static_cast<unsigned>(blocks);
  });
}

Error allow_large_clusters(const void* stub, bool allowed) {
  return call([&] { kernel_of(stub).allows_large_clusters = allowed; });
}

Error clusters_that_fit(const void* stub, const Configuration& asked, int& clusters) {
  return call([&] {
    const Kernel& kernel = kernel_of(stub);
    const KernelFacts& facts = facts_of(code_of(kernel));
    const Dim cluster = cluster_of(kernel, facts, asked);
    if (!why_no_such_cluster(kernel, facts, asked).empty()) throw wrong_size();
    const std::uint64_t blocks = blocks_on_device(kernel, facts, asked);
    clusters = cluster.count() == 1 ? 0 : static_cast<int>(blocks / cluster.count());
  });
}

Error largest_cluster(const void* stub, const Configuration& asked, int& blocks) {
  return call([&] {
    const Kernel& kernel = kernel_of(stub);
    const KernelFacts& facts = facts_of(code_of(kernel));
    if (!why_wrong_dimensions(kernel, facts, asked.cluster).empty()) throw wrong_size();
    const Dim required = required_of(kernel, facts);
    const bool fits = blocks_that_fit(facts, asked.block.count(), asked.dynamic_shared) > 0;
    blocks = model().major < 9 || !fits ? 0
             : is_said(required)        ? static_cast<int>(required.count())
                                        : static_cast<int>(most_of(kernel, facts));
  });
}

}  // namespace ptx::runtime
