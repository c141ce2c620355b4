#include "properties/aims/launch_probes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "properties/aims/launch_draws.h"
#include "properties/fitting.h"

namespace assay {
namespace {

constexpr std::array sizes = {&Case::m, &Case::n, &Case::k};

// Another kernel, or clearly more or fewer blocks.
bool are_unlike(const Dry& one, const Dry& other) {
  return one.kernels != other.kernels || 2 * one.blocks >= 3 * other.blocks + 2 ||
         2 * other.blocks >= 3 * one.blocks + 2;
}

// By its arguments as well, unless these are others each time, where memory is.
bool differs_where_captured(DryPaths& dry, DryLaunch d) {
  const Dry before = dry.launch(d);
  d.captured = true;
  const Dry captured = dry.launch(d);
  d.captured = false;
  const Dry after = dry.launch(d);
  const bool is_steady = before.launched == after.launched;
  return before.accepted &&
         (is_steady ? captured.launched != after.launched : captured.blocks_of != after.blocks_of);
}

}  // namespace

std::vector<Case> long_lines(DryPaths& dry, const Needs& needs) {
  constexpr std::int64_t very_long = 131'076, side = 517;
  std::vector<Case> cases;
  const auto kernels_for = [&](const Case& c) { return dry.launch({fitted(c, needs)}).kernels; };
  for (const std::int64_t k : {64, 257}) {
    const std::uint64_t usual = kernels_for({.m = side, .n = side + 6, .k = k});
    for (const std::int64_t few : {1, 2, 4})
      for (const Case& c : {Case{.m = few, .n = very_long, .k = k}, {very_long, few, k}})
        if (kernels_for(c) != usual) cases.push_back(fitted(c, needs));
  }
  return cases;
}

std::vector<Case> edges_of_parts(DryPaths& dry, const Variant& variant) {
  constexpr std::int64_t longest = 8192;
  constexpr std::size_t most = 40;
  const auto single = [&](std::int64_t k) {
    return fitted({.m = 1, .n = 1, .k = k}, variant.needs);
  };
  std::map<std::uint64_t, std::int64_t> least_k;  // for as many blocks
  for (std::int64_t k = 1; k <= longest && least_k.size() < most; ++k)
    least_k.try_emplace(dry.launch({single(k)}).blocks, k);
  std::vector<Case> cases;
  if (least_k.size() < 2 || least_k.size() == most) return cases;  // a block for each slice, say
  const std::int64_t slice = std::max(1, variant.tile.k);
  for (const auto& [blocks, k] : least_k)
    for (const std::int64_t other :
         {k, k + 1, round_up(k, static_cast<std::int64_t>(blocks) * slice) + 1})
      cases.push_back(single(other));
  return cases;
}

std::vector<Case> tuned_sizes(DryPaths& dry, const std::vector<Case>& named,
                              const Variant& variant) {
  constexpr std::int64_t largest = 1 << 17;
  const auto& [of_m, of_n, of_k] = variant.tile;
  std::set<std::array<std::int64_t, 3>> units = {{of_m, of_n, std::max(1, of_k)}};
  for (std::int64_t unit = 1; unit <= 256; unit *= 2) units.insert({unit, unit, unit});
  std::vector<Case> cases;
  for (const Case& each : named)
    for (const auto& unit : units) {
      Case c = each;
      for (std::size_t i = 0; i < sizes.size(); ++i) c.*sizes[i] *= unit[i];
      if (std::max({c.m, c.n, c.k}) > largest || !(fitted(c, variant.needs) == c)) continue;
      const Dry tuned = dry.launch({c});
      const bool differs = std::any_of(sizes.begin(), sizes.end(), [&](const auto size) {
        Case beside = c;
        beside.*size -= 1;
        return are_unlike(tuned, dry.launch({fitted(beside, variant.needs)}));
      });
      if (differs) cases.push_back(c);
    }
  return cases;
}

std::vector<Case> launched_otherwise_where_captured(DryPaths& dry, const Entry& entry) {
  constexpr std::int64_t most_elements = 1 << 16;  // of C, which takes long to judge
  if (entry.watched_launch != nullptr || entry.backend != Backend::ptx) return {};
  LaunchDraws draws(entry.variant.needs);
  std::map<std::pair<std::size_t, int>, Case> cheapest;  // by a size and its magnitude
  // Problems of many products where none of few shows it.
  for (const auto& [products, times] : {std::pair{2e5, 1500}, {4e7, 500}}) {
    draws.limit_products(products);
    for (int i = 0; i < times; ++i) {
      const DryLaunch d = draws.draw();
      const Case& c = d.c;
      const bool is_small = c.m * c.n > 0 && c.m * c.n <= most_elements && !d.refused;
      if (!is_small || !differs_where_captured(dry, d)) continue;
      for (std::size_t size = 0; size < sizes.size(); ++size) {
        const int magnitude = std::bit_width(static_cast<std::uint64_t>(c.*sizes[size]));
        const auto [at, is_new] = cheapest.try_emplace({size, magnitude}, c);
        if (!is_new && c.multiply_adds() < at->second.multiply_adds()) at->second = c;
      }
    }
    if (!cheapest.empty()) break;
  }
  std::vector<Case> cases;
  for (const auto& [which, c] : cheapest)
    if (std::find(cases.begin(), cases.end(), c) == cases.end()) cases.push_back(c);
  std::stable_sort(cases.begin(), cases.end(), [](const Case& x, const Case& y) {
    return x.multiply_adds() < y.multiply_adds();
  });
  return cases;
}

}  // namespace assay
