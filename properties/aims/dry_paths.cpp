#include "properties/aims/dry_paths.h"

#include <algorithm>

#include "base/scramble.h"

namespace assay {
namespace {

constexpr std::int64_t largest_unit = 256;

}  // namespace

DryPaths::DryPaths(const Entry& entry, const simt::Hints& hints)
    : needs_(entry.variant.needs),
      tile_(entry.variant.tile),
      dry_(entry, hints),
      other_{fitted({.m = 3, .n = 5, .k = 2, .alpha = 1.5f, .beta = 0.5f}, needs_)} {}

Dry DryPaths::launch(const DryLaunch& d) {
  const Dry dry = dry_.launch(d);
  spent += dry.cost;
  before_[count_++ % most_before] = d;
  if (dry.took_new_side && !dry.too_long) news.push_back(latest());
  return dry;
}

Launches DryPaths::latest() const {
  Launches all;
  for (std::size_t i = std::min(most_before, count_); i > 0; --i)
    all.push_back(before_[(count_ - i) % most_before]);
  return all;
}

std::uint64_t DryPaths::path_of(const Launches& launches) {
  constexpr std::uint64_t otherwise = 0x9e3779b97f4a7c15u, failing = 0xbf58476d1ce4e5b9u;
  const Dry last = launch_all(launches);
  if (!last.accepted) return 0;
  const bool differs = keeps_state_ && launched_alone(launches.back()) != last.launched;
  std::uint64_t path = last.path + (differs ? otherwise : 0);
  if (tells_failures && last.fails) path += failing;
  if (tells_parts)
    for (const auto& [kernel, parts] : parts_of(launches.back(), last)) path += parts;
  return path;
}

std::map<const void*, std::uint64_t> DryPaths::parts_of(const DryLaunch& d, const Dry& dry) {
  std::map<const void*, std::uint64_t> parts;
  const auto tiles =
      static_cast<std::uint64_t>(ceil_div(d.c.m, tile_.m) * ceil_div(d.c.n, tile_.n));
  if (dry.blocks <= tiles) return parts;
  DryLaunch single = d;
  single.c.k = 1;
  single.c = fitted(single.c, needs_);
  const auto of_single = dry_.launch(single).blocks_of;
  for (const auto& [kernel, blocks] : dry.blocks_of) {
    const auto found = of_single.find(kernel);
    const std::uint64_t usual = found != of_single.end() ? found->second : tiles;
    if (blocks > usual && blocks % usual == 0)
      parts[kernel] = scramble(reinterpret_cast<std::uintptr_t>(kernel) + blocks / usual);
  }
  return parts;
}

Dry DryPaths::launch_all(const Launches& launches) {
  launch(other_);
  Dry last;
  for (const DryLaunch& d : launches) last = launch(d);
  return last;
}

std::uint64_t DryPaths::launched_alone(const DryLaunch& d) {
  launch(other_);
  return launch(d).launched;
}

void DryPaths::cheapen(Launches& launches, std::uint64_t path) {
  try_change(launches, path, [](DryLaunch& d) { d.refused.reset(); });
  try_change(launches, path, [](DryLaunch& d) { d.adjoining = false; });
  try_change(launches, path, [](DryLaunch& d) { d.c.offset = {}, d.c.seed = 0; });
  try_change(launches, path, [](DryLaunch& d) { d.c.lda = d.c.ldb = d.c.ldc = {}; });
  if (!try_change(launches, path, [](DryLaunch& d) { d.c.alpha = 1.5f, d.c.beta = 0.5f; })) {
    try_change(launches, path, [](DryLaunch& d) { d.c.alpha = 1.5f; });
    try_change(launches, path, [](DryLaunch& d) { d.c.beta = 0.5f; });
  }
  for (int round = 0; round < 3; ++round) {
    for (const auto size : {&Case::k, &Case::m, &Case::n}) lessen(launches, path, size);
  }
}

// One size, as of the last launch; in those before it, sizes of that value change too.
void DryPaths::lessen(Launches& launches, std::uint64_t path, std::int64_t Case::*size) {
  bisect(launches, path, size, 1);
  // It may have to be a multiple of something.
  for (std::int64_t unit = 2; unit <= largest_unit; unit *= 2) {
    if (launches.back().c.*size <= unit) return;
    if (set_size(launches, path, size, launches.back().c.*size - unit))
      return bisect(launches, path, size, unit);
  }
}

// Tries the least first, of sizes that leave the same remainder.
void DryPaths::bisect(Launches& launches, std::uint64_t path, std::int64_t Case::*size,
                      std::int64_t unit) {
  const auto now = [&] { return launches.back().c.*size; };
  const std::int64_t least = now() % unit == 0 ? unit : now() % unit;
  std::int64_t low = least - unit;
  while (now() - low > unit) {
    const std::int64_t middle = low < least ? least : low + (now() - low) / 2 / unit * unit;
    if (middle == low) return;
    const std::int64_t before = now();
    if (!set_size(launches, path, size, middle) || now() >= before) low = middle;
  }
}

bool DryPaths::set_size(Launches& launches, std::uint64_t path, std::int64_t Case::*size,
                        std::int64_t to) {
  const std::int64_t now = launches.back().c.*size;
  return try_change(launches, path, [&](DryLaunch& d) {
    if (launches.size() == 1) {
      d.c.*size = to;
      return;
    }
    for (const auto any : {&Case::m, &Case::n, &Case::k}) {
      if (d.c.*any == now) d.c.*any = to;
    }
  });
}

std::int64_t DryPaths::unit_of(const DryLaunch& found, std::uint64_t path,
                               std::int64_t Case::*size) {
  for (std::int64_t unit = 1; unit <= largest_unit; unit *= 2) {
    Launches other = {found};
    if (try_change(other, path, [&](DryLaunch& d) { d.c.*size += unit; })) return unit;
  }
  return 0;
}

}  // namespace assay
