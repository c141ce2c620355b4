#include "ptx/machine/between/grid_order.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/sample.h"
#include "base/scramble.h"
#include "ptx/decode/code.h"

namespace ptx {

using std::uint64_t;

namespace {

// A thread of long code computes many elements: few of these are as much work as many others.
bool is_large(const Launch& launch, const Settings& settings) {
  constexpr uint64_t usual_operations = 512;
  const uint64_t threads = launch.grid.count() * launch.block.count();
  const uint64_t usual_threads = threads / usual_operations * launch.kernel->code.size();
  return std::max(threads, usual_threads) > settings.threads_run_whole;
}

// Shuffled order mixes this many blocks at a time: a block that waits for its neighbour does not
// wait long.
constexpr uint64_t most_shuffled = 256;

// Of some cards, of which every n-th one is dealt.
uint64_t dealt(uint64_t turn, uint64_t cards, uint64_t seed) {
  if (cards < 2) return 0;
  uint64_t step = assay::scramble(seed + 1) % cards | 1;
  while (std::gcd(step, cards) != 1) ++step;
  return (assay::scramble(seed) % cards + turn * (step % cards)) % cards;
}

}  // namespace

bool has_whole_clusters(const Launch& launch) {
  const auto &grid = launch.grid, &cluster = launch.cluster;
  return cluster.count() != 0 && grid.x % cluster.x == 0 && grid.y % cluster.y == 0 &&
         grid.z % cluster.z == 0;
}

Dim place_in_grid(const Launch& launch, uint64_t cluster, uint64_t rank) {
  const auto place = [](uint64_t number, uint64_t x, uint64_t y) {
    return Dim{static_cast<unsigned>(number % x), static_cast<unsigned>(number / x % y),
               static_cast<unsigned>(number / x / y)};
  };
  const Dim& size = launch.cluster;
  const Dim first = place(cluster, launch.grid.x / size.x, launch.grid.y / size.y);
  const Dim within = place(rank, size.x, size.y);
  return {first.x * size.x + within.x, first.y * size.y + within.y, first.z * size.z + within.z};
}

GridOrder::GridOrder(const Launch& launch, const Settings& settings)
    : grid_(launch.grid.count() / launch.cluster.count()),
      seed_(settings.seed),
      order_(settings.order) {
  const uint64_t most =
      (settings.most_blocks + launch.cluster.count() - 1) / launch.cluster.count();
  if (most != 0 && most < grid_ && !launch.cooperative && is_large(launch, settings))
    leave_out(most, launch);
}

void GridOrder::leave_out(uint64_t most, const Launch& launch) {
  const uint64_t blocks = launch.cluster.count(), threads = launch.block.count() * blocks;
  chosen_ = assay::sample_of(grid_, most, {blocks, threads}, seed_);
  if (order_ == Order::reverse) std::reverse(chosen_.begin(), chosen_.end());
}

bool GridOrder::go_on() {
  if (chosen_.empty() || chosen_.size() == grid_) return false;
  const std::set<uint64_t> started(chosen_.begin(), chosen_.end());
  for (uint64_t i = 0; i < grid_; ++i)
    if (!started.contains(i)) chosen_.push_back(i);
  return true;
}

uint64_t GridOrder::number(uint64_t started) const {
  if (!chosen_.empty()) return chosen_[started];
  if (order_ == Order::reverse) return grid_ - 1 - started;
  if (order_ == Order::forward) return started;
  const uint64_t first = started / most_shuffled * most_shuffled;
  return first + dealt(started - first, std::min(most_shuffled, grid_ - first), seed_ + first);
}

}  // namespace ptx
